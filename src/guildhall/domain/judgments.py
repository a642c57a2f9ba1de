"""Comparisons and judgments: what is put before a grader, and what the grader says.

A judgment is stored from the grader's side (a ranking of the shown places A, B, ...) together with the stored
order, so that outcomes per pair can always be derived again and position effects stay visible.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import AwareDatetime, Field, model_validator

from guildhall.domain.authors import Grader, ModelGrader
from guildhall.domain.submissions import Usage
from guildhall.domain.tasks import Specification, TaskKey
from guildhall.domain.values import Digest, GrownValue, Id, Value, canonical_json, sha256

if TYPE_CHECKING:
    from guildhall.domain.studies import Study  # a study's design holds answers that graders give


class Outcome(StrEnum):
    """Of a pair, from the first author's side."""

    WIN = "win"
    TIE = "tie"
    LOSS = "loss"

    @property
    def score(self) -> float:
        return {"win": 1.0, "tie": 0.5, "loss": 0.0}[self.value]


class Comparison(GrownValue):
    """Two or more submissions to one task that are to be judged together.

    `task_version` stands only where the study's first form pinned another wording; without it that form's counts.
    """

    later: ClassVar[frozenset[str]] = frozenset({"task_version"})

    study: Id
    task: Id
    task_version: Annotated[int, Field(ge=1)] | None = None
    submissions: Annotated[tuple[Digest, ...], Field(min_length=2)]

    @model_validator(mode="after")
    def _all_different(self) -> Self:
        if len(set(self.submissions)) < len(self.submissions):
            raise ValueError("a comparison shows each submission once")
        return self

    @property
    def key(self) -> Digest:
        return self.content_digest()

    def task_key(self, study: Study) -> TaskKey:
        """The wording it is about: its own, else the one that `study`, its study's first form, pinned."""
        if self.task_version is not None:
            return TaskKey.of(self.task, self.task_version)
        return study.pinned(self.task)


class ShownPage(Value):
    """One page as a picture, by the digest of its bytes; `label` names a sheet, a view or a time."""

    image: Digest
    width: int
    height: int
    label: str = ""


class BlindedFile(Value):
    """A file as a grader sees it: a neutral name, its kind, its pages, and what is handed out to keep.

    That is a copy written by us, of the kind `copied_as`; in a study that hands out originals, the scrubbed file.
    Without `digest` nothing is handed out; what it lacks stands in `not_copied`.
    """

    name: str
    kind: str
    digest: Digest | None = None
    copied_as: str = ""
    not_copied: tuple[str, ...] = ()
    pages: tuple[ShownPage, ...] = ()
    text: Digest | None = None
    grid: Digest | None = None
    """Sheets with their values and formulas, for spreadsheets."""
    layer: Digest | None = None
    """Where the words stand on the pages."""
    words: int = 0
    omitted: tuple[str, ...] = ()
    named_as_asked: bool | None = None


class BlindedSide(Value):
    place: Annotated[str, Field(pattern=r"^[A-Z]$")]
    files: tuple[BlindedFile, ...] = ()
    text: str | None = None


class BlindedView(Value):
    """What a grader may see. It has no field for an author, a model, an original file name or a time."""

    brief: str
    reference_files: tuple[BlindedFile, ...] = ()
    sides: Annotated[tuple[BlindedSide, ...], Field(min_length=1)]


class Severity(StrEnum):
    """How bad a lost deliverable is, in the paper's words. Raters are shown none that say who made it."""

    CATASTROPHIC = "catastrophic"
    BAD = "bad"
    SUBPAR = "acceptable but subpar"
    MODEL_BETTER = "I disagree: the model was better"


class Acceptance(StrEnum):
    AS_IS = "usable as is"
    AFTER_EDITS = "usable after edits"
    NOT_USABLE = "not usable"


class BlindGuess(StrEnum):
    """Answer to "which was made by a person?"."""

    A = "A"
    B = "B"
    BOTH = "both"
    NEITHER = "neither"
    CANNOT_TELL = "cannot tell"


