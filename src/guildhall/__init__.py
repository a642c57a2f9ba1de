"""Guildhall: judge AI work the way experts judge it.

The names below are the public surface; each is loaded when it is first used, so that importing the package costs
nothing. Inside the package a name is imported from the module that defines it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from guildhall.domain.authors import Expert, ModelGrader, ModelRun, Person
    from guildhall.domain.boswell import Essay, Mark, Reading
    from guildhall.domain.estimates import Estimate
    from guildhall.domain.judgments import BlindedView, Comparison, Judgment, Outcome, Severity
    from guildhall.domain.submissions import Submission, Usage
    from guildhall.domain.tasks import FileRef, Rubric, RubricItem, Task
    from guildhall.errors import GuildhallError
    from guildhall.store.workspace import Workspace

__version__ = "0.1.0"

__all__ = [
    "BlindedView",
    "Comparison",
    "Essay",
    "Estimate",
    "Expert",
    "FileRef",
    "GuildhallError",
    "Judgment",
    "Mark",
    "ModelGrader",
    "ModelRun",
    "Outcome",
    "Person",
    "Reading",
    "Rubric",
    "RubricItem",
    "Severity",
    "Submission",
    "Task",
    "Usage",
    "Workspace",
]

_HOMES = {
    "guildhall.domain.authors": ("Expert", "ModelGrader", "ModelRun", "Person"),
    "guildhall.domain.estimates": ("Estimate",),
    "guildhall.domain.judgments": ("BlindedView", "Comparison", "Judgment", "Outcome", "Severity"),
    "guildhall.domain.boswell": ("Essay", "Mark", "Reading"),
    "guildhall.domain.submissions": ("Submission", "Usage"),
    "guildhall.domain.tasks": ("FileRef", "Rubric", "RubricItem", "Task"),
    "guildhall.errors": ("GuildhallError",),
    "guildhall.store.workspace": ("Workspace",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'guildhall' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)
