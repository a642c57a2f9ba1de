"""Unblinding a study takes two people and leaves its trace: one asks and says why, another confirms.

The audit log is the only record, so what a page believes and what the chained log proves can never differ. Two people
are two whom no single one can play. Whoever confirms comes in afresh by a way of their own, a passkey or a link sent to
their address; whoever asks did not come in by a link that a manager has seen. And neither was brought onto the roster
by the other, nor both by one and the same, who could have given an address of their own: whom the operator put there
on the server, or vouches for, stands for themselves. Who works alone says so in the study, and every report says it.

Code names for models: while a study runs, those who manage it are as blind as those who judge. A code name is drawn
under the workspace's secret, so that boards, exports and the API agree, a model that joins later changes nobody else's,
and nobody can try the names of models until one fits.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from guildhall.domain.authors import ModelRun
from guildhall.domain.halls import Member, WayIn
from guildhall.domain.studies import Study
from guildhall.domain.values import Id, canonical_json
from guildhall.errors import InputError
from guildhall.store.audit import acts, record
from guildhall.store.frames import shown_works
from guildhall.store.records import Store
from guildhall.store.workspace import Workspace

_ASKED, _CONFIRMED, _REFUSED = "unblinding asked", "unblinding confirmed", "unblinding refused"
INVITED, VOUCHED = "invited", "vouched for"
FRESH_S = 15 * 60.0
"""Whoever confirms has come in so lately: a session left open somewhere is nobody's word."""


class Presence(Protocol):
    """Somebody who is here, and how and when they came in."""

    @property
    def member(self) -> Member: ...

    @property
    def entry(self) -> WayIn | None: ...

    @property
    def opened_at(self) -> float: ...


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
    for row in acts(store, subject=_subject(study), actions=(_ASKED, _CONFIRMED)):
        if row["action"] == _ASKED:
            standing = Unblinding(asked_by=row["actor"], why=row["facts"]["why"])
        else:
            return Unblinding(standing.asked_by, standing.why, confirmed_by=row["actor"])
    return standing


def ask_to_unblind(store: Store, study: Study, here: Presence, *, why: str, now: float) -> None:
    """The first of two: it shows nothing yet, unless the study says that one person alone may."""
    if not why.strip():
        raise InputError("say why the study is to be unblinded")
    _require(store, study, here, _why_not_ask, now=now)
    with store.transaction():
        if unblinding(store, study.id).asked_by is not None:
            raise InputError("somebody has asked already; another person confirms it")
        _note(store, study, here, _ASKED, now=now, why=why.strip())
        if not study.design.two_people:
            _note(store, study, here, _CONFIRMED, now=now, asked_by=here.member.code_name, alone=True)


def confirm_unblinding(store: Store, study: Study, here: Presence, *, now: float) -> None:
    """The second of two."""
    if unblinding(store, study.id).asked_by is None:
        raise InputError("nobody has asked to unblind this study")
    _require(store, study, here, _why_not_confirm, now=now)
    with store.transaction():
        standing = unblinding(store, study.id)
        if not standing.open:
            _note(store, study, here, _CONFIRMED, now=now, asked_by=standing.asked_by, entry=here.entry)


WhyNot = Callable[[Store, Study, Presence, float], str | None]


def _require(store: Store, study: Study, here: Presence, why_not: WhyNot, *, now: float) -> None:
    """Refuse what one person alone could bring about; the try itself is kept."""
    if study.design.two_people and (reason := why_not(store, study, here, now)):
        _note(store, study, here, _REFUSED, now=now, why=reason, entry=here.entry)
        raise InputError(reason)


def _why_not_ask(_store: Store, _study: Study, here: Presence, _now: float) -> str | None:
    return None if here.entry in {WayIn.PASSKEY, WayIn.MAIL, WayIn.OPERATOR} else _NOT_YOUR_OWN


def _why_not_confirm(store: Store, study: Study, here: Presence, now: float) -> str | None:
    asked_by, own = unblinding(store, study.id).asked_by or "", here.member.code_name
    if asked_by == own:
        return "unblinding takes two people: somebody else confirms it"
    if here.entry not in {WayIn.PASSKEY, WayIn.MAIL}:
        return _NOT_YOUR_OWN
    if now - here.opened_at > FRESH_S:
        within = f"within {FRESH_S / 60:.0f} minutes"
        return f"come in again by your passkey or a link sent to your address, and confirm {within}"
    if _answers_for(store, asked_by) == _answers_for(store, own):
        return (
            f"{asked_by} and {own} were brought onto the roster by one and the same person, or one by the other, and "
            f"might be one person; whoever runs the server says that they are not with `guildhall people vouch {own}`"
        )
    return None


_NOT_YOUR_OWN = (
    "you did not come in by a way that is yours alone: come in by a link sent to your address, or by a passkey that "
    "was not added behind a link a manager has seen"
)


def _answers_for(store: Store, code_name: str) -> str:
    """Who stands at the beginning of a person's invitations: whom the operator put on the roster, or vouches for."""
    seen: set[str] = set()
    while code_name not in seen:
        seen.add(code_name)
        known = acts(store, subject=code_name, actions=(INVITED, VOUCHED))
        if not known or any(row["action"] == VOUCHED for row in known):
            return code_name
        code_name = known[0]["actor"]
    return code_name


def _note(store: Store, study: Study, here: Presence, action: str, *, now: float, **facts: object) -> None:
    record(store, at=now, actor=here.member.code_name, action=action, subject=_subject(study.id), facts=facts)


def _subject(study: Id) -> str:
    return f"unblinding of {study}"


_STONES = ("agate", "basalt", "beryl", "chalk", "dolomite", "flint", "garnet", "gneiss", "granite", "jasper", "marble")


def code_names(study: Study, models: Iterable[str], *, key: bytes) -> dict[str, str]:
    """Model -> code name; no two share one. A study from before its blinding was said keeps the names it had."""
    named: dict[str, str] = {}
    for model in sorted(set(models)):
        digest = _drawn(study, model, key)
        while (name := _name(digest)) in named.values():
            digest = hashlib.sha256(digest).digest()
        named[model] = name
    return named


def _drawn(study: Study, model: str, key: bytes) -> bytes:
    if study.design.blinding is None:
        return hashlib.sha256(f"{study.id}\n{study.seed}\n{model}".encode()).digest()
    return hmac.digest(key, canonical_json([study.id, model]), "sha256")


def _name(digest: bytes) -> str:
    return f"{_STONES[digest[0] % len(_STONES)]}-{digest[1:3].hex()}"


def models_of(store: Store, study: Study) -> set[str]:
    """Names of the models whose work the study compares."""
    shown = set(shown_works(store, study.id).filter("by_model")["name"])
    return shown | {author.name for author in study.authors if isinstance(author, ModelRun)}


def shown_names(workspace: Workspace, study: Study) -> dict[str, str]:
    """Model -> what a manager is shown: the code name, or after unblinding the name itself."""
    return names_for(workspace, study, models_of(workspace.store, study))


def names_for(workspace: Workspace, study: Study, models: Iterable[str]) -> dict[str, str]:
    """What a manager is shown for each of these models of the study."""
    if unblinding(workspace.store, study.id).open:
        return {model: model for model in models}
    return code_names(study, models, key=workspace.key_for("code names"))