class Usability(Value):
    place: Annotated[str, Field(pattern=r"^[A-Z]$")]
    acceptance: Acceptance
    edit_minutes: Annotated[float, Field(ge=0)] | None = None


OBJECTIVE = ("correctness", "accuracy", "completeness", "instruction following", "calculation")
SUBJECTIVE = ("structure", "style", "format", "aesthetics", "relevance")
CRITERIA = (*OBJECTIVE, *SUBJECTIVE)
"""The ten criteria of GDPval, in the order pages show them."""


class TimeCorrection(Value):
    """Active time as the grader says it was, and why the clock was wrong; the clock's own figure is kept beside it."""

    active_s: Annotated[float, Field(ge=0)]
    reason: Annotated[str, Field(min_length=1)]


class Judgment(GrownValue):
    """One grader's verdict on one comparison. `origin` names the file of one that was made elsewhere.

    `order` lists the submissions as shown: A first. `ranks` gives each shown place its rank (1 is best; equal
    numbers are ties). `ranks` is absent when there is no verdict, and then `failure` says why: a refusal, an
    unreadable reply, a provider error. Such a judgment is counted and never becomes a tie.
    """

    later: ClassVar[frozenset[str]] = frozenset({"origin"})

    comparison: Digest
    grader: Grader
    order: Annotated[tuple[Digest, ...], Field(min_length=2)]
    ranks: tuple[int, ...] | None = None
    failure: str | None = None
    reason: str = ""
    tie_kind: str | None = None
    strength: Annotated[int, Field(ge=1, le=3)] | None = None
    confidence: Annotated[float, Field(ge=0, le=100)] | None = None
    criteria: dict[str, int | None] = {}
    usability: tuple[Usability, ...] = ()
    specification: Specification | None = None
    guess: BlindGuess | None = None
    sweep: Annotated[int, Field(ge=1)] = 1
    exposure: Annotated[int, Field(ge=1)] | None = None
    planned: bool = True
    active_s: Annotated[float, Field(ge=0)] | None = None
    wall_s: Annotated[float, Field(ge=0)] | None = None
    correction: TimeCorrection | None = None
    usage: Usage | None = None
    omissions: dict[str, int] = {}
    replaces: Digest | None = None
    origin: str | None = None
    made_at: AwareDatetime

    @model_validator(mode="after")
    def _verdict_or_failure(self) -> Self:
        if (self.ranks is None) == (self.failure is None):
            raise ValueError("a judgment carries either ranks or the reason why it has none")
        if self.ranks is not None and (len(self.ranks) != len(self.order) or min(self.ranks) < 1):
            raise ValueError("every shown place needs one rank, counted from 1")
        return self

    @property
    def key(self) -> Digest:
        return self.content_digest()

    @property
    def place(self) -> Digest | None:
        """What a program gives one verdict on: a comparison in an order and a sweep, under its settings.

        None for people, who have no rounds, and for what holds no verdict: failures may stand before it.
        """
        if self.ranks is None or not isinstance(self.grader, ModelGrader):
            return None
        return sha256(canonical_json([self.comparison, self.grader.key, self.order, self.sweep]))

    def outcome(self, first: Digest, second: Digest) -> Outcome | None:
        """How `first` did against `second`; None when this judgment holds no verdict."""
        if self.ranks is None:
            return None
        ranks = dict(zip(self.order, self.ranks, strict=True))
        if ranks[first] == ranks[second]:
            return Outcome.TIE
        return Outcome.WIN if ranks[first] < ranks[second] else Outcome.LOSS


class SeverityRating(Value):
    """How bad one deliverable is, by an expert who did not judge the pair."""

    study: Id
    submission: Digest
    grader: Grader
    severity: Severity
    reason: str
    control: bool = False
    sampling_rate: Annotated[float, Field(gt=0, le=1)] = 1.0
    comparison: Digest | None = None
    active_s: Annotated[float, Field(ge=0)] | None = None
    made_at: AwareDatetime

    @property
    def key(self) -> Digest:
        return self.content_digest()
