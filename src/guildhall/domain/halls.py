"""Human grading: how a study is laid out for people, and what a grader fills in.

A *slot* is one planned grading of one comparison, with its order of sides fixed when the study is frozen. A *seat* is a
grader's claim on a slot. Who sits where is decided by the queue; what may be seen there is a `BlindedView`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import AwareDatetime, Field, model_validator

from guildhall.domain.authors import GraderKind
from guildhall.domain.judgments import BlindGuess, Severity, Usability
from guildhall.domain.tasks import Specification
from guildhall.domain.values import Digest, Id, Line, Value


class Role(StrEnum):
    GRADER = "grader"
    REVIEWER = "reviewer"
    AUTHOR = "author"
    MANAGER = "manager"
    AUDITOR = "auditor"


class SlotKind(StrEnum):
    PLANNED = "planned"
    GOLD = "gold"
    ADJUDICATION = "adjudication"
    SEVERITY = "severity"


class SeatState(StrEnum):
    LIVE = "live"
    SUBMITTED = "submitted"
    SURPLUS = "surplus"
    DECLINED = "declined"
    EXPIRED = "expired"


class HallDesign(Value):
    """The rules of human grading for one study; part of what is frozen."""

    graders_per_set: Annotated[int, Field(ge=1, le=50)] = 3
    set_size: Annotated[int, Field(ge=2, le=10)] = 2
    """2 shows pairs of expert and model; more shows the expert with several models at once."""
    exposure_limit: Annotated[int, Field(ge=1)] = 1
    """How often one grader may meet one task: the expert's file recurs in each of its sets."""
    match_occupation: bool = True
    quiz_required: bool = False
    gold_share: Annotated[float, Field(ge=0, le=0.5)] = 0.0
    adjudicate: bool = False
    """One grader more where the planned ones disagree; never part of primary estimates."""
    control_share: Annotated[float, Field(ge=0, lt=1)] = 0.15
    """Of severity items, how many were not lost."""
    lease_hours: Annotated[float, Field(gt=0)] = 72.0
    minutes_per_set: Annotated[float, Field(gt=0)] = 109.0
    hourly_wage_usd: Annotated[float, Field(gt=0)] | None = None
    minimum_reason_words: Annotated[int, Field(ge=0)] = 10


class Slot(Value):
    """One planned grading, complete before anybody has claimed it."""

    id: Id
    study: Id
    kind: SlotKind = SlotKind.PLANNED
    comparison: Digest
    task: Id
    occupation: Line
    order: Annotated[tuple[Digest, ...], Field(min_length=1)]
    turn: Annotated[int, Field(ge=0)]
    """Which of the possible orders this is; 0 and 1 for a pair."""
    rank: Annotated[int, Field(ge=0)]
    """A seeded random number: open slots are offered in its order."""
    probability: Annotated[float, Field(gt=0, le=1)] = 1.0


class Member(Value):
    """A person of the hall as everything but the privacy desk knows them: by code name."""

    id: Id
    code_name: Id
    role: Role
    grader_kind: GraderKind = GraderKind.EXPERT
    occupations: tuple[Line, ...] = ()
    years: Annotated[float, Field(ge=0)] | None = None
    employer_mark: Digest | None = None
    """A keyed digest of the employer's name: equal employers can be told, none can be read."""
    author_names: tuple[Id, ...] = ()
    """Code names under which this person's own work is in the bank."""
    conflicts: tuple[Id, ...] = ()
    """Task ids the person has declared a conflict with."""
    quiz_passed: bool = False
    joined_at: AwareDatetime | None = None


class Verdict(Value):
    """What a grader fills in, by place: complete when it is submitted, partial in a draft."""

    ranks: tuple[int, ...]
    tie_kind: str | None = None
    strength: Annotated[int, Field(ge=1, le=3)] | None = None
    confidence: Annotated[float, Field(ge=0, le=100)] | None = None
    criteria: dict[str, int | None] = {}
    """Criterion -> -2 (A far better) to 2 (B far better); None where it does not apply."""
    reason: str
    usability: tuple[Usability, ...] = ()
    specification: Specification | None = None
    guess: BlindGuess | None = None

    @model_validator(mode="after")
    def _ties_say_which_kind(self) -> Self:
        tied = len(set(self.ranks)) == 1
        if tied and self.tie_kind not in {"both good", "both poor"}:
            raise ValueError("a tie says whether both are good or both are poor")
        if not tied and self.tie_kind is not None:
            raise ValueError("only a tie has a kind")
        return self


class SeverityVerdict(Value):
    severity: Severity
    reason: str
