"""Code names for models: while a study runs, those who manage it are as blind as those who judge.

A code name follows from the study's id and seed and the model's name, so that boards, exports and the API agree and a
model that joins later changes nobody else's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from guildhall.domain.authors import ModelRun
from guildhall.domain.studies import Study
from guildhall.store.frames import shown_works
from guildhall.store.records import Store
from guildhall.study.unblinding import unblinding

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
