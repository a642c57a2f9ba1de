"""Judges that are programs: how one is set up, what it said item by item, and which tasks it cannot judge."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AwareDatetime, Field, JsonValue, model_validator

from guildhall.domain.authors import ModelGrader
from guildhall.domain.providers import holds_to_schema
from guildhall.domain.submissions import Usage
from guildhall.domain.values import Digest, GrownValue, Id, Value, canonical_json, sha256

Medium = Literal["image", "audio", "video"]
FENCE: Literal["keyed-1"] = "keyed-1"
"""How requests are fenced now."""


class ExamplesFrom(Value):
    """Judged examples in a judge's prompt: how many, from which file, and in which version of the collection.

    A study file may name the beginning of the version it means; a plan that is carried out names all of it.
    """

    file: Path
    count: Annotated[int, Field(ge=1, le=10)] = 3
    version: str | None = None


class JudgePlan(GrownValue):
    """One judge as a study names it: its model and settings, what it can take, and how much it can read.

    `maker` names the family of models it belongs to, for family preference. Without `structured` the provider decides.
    With `tools` it works in a sandbox that holds the files themselves, and says its verdict when it has seen enough.
    With `examples` it is shown how people judged the nearest pairs of other tasks. `fence` is the form of the fences
    around what it is shown; judges from before there were any keep none, and so the name of their verdicts.
    """

    later: ClassVar[frozenset[str]] = frozenset({"fence"})

    name: Id
    model: str
    settings: dict[str, JsonValue] = {}
    maker: str | None = None
    takes: tuple[Medium, ...] = ("image",)
    context_tokens: Annotated[int, Field(ge=2_000)] = 128_000
    structured: bool | None = None
    tools: bool = False
    examples: ExamplesFrom | None = None
    fence: Literal["keyed-1"] | None = None

    @property
    def answers_by_schema(self) -> bool:
        """Whether a JSON schema is asked for; elsewhere the verdict stands alone on the last line."""
        if self.tools:
            return False
        return holds_to_schema(self.model) if self.structured is None else self.structured

    def grader(self, prompt_digest: Digest) -> ModelGrader:
        """The judge as its verdicts name it: whatever may change a verdict is part of its key."""
        shaping: dict[str, JsonValue] = {
            "settings": self.settings,
            "takes": [*sorted(self.takes)],
            "context_tokens": self.context_tokens,
            "structured": self.answers_by_schema,
        }
        if self.tools:
            shaping["tools"] = True
        if self.examples is not None:
            shaping["examples"] = {"count": self.examples.count, "version": self.examples.version}
        if self.fence is not None:
            shaping["fence"] = self.fence
        return ModelGrader(name=self.name, model=self.model, settings=shaping, prompt_digest=prompt_digest)


class PlannedJudge(Value):
    """A judge as a study froze it: its plan, and the prompts it works under, one for each way a set is asked about."""

    plan: JudgePlan
    prompt_digests: Annotated[tuple[Digest, ...], Field(min_length=1)]

    @property
    def keys(self) -> tuple[str, ...]:
        """What its verdicts stand under; under other settings it is another grader."""
        return tuple(self.plan.grader(digest).key for digest in self.prompt_digests)


class PanelPlan(Value):
    """A panel: its members, how many are drawn for each sweep of a comparison (all without a number), and weights.

    Members without a weight have one vote. `fitted` is the version of the fit that weights come from, if they do.
    """

    name: Id
    members: tuple[JudgePlan, ...]
    draw: int | None = None
    seed: int = 0
    weights: dict[str, float] = {}
    fitted: str | None = None

    @property
    def grader(self) -> ModelGrader:
        described = [member.model_dump(mode="json") for member in self.members]
        settings: dict[str, JsonValue] = {
            "panel": sha256(canonical_json(described)),
            "draw": self.draw,
            "seed": self.seed,
            "weights": dict(self.weights),
        }
        if self.fitted is not None:
            settings["fitted"] = self.fitted
        return ModelGrader(name=self.name, settings=settings)


class ItemOutcome(StrEnum):
    """Whether what a rubric item describes is there. For an item with negative points, met means the fault is there."""

    MET = "met"
    PARTLY = "partly met"
    NOT_MET = "not met"

    @property
    def share(self) -> float:
        return {"met": 1.0, "partly met": 0.5, "not met": 0.0}[self.value]


class ItemVerdict(Value):
    """One rubric item: the verdict with its evidence, or the reason why there is none.

    `found` says whether the quotation really stands in what the judge was shown; None where nothing was quoted.
    """

    item: Annotated[int, Field(ge=1)]
    points: int
    outcome: ItemOutcome | None = None
    quotation: str = ""
    found: bool | None = None
    failure: str | None = None

    @model_validator(mode="after")
    def _outcome_or_failure(self) -> Self:
        if (self.outcome is None) == (self.failure is None):
            raise ValueError("an item has either an outcome or the reason why it has none")
        return self


class RubricMark(Value):
    """One submission held against its task's rubric by one judge, once."""

    study: Id
    task: Id
    submission: Digest
    grader: ModelGrader
    items: Annotated[tuple[ItemVerdict, ...], Field(min_length=1)]
    whole: bool
    """Whether all items were asked at once, for economy."""
    sweep: Annotated[int, Field(ge=1)] = 1
    omissions: int = 0
    usage: Usage | None = None
    replaces: Digest | None = None
    made_at: AwareDatetime

    @property
    def key(self) -> Digest:
        return self.content_digest()

    @property
    def failed(self) -> int:
        return sum(item.outcome is None for item in self.items)

    @property
    def raw_points(self) -> float | None:
        """Signed points awarded; unknown as soon as one item has no outcome."""
        if self.failed:
            return None
        return sum(item.points * item.outcome.share for item in self.items if item.outcome is not None)

    @property
    def score(self) -> float | None:
        """Raw points over the positive points, held within 0 and 1; the raw sum stays beside it."""
        possible = sum(item.points for item in self.items if item.points > 0)
        return None if self.raw_points is None or possible == 0 else min(1.0, max(0.0, self.raw_points / possible))


class Gradability(Value):
    """Whether an automatic judge can grade a task at all, said by hand; the newest word counts."""

    task: Id
    gradable: bool
    reason: Annotated[str, Field(min_length=1)]
    by: Id
    made_at: AwareDatetime

    @property
    def key(self) -> Digest:
        return self.content_digest()
