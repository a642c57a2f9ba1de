"""On which terms a run works: how much it may cost and how hard a provider may be pressed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Annotated

from pydantic import Field, model_validator

from guildhall.domain.submissions import Usage
from guildhall.domain.values import Value
from guildhall.engine.prices import Prices
from guildhall.errors import PriceUnknown

logger = logging.getLogger(__name__)

Positive = Annotated[float, Field(gt=0)]
PositiveInt = Annotated[int, Field(gt=0)]
_BATCHED_AT_MOST = 10_000


class Limits(Value):
    """Ends of the tether, for one item and for the whole run; what is absent is unlimited."""

    item_usd: Positive | None = None
    item_seconds: Positive | None = None
    item_tokens: PositiveInt | None = None
    item_turns: PositiveInt | None = None
    run_usd: Positive | None = None
    run_seconds: Positive | None = None
    run_tokens: PositiveInt | None = None

    @property
    def in_dollars(self) -> bool:
        return self.item_usd is not None or self.run_usd is not None


class Pace(Value):
    """How a provider is served; nothing here changes an answer, so it is no part of any key.

    Without `connections` the number of open requests adapts: it grows while answers come and shrinks on rate limits.
    With `batch` (a number is the size) requests go through the provider's batch service, which may take a day: many
    wait at once, and no single attempt is given up. With `cache`, an agent's call that was made before, word for
    word, is answered from Inspect's cache, and counts neither as time nor as money.
    """

    connections: PositiveInt | None = None
    at_most: PositiveInt = 100
    retries: Annotated[int, Field(ge=0)] = 8
    attempt_seconds: PositiveInt | None = 600
    batch: bool | PositiveInt = False
    cache: bool = False

    @model_validator(mode="before")
    @classmethod
    def _without_relay(cls, given: object) -> object:
        """Earlier versions knew one setting more; files that still name it are read as if they did not."""
        if not isinstance(given, dict) or "relay" not in given:
            return given
        _tell_that_there_is_no_relay()
        return {name: value for name, value in given.items() if name != "relay"}

    @property
    def waiting_at_most(self) -> int:
        """How many requests to one model may wait for their answers at a time."""
        return self.connections or (_BATCHED_AT_MOST if self.batch else self.at_most)

    @property
    def gives_up_after_s(self) -> int | None:
        """When an attempt counts as lost and is made again; never for a batch, which would be paid for twice."""
        return None if self.batch else self.attempt_seconds


@cache
def _tell_that_there_is_no_relay() -> None:
    """Once a process."""
    logger.warning("the setting `relay` under `pace` does nothing any more and can be deleted")


@dataclass(frozen=True)
class Terms:
    """On which terms a run works: its name, its limits, its pace, its prices and its clock.

    Everything spent is booked on the name, across crashes and restarts.
    """

    run: str
    limits: Limits = field(default_factory=Limits)
    pace: Pace = field(default_factory=Pace)
    prices: Prices = field(default_factory=Prices)
    now: Callable[[], float] = time.time

    def date(self) -> datetime:
        return datetime.fromtimestamp(self.now(), UTC)

    def priced(self, model: str, usage: Usage, *, elsewhere: bool) -> Usage:
        return self.prices.price(model, usage, at=self.date(), elsewhere=elsewhere)

    def require_prices(self, models: Iterable[tuple[str, bool]]) -> None:
        """Refuse a limit in dollars for a model whose price nobody knows: it could never be kept."""
        if not self.limits.in_dollars:
            return
        for model, elsewhere in sorted(set(models)):
            if not self.prices.knows(model, at=self.date(), elsewhere=elsewhere):
                raise PriceUnknown(model)
