"""What tokens cost: dated public list prices, a user's own prices, or honestly unknown."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache

from guildhall.domain.prices import Price
from guildhall.domain.providers import provider_of
from guildhall.domain.submissions import Usage


class Prices:
    """Puts a price on usage. A user's own prices come first; a model behind another address has no list price."""

    def __init__(self, own: Mapping[str, Price] | None = None) -> None:
        self.own = dict(own or {})

    def price(self, model: str, usage: Usage, *, at: datetime, elsewhere: bool = False) -> Usage:
        """The same usage with its cost and the date of its price, or with neither where no price is known.

        `elsewhere` says that the model is reached at an address of the user's, whose prices nobody published.
        """
        if (own := self.own.get(model)) is not None:
            return usage.but(cost_usd=own.of(usage), price_date=own.as_of.isoformat())
        if model.startswith("scripted/"):
            return usage.but(cost_usd=0.0, price_date=at.date().isoformat())
        cost = None if elsewhere else _list_cost(model, usage, at)
        return usage.but(cost_usd=cost, price_date=_list_date() if cost is not None else None)

    def knows(self, model: str, *, at: datetime, elsewhere: bool = False) -> bool:
        probe = self.price(model, Usage(input_tokens=1, output_tokens=1), at=at, elsewhere=elsewhere)
        return probe.cost_usd is not None


def _list_cost(model: str, usage: Usage, at: datetime) -> float | None:
    from genai_prices import Usage as Counted
    from genai_prices import calc_price

    provider = provider_of(model)
    if provider is None or provider.prices is None:
        return None
    counted = Counted(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cached_input_tokens,
        cache_write_tokens=usage.cache_written_tokens,
        output_tokens=usage.output_tokens,
    )
    name = model.partition("/")[2]
    try:
        found = calc_price(counted, name, provider_id=provider.prices, genai_request_timestamp=at)
    except LookupError:
        return None
    return float(found.total_price)


@lru_cache(maxsize=1)
def _list_date() -> str:
    """The day the list prices were published with: the release they came in."""
    from importlib.metadata import version

    return f"genai-prices {version('genai-prices')}"
