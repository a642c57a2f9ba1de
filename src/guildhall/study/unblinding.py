"""Unblinding a study takes two people and leaves its trace: one asks and says why, another confirms.

The audit log is the only record, so what a page believes and what the chained log proves can never differ.

Code names for models: while a study runs, those who manage it are as blind as those who judge. A code name follows
from the study's id and seed and the model's name, so that boards, exports and the API agree and a model that joins
later changes nobody else's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from guildhall.domain.authors import ModelRun
from guildhall.domain.halls import Member
from guildhall.domain.studies import Study
from guildhall.domain.values import Id
from guildhall.errors import InputError
from guildhall.store.audit import history, record
from guildhall.store.frames import shown_works
from guildhall.store.records import Store

_ASKED, _CONFIRMED = "unblinding asked", "unblinding confirmed"


@dataclass(frozen=True)
class Unblinding:
    """How far a study's unblinding has come; who took part, by code name."""

    asked_by: str | None = None
    why: str = ""
    confirmed_by: str | None = None

    @property
    def open(self) -> bool:
        """Whether names may be shown."""
        return self.confirmed_by is not None


def unblinding(store: Store, study: Id) -> Unblinding:
    standing = Unblinding()
    for row in reversed(history(store, subject=_subject(study))):
        if row["action"] == _ASKED:
            standing = Unblinding(asked_by=row["actor"], why=row["facts"]["why"])
        elif row["action"] == _CONFIRMED:
            return Unblinding(standing.asked_by, standing.why, confirmed_by=row["actor"])
    return standing


def ask_to_unblind(store: Store, study: Id, member: Member, *, why: str, now: float) -> None:
    """The first of two: it shows nothing yet."""
    if not why.strip():
        raise InputError("say why the study is to be unblinded")
    with store.transaction():
        if unblinding(store, study).asked_by is not None:
            raise InputError("somebody has asked already; another person confirms it")
        facts = {"why": why.strip()}
        record(store, at=now, actor=member.code_name, action=_ASKED, subject=_subject(study), facts=facts)


def confirm_unblinding(store: Store, study: Id, member: Member, *, now: float) -> None:
    """The second of two; whoever asked cannot confirm."""
    with store.transaction():
        standing = unblinding(store, study)
        if standing.asked_by is None:
            raise InputError("nobody has asked to unblind this study")
        if standing.asked_by == member.code_name:
            raise InputError("unblinding takes two people: somebody else confirms it")
        if standing.open:
            return
        facts = {"asked_by": standing.asked_by}
        record(store, at=now, actor=member.code_name, action=_CONFIRMED, subject=_subject(study), facts=facts)


def _subject(study: Id) -> str:
    return f"unblinding of {study}"


_STONES = ("agate", "basalt", "beryl", "chalk", "dolomite", "flint", "garnet", "gneiss", "granite", "jasper", "marble")


def code_names(study: Study, models: Iterable[str]) -> dict[str, str]:
    """Model -> code name; no two share one."""
    named: dict[str, str] = {}
    for model in sorted(set(models)):
        digest = hashlib.sha256(f"{study.id}\n{study.seed}\n{model}".encode()).digest()
        while (name := _name(digest)) in named.values():
            digest = hashlib.sha256(digest).digest()
        named[model] = name
    return named


def _name(digest: bytes) -> str:
    return f"{_STONES[digest[0] % len(_STONES)]}-{digest[1:3].hex()}"


def models_of(store: Store, study: Study) -> set[str]:
    """Names of the models whose work the study compares."""
    shown = set(shown_works(store, study.id).filter("by_model")["name"])
    return shown | {author.name for author in study.authors if isinstance(author, ModelRun)}


def shown_names(store: Store, study: Study) -> dict[str, str]:
    """Model -> what a manager is shown: the code name, or after unblinding by two people the name itself."""
    return names_for(store, study, models_of(store, study))


def names_for(store: Store, study: Study, models: Iterable[str]) -> dict[str, str]:
    """What a manager is shown for each of these models of the study."""
    return {model: model for model in models} if unblinding(store, study.id).open else code_names(study, models)
