"""The plan of a Boswell run: which models, which domain, how often; frozen by its digest before anything is asked."""

from __future__ import annotations

import tomllib
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, JsonValue, ValidationError, model_validator

from guildhall.domain.authors import ModelRun
from guildhall.domain.prices import Price
from guildhall.domain.providers import holds_to_schema
from guildhall.domain.submissions import FREE, Usage
from guildhall.domain.values import Digest, Id, Value
from guildhall.engine.prices import Prices
from guildhall.errors import InputError, UnreadableFile


class PeerModel(Value):
    """A model that takes part: a short name, an Inspect model string, and everything that may change its answers."""

    name: Id
    model: str
    settings: dict[str, JsonValue] = {}
    family: str | None = None
    structured: bool | None = None
    price: Price | None = None

    @property
    def asks_structure(self) -> bool:
        return holds_to_schema(self.model) if self.structured is None else self.structured

    def author(self, prompts: Digest, *, sample: int = 1) -> ModelRun:
        return ModelRun(
            name=self.name,
            model=self.model,
            settings=self.settings,
            condition="peer",
            prompt_digest=prompts,
            sample=sample,
        )


class PeerPlan(Value):
    """Everything that decides what a run asks."""

    domain: Id
    models: Annotated[tuple[PeerModel, ...], Field(min_length=2)]
    samples: Annotated[int, Field(ge=1, le=50)] = 1
    rounds: Annotated[int, Field(ge=1, le=50)] = 1
    composites: bool = True
    follow_ups: Annotated[int, Field(ge=0, le=5)] = 1
    retries: Annotated[int, Field(ge=0, le=10)] = 2
    domain_digest: Digest
    prompts: Digest

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        names = [model.name for model in self.models]
        if len(set(names)) != len(names):
            raise ValueError("two models share a name")
        return self

    @property
    def families(self) -> dict[str, str]:
        """Who made which model: as given, else the provider in front of the model string."""
        return {model.name: model.family or model.model.split("/")[0] for model in self.models}

    def prices(self) -> Prices:
        return Prices({model.model: model.price for model in self.models if model.price is not None})

    @property
    def calls(self) -> int:
        """How many calls it takes, without retries and follow-up questions."""
        essays = len(self.models) * self.samples
        return essays + essays * len(self.models) * self.rounds


TOKENS_A_WORD, TOKENS_OF_INSTRUCTIONS, TOKENS_A_MARK = 1.4, 900, 600


def expected_usd(plan: PeerPlan, *, words: int, at: datetime) -> float | None:
    """What a run would cost by rule of thumb, essays as long as may be; unknown where one model's price is."""
    essay, essays = int(words * TOKENS_A_WORD), len(plan.models) * plan.samples
    total, prices = FREE, plan.prices()
    for one in plan.models:
        marks = essays * plan.rounds
        usage = Usage(
            input_tokens=plan.samples * TOKENS_OF_INSTRUCTIONS + marks * (TOKENS_OF_INSTRUCTIONS + essay),
            output_tokens=plan.samples * essay + marks * TOKENS_A_MARK,
        )
        total += prices.price(one.model, usage, at=at, elsewhere="base_url" in one.settings)
    return total.cost_usd


def named_models(words: list[str]) -> tuple[PeerModel, ...]:
    """Models from the command line: `provider/model`, or `name=provider/model`."""
    models = []
    for word in words:
        name, equals, model = word.partition("=")
        models.append(PeerModel(name=name if equals else word.replace("/", "-").replace(":", "-"), model=model or word))
    return tuple(models)


def read_models(path: Path) -> tuple[PeerModel, ...]:
    """Models from a TOML file: a table `[models.NAME]` each, with `model` and perhaps `settings`, `family`, `price`."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnreadableFile(path, f"it is no readable TOML ({error})") from error
    tables = data.get("models")
    if not isinstance(tables, dict) or not tables:
        raise UnreadableFile(path, "it has no table `[models.NAME]`")
    try:
        return tuple(
            PeerModel.model_validate(_with_price_date(table) | {"name": name}) for name, table in tables.items()
        )
    except (ValidationError, TypeError) as error:
        raise UnreadableFile(path, str(error)) from error


def _with_price_date(table: dict[str, Any]) -> dict[str, Any]:
    price = table.get("price")
    if isinstance(price, dict) and not isinstance(price.get("as_of"), date):
        raise InputError(f"a price needs its date: as_of = 2026-01-31 (in {sorted(table)})")
    return table
