"""A task on its way into the bank: versions of its draft, advice on them, reviews, comments, and what was decided.

Everything here is added and never changed. A new version of a draft answers the reviews of the one before it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import AwareDatetime, Field, StringConstraints, model_validator

from guildhall.domain.tasks import ReviewState, Specification, Task, check_relative_name
from guildhall.domain.values import Digest, Id, Line, Value

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000)]
"""What somebody has to say: something, and not a book."""
Rating = Annotated[int, Field(ge=1, le=5)]
Share = Annotated[float, Field(ge=0, le=1)]


class Stage(StrEnum):
    """The three stages, in their order (GDPval A.5.3)."""

    GENERALIST = "generalist"
    OCCUPATION = "occupation expert"
    FINAL = "final loop"


STAGES = tuple(Stage)
QUESTIONS: dict[Stage, dict[str, str]] = {
    Stage.GENERALIST: {
        "requirements": "Does it meet the project's requirements: computer work, files, no personal data?"
    },
    Stage.OCCUPATION: {
        "representative": "Is it representative of the occupation's work?",
        "doable": "Could another of the occupation do it with the context given?",
    },
    Stage.FINAL: {"good": "Is everything mended that was asked for, so that it could go to graders as it is?"},
}
"""What each stage asks besides ratings; a pass answers all of them with yes."""


class Draft(Value):
    """One version of a task as its author submitted it for review."""

    task: Task
    author: Id
    """The author's code name."""
    note: str = ""
    """What is new in this version."""
    third_party: tuple[Line, ...] = ()
    """Brands, firms and works of others that the task refers to, as its author declares them."""
    permission: tuple[Line, ...] = ()
    """Real people whom its files show or let hear, each with when and how they agreed; never released."""
    made_at: AwareDatetime

    @model_validator(mode="after")
    def _is_a_draft(self) -> Self:
        if self.task.review is not ReviewState.DRAFT:
            raise ValueError(f"a draft's task is in the state {ReviewState.DRAFT!r}")
        return self

    @property
    def key(self) -> str:
        return self.task.key


class Criterion(StrEnum):
    """What screening looks at (GDPval A.5.1)."""

    OCCUPATION = "fits the occupation"
    COMPUTER = "done on a computer"
    SUBSTANCE = "not trivial"
    FILES = "files attached"
    SELF_CONTAINED = "self-contained"
    PRIVACY = "no personal data"
    SOFTWARE = "no proprietary software"
    KNOWLEDGE = "no tacit knowledge"
    TALKS = "nobody to talk to"


FIRST_CRITERIA = tuple(Criterion)[:6]
"""What screenings of earlier versions speak of."""


class Opinion(StrEnum):
    FINE = "fine"
    LOOK_AGAIN = "look again"
    UNKNOWN = "N/A"
    """The screener could not be asked, or its answer could not be read."""


class Advice(Value):
    criterion: Criterion
    opinion: Opinion
    words: str = ""


class Screening(Value):
    """What a program thinks of a draft. It advises; nothing in the pipeline waits for it or follows from it."""

    task: Id
    draft: Id
    screener: Id
    """`rule` for the shipped baseline, else the model."""
    advice: tuple[Advice, ...]
    prompt_digest: Digest | None = None
    made_at: AwareDatetime

    @model_validator(mode="after")
    def _covers_every_criterion_once(self) -> Self:
        if sorted(one.criterion for one in self.advice) not in (sorted(Criterion), sorted(FIRST_CRITERIA)):
            raise ValueError("a screening speaks of every criterion exactly once")
        return self

    @property
    def key(self) -> str:
        return f"{self.draft}:{self.screener}"


class ReviewOutcome(StrEnum):
    PASS = "pass"  # noqa: S105 - a verdict, no password
    CHANGES = "changes requested"


class Review(Value):
    """One reviewer's word on one version of a draft, at one stage."""

    task: Id
    draft: Id
    stage: Stage
    reviewer: Id
    """The reviewer's code name."""
    outcome: ReviewOutcome
    difficulty: Rating
    representativeness: Rating
    quality: Rating
    time: Rating
    """How well the stated hours fit the work: 5 is exactly."""
    hours: Annotated[float, Field(gt=0, le=10_000)] | None = None
    """How long the reviewer would expect an expert to take."""
    specification: Specification | None = None
    words: Words
    answers: dict[str, bool] = {}
    """What was said to the stage's questions; nothing in reviews from before they were asked."""
    taken_at: AwareDatetime | None = None
    made_at: AwareDatetime

    @property
    def key(self) -> str:
        return f"{self.draft}:{self.reviewer}"


class Box(Value):
    """A part of a page, in shares of its width and height from the upper left corner."""

    left: Share
    top: Share
    right: Share
    bottom: Share

    @model_validator(mode="after")
    def _has_an_inside(self) -> Self:
        if not (self.left < self.right and self.top < self.bottom):
            raise ValueError("a box has its left before its right and its top above its bottom")
        return self


class Anchor(Value):
    """Where a comment is pinned: a file (`reference/NAME` or `expert/NAME`), a page of it, a part of that page."""

    file: str
    page: Annotated[int, Field(ge=1)] | None = None
    box: Box | None = None

    @model_validator(mode="after")
    def _points_at_something(self) -> Self:
        check_relative_name(self.file)
        if self.file.split("/", 1)[0] not in {"reference", "expert"} or "/" not in self.file:
            raise ValueError("a comment is pinned to reference/NAME or expert/NAME")
        if self.box is not None and self.page is None:
            raise ValueError("a box is a part of a page: name the page too")
        return self


class Comment(Value):
    """A remark on a draft, an answer to one, or the word that settles it."""

    task: Id
    draft: Id
    by: Id
    words: Words
    anchor: Anchor | None = None
    answers: Digest | None = None
    """The comment this one belongs to."""
    resolves: bool = False
    made_at: AwareDatetime

    @model_validator(mode="after")
    def _only_an_answer_resolves(self) -> Self:
        if self.resolves and self.answers is None:
            raise ValueError("what resolves a comment names it")
        return self

    @property
    def key(self) -> Digest:
        return self.content_digest()


class DecisionKind(StrEnum):
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    AUDIT_HELD = "audit: holds"
    AUDIT_FAILED = "audit: does not hold"


class Decision(Value):
    """What the team decided about a draft, and why."""

    task: Id
    draft: Id
    kind: DecisionKind
    by: Id
    words: str = ""
    made_at: AwareDatetime

    @property
    def key(self) -> Digest:
        return self.content_digest()
