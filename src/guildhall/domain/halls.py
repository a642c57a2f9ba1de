"""Human grading: how a study is laid out for people, and what a grader fills in.

A *slot* is one planned grading of one comparison, with its order of sides fixed when the study is opened. A *seat* is a
grader's claim on a slot. Who sits where is decided by the queue; what may be seen there is a `BlindedView`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Self

from pydantic import AwareDatetime, Field, model_validator

from guildhall.domain.authors import GraderKind
from guildhall.domain.judgments import BlindGuess, Severity, Usability
from guildhall.domain.tasks import Specification
from guildhall.domain.values import Digest, GrownValue, Id, Line, Value


class Role(StrEnum):
    GRADER = "grader"
    REVIEWER = "reviewer"
    AUTHOR = "author"
    MANAGER = "manager"
    AUDITOR = "auditor"


class WayIn(StrEnum):
    """How somebody came in."""

    PASSKEY = "passkey"
    MAIL = "mail"
    """By a link sent to the address they gave."""
    OPERATOR = "operator"
    """By a link that the operator made on the server."""
    HANDED = "handed over"
    """By a link that a manager has seen, or by a passkey that was added behind one."""


class SlotKind(StrEnum):
    PLANNED = "planned"
    TRAINING = "training"
    GOLD = "gold"
    ADJUDICATION = "adjudication"
    SEVERITY = "severity"


class SeatState(StrEnum):
    LIVE = "live"
    SUBMITTED = "submitted"
    SURPLUS = "surplus"
    DECLINED = "declined"
    EXPIRED = "expired"


class GoldItem(Value):
    """Two submissions to one task of which the better is known, and why: for training, and to see who looks closely."""

    task: Id
    better: Digest
    worse: Digest
    explanation: str
    training: bool = False
    """Shown before real work, with the explanation afterwards; otherwise a check that looks like any other set."""

    @model_validator(mode="after")
    def _two_submissions(self) -> Self:
        if self.better == self.worse:
            raise ValueError("a gold item compares two different submissions")
        return self


class HallDesign(GrownValue):
    """The rules of human grading for one study; part of what is frozen."""

    later: ClassVar[frozenset[str]] = frozenset({"held_at_once", "originals", "share"})

    originals: bool | None = None
    """Hand out the makers' own files, scrubbed, instead of copies that we write; structure tells programs apart."""
    share: Annotated[float, Field(gt=0, le=1)] | None = None
    """People grade so large a share of the planned pairs, drawn at random before the first judgment; all without it."""
    graders_per_set: Annotated[int, Field(ge=1, le=50)] = 3
    set_size: Annotated[int, Field(ge=2, le=10)] = 2
    """2 shows pairs of expert and model; more shows the expert with several models at once."""
    exposure_limit: Annotated[int, Field(ge=1)] = 1
    """How often one grader may meet one task: the expert's file recurs in each of its sets."""
    held_at_once: Annotated[int, Field(ge=1, le=50)] | None = None
    """How many sets a grader may hold unfinished; one, unless the study says more."""
    match_occupation: bool = True
    quiz_required: bool = False
    """Only graders who judged the training items as known come to real work; they have `quiz_attempts` tries."""
    quiz_attempts: Annotated[int, Field(ge=1, le=5)] = 2
    gold: tuple[GoldItem, ...] = ()
    gold_share: Annotated[float, Field(ge=0, le=0.5)] = 0.0
    """Of each grader's sets, how many are gold checks, as long as there are gold items they have not met."""
    adjudicate: bool = False
    """One grader more where the planned ones disagree; never part of primary estimates."""
    severity_raters: Annotated[int, Field(ge=0, le=10)] = 1
    """How many other experts say how bad each lost deliverable is."""
    severity_on_any_loss: bool = False
    """Rate a deliverable that lost to any one grader, not only one whose mean score is below one half."""
    control_share: Annotated[float, Field(ge=0, lt=1)] = 0.15
    """Of severity items, how many were not lost."""
    lease_hours: Annotated[float, Field(gt=0)] = 72.0
    minutes_per_set: Annotated[float, Field(gt=0)] = 109.0
    hourly_wage_usd: Annotated[float, Field(gt=0)] | None = None
    minimum_reason_words: Annotated[int, Field(ge=0)] = 10
    simulated_graders: Annotated[int, Field(ge=0, le=100)] = 0
    """For demos and rehearsals: so many simulated graders judge at once, and are named as simulated everywhere."""

    @model_validator(mode="after")
    def _a_share_is_of_pairs(self) -> Self:
        if self.share is not None and self.set_size != 2:
            raise ValueError("a share is drawn of pairs; leave out `set_size`, or `share`")
        return self


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
    """At which place the baseline's work stands; 0 and 1 for a pair. Nothing that offers a slot may look at it."""
    rank: Annotated[int, Field(ge=0)]
    """A seeded random number: open slots are offered in its order."""
    probability: Annotated[float, Field(gt=0, le=1)] = 1.0
    control: bool = False
    """A severity item that was not lost, drawn with `probability`."""
    authors: tuple[Id, ...] = ()
    """Code names of the experts whose work is shown: nobody judges their own or a colleague's. Never on a page."""
    twins: tuple[Digest, ...] = ()
    """Comparisons of earlier waves that show the same work: whoever met one of them is not blind to this one."""


class Check(StrEnum):
    """How one of the checks before an expert may contribute stands."""

    OPEN = "open"
    PASSED = "passed"
    FAILED = "failed"


class Vetting(Value):
    """What authors and reviewers pass before they contribute (GDPval 2.2)."""

    interview: Check = Check.OPEN
    background_check: Check = Check.OPEN
    training: Check = Check.OPEN
    quiz: Check = Check.OPEN


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
    vetting: Vetting = Vetting()
    lead: bool = False
    """A lead reviewer: accepts tasks, settles comments, brings reviewers on."""
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
