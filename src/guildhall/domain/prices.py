"""A price of tokens, as of a date."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from guildhall.domain.submissions import Usage
from guildhall.domain.values import Value


class Price(Value):
    """Dollars for a million tokens, as of a date."""

    input_usd: Annotated[float, Field(ge=0)]
    output_usd: Annotated[float, Field(ge=0)]
    cached_input_usd: Annotated[float, Field(ge=0)] | None = None
    as_of: date

    def of(self, usage: Usage) -> float:
        cached_usd = self.input_usd if self.cached_input_usd is None else self.cached_input_usd
        fresh = usage.input_tokens - usage.cached_input_tokens
        return (
            fresh * self.input_usd + usage.cached_input_tokens * cached_usd + usage.output_tokens * self.output_usd
        ) / 1e6
