"""Which judgments count: whose, against what, under which rules. A policy is a value, and printed with what it does."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SerializationInfo, SerializerFunctionWrapHandler, model_serializer, model_validator

from guildhall.domain.authors import Grader, Person
from guildhall.domain.submissions import OUR_FAULT, StopReason
from guildhall.domain.tasks import TaskKey
from guildhall.domain.values import Id, Value


class GroupKind(StrEnum):
    """What sort of graders a group holds, in the order in which a report leads with them."""

    EXPERT = "expert"
    PRACTITIONER = "practitioner"
    STUDENT = "student"
    CROWD = "crowd"
    PEOPLE_AND_JUDGE = "people+judge"
    """People's grades joined with one judge's."""
    JUDGE = "judge"
    CONSTANT = "constant"
    """A program without a model: always the same verdict, or a simple measure."""
    SIMULATED = "simulated"


PEOPLE = frozenset({GroupKind.EXPERT, GroupKind.PRACTITIONER, GroupKind.STUDENT, GroupKind.CROWD})
PROGRAMS = frozenset({GroupKind.JUDGE, GroupKind.CONSTANT})
NAMED = frozenset({GroupKind.PEOPLE_AND_JUDGE, GroupKind.JUDGE, GroupKind.CONSTANT})
_RANKS = {
    GroupKind.EXPERT: 0,
    GroupKind.PRACTITIONER: 1,
    GroupKind.STUDENT: 1,
    GroupKind.CROWD: 1,
    GroupKind.PEOPLE_AND_JUDGE: 2,
    GroupKind.JUDGE: 4,
    GroupKind.CONSTANT: 5,
    GroupKind.SIMULATED: 6,
}
_JUDGE_OF_THE_PLAN = 3


class GraderGroup(Value):
    """Graders whose judgments are counted together: people of one kind, or one program by its name.

    In text it is `expert`, `student`, `judge:NAME`, `constant:NAME`, `people+judge:NAME`; JSON holds that text.
    """

    kind: GroupKind
    name: Id | None = None

    @model_validator(mode="before")
    @classmethod
    def _read(cls, written: Any) -> Any:
        if not isinstance(written, str):
            return written
        kind, colon, name = written.partition(":")
        return {"kind": kind, "name": name if colon else None}

    @model_validator(mode="after")
    def _programs_have_names(self) -> Self:
        if (self.kind in NAMED) != (self.name is not None):
            raise ValueError(
                f"a group of graders is {', '.join(_FORMS)}; {self.kind.value!r} "
                + ("has no name" if self.name is not None else "needs a name after a colon")
            )
        return self

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler, info: SerializationInfo) -> Any:
        return str(self) if info.mode == "json" else write(self)

    def __str__(self) -> str:
        return self.kind.value if self.name is None else f"{self.kind.value}:{self.name}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The group a text names; `str` of it is that text again."""
        return cls.model_validate(text)

    @classmethod
    def of(cls, grader: Grader) -> Self:
        """The group a grader belongs to."""
        if isinstance(grader, Person):
            return cls(kind=GroupKind(grader.grader_kind.value))
        constant = grader.model is None and "baseline" in grader.settings
        return cls(kind=GroupKind.CONSTANT if constant else GroupKind.JUDGE, name=grader.name)

    @property
    def of_people(self) -> bool:
        return self.kind in PEOPLE

    def rank(self, judges: Collection[str] = (), *, rehearsal: bool = False) -> int:
        """Which group leads, the lowest first: experts, other people, judges of the plan, others, constants, simulated.

        `judges` are the names of the plan's judges. In a rehearsal simulated graders stand where experts stand.
        """
        if self.kind is GroupKind.JUDGE and self.name in judges:
            return _JUDGE_OF_THE_PLAN
        if self.kind is GroupKind.SIMULATED and rehearsal:
            return _RANKS[GroupKind.EXPERT]
        return _RANKS[self.kind]


_FORMS = [f"{kind.value}:NAME" if kind in NAMED else kind.value for kind in GroupKind]


class Rule(StrEnum):
    """Why a judgment is not counted. One that several rules take is counted under the first in this order."""

    REPLACED = "replaced by a later judgment"
    SET_ASIDE = "set aside: a fault of ours, withdrawn, or taken back"
    NO_BASELINE = "does not show the baseline's work"
    OTHER_GRADERS = "by another kind of grader"
    OTHER_SETTINGS = "by a judge under other settings than the plan's"
    SURPLUS = "beyond what was planned"
    EXCLUDED_GRADER = "by a grader whom a rule excludes"
    UNGRADABLE = "on a task that such graders cannot judge"
    NOTHING_TO_JUDGE = "on work that left nothing to judge, which a rule decides"
    LATER_EXPOSURE = "by a grader who had met the task before"
    NO_VERDICT = "gave no verdict"
    BROKEN_ROUND = "without the same judge's verdict in the other order"


Fate = Literal["loss", "missing"]


class MissingRule(Value):
    """What becomes of attempted work that leaves nothing to grade, decided before any verdict.

    `loss` counts against its author; `missing` leaves it out, counted. Work never attempted is outside in any case.
    """

    nothing_delivered: Fate = "loss"
    refused: Fate = "loss"
    limit_reached: Fate = "loss"
    """Time, turns, tokens or the item's cost ran out."""
    our_fault: Fate = "missing"
    """The sandbox, the storage or the provider failed, after the planned retries."""
    both_empty: Literal["tie", "missing"] = "tie"

    def fate(self, stop: StopReason) -> Fate:
        """What becomes of work that ended so and left nothing to grade."""
        if stop is StopReason.REFUSED:
            return self.refused
        if stop in OUR_FAULT:
            return self.our_fault
        return self.nothing_delivered if stop in _NOTHING else self.limit_reached


_NOTHING = {StopReason.FINISHED, StopReason.NOTHING_DELIVERED}


class Policy(Value):
    """Which judgments of which studies count, for one group of graders and against one baseline."""

    studies: Annotated[tuple[Id, ...], Field(min_length=1)]
    baseline: str
    graders: GraderGroup
    grader_keys: tuple[str, ...] | None = None
    """The keys of a judge's frozen settings; None for people, and where no settings were frozen."""
    ungradable: dict[TaskKey, str] = {}
    """Tasks these graders cannot judge, each with its reason."""
    excluded: tuple[str, ...] = ()
    """Keys of graders whom a rule of the plan excludes."""
    planned_only: bool = True
    whole_rounds: bool = True
    """A judge's verdict counts only with its verdicts in all orders of that sweep. People have no rounds."""
    first_exposure: bool = False
    strata: tuple[str, ...] = ("occupation",)
    """What stays as it is in any other draw of tasks: the variance is taken within."""
    these_graders: bool = False
    """Whether rates are about these very graders, as the plan asked, and not about graders like these."""
    collapse: Literal["none", "swap-to-tie"] = "none"
    """`swap-to-tie`: a judge that contradicts itself when the sides are swapped has found a tie."""
    losses: MissingRule | None = None
    """What becomes of attempted work that left nothing to judge; None where a study kept no plan: graders saw it."""
