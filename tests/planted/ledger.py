"""What a planted store holds, in plain Python: written down while it was put in, and never read back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from guildhall.domain.authors import ModelGrader, Person
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import TaskKey
from guildhall.domain.values import Digest, Id

CONSTANTS = ("always-human", "always-tie")
PEOPLE = ("expert", "practitioner", "student", "crowd")


@dataclass(eq=False)
class PlantedStudy:
    """One study of a planted store: its form as it was frozen, and everything that was judged under its name."""

    form: Study
    file: Path
    judge_keys: dict[str, frozenset[str]]
    """Judge or constant -> the keys its verdicts stand under, by the settings the study froze."""
    comparisons: dict[Digest, Comparison] = field(default_factory=dict)
    judgments: list[Judgment] = field(default_factory=list)
    completed: set[tuple[Id, str]] = field(default_factory=set)
    """(Task id, model) of which every planned grading by people is done."""

    @property
    def id(self) -> Id:
        return self.form.id

    @property
    def baseline(self) -> str:
        return self.form.baseline

    @property
    def pins(self) -> dict[Id, TaskKey]:
        """The wording of each task that the study froze."""
        return {key.id: key for key in self.form.tasks}

    @property
    def anchors(self) -> frozenset[Digest]:
        return frozenset(self.form.extends.anchors if self.form.extends else ())


@dataclass(eq=False)
class Planted:
    """A planted store: where it is, its studies, and what else was put in."""

    seed: int
    folder: Path
    studies: list[PlantedStudy] = field(default_factory=list)
    submissions: dict[Digest, Submission] = field(default_factory=dict)
    ungradable: set[Id] = field(default_factory=set)
    """Tasks no judge can grade, by the newest word on each, else by rule."""
    gold: dict[Digest, Comparison] = field(default_factory=dict)
    gold_judgments: list[Judgment] = field(default_factory=list)
    """Training and checks: under a study's name of their own."""

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    @property
    def first(self) -> PlantedStudy:
        return self.studies[0]


def group_of(grader: Person | ModelGrader) -> str:
    """The group a grader belongs to: a kind of person, or one program by its name."""
    if isinstance(grader, Person):
        return str(grader.grader_kind)
    return f"{'constant' if grader.name in CONSTANTS else 'judge'}:{grader.name}"


def ranked(groups: Iterable[str]) -> list[str]:
    """Groups as a report may lead with them: experts, other people, judges, constants, simulated graders."""
    order = ("expert", "practitioner", "student", "crowd", "judge", "constant", "simulated")
    return sorted(set(groups), key=lambda name: (order.index(name.partition(":")[0]), name))
