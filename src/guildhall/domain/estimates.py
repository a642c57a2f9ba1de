"""`Estimate`: a number together with how sure one may be of it, and of what."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from guildhall.domain.values import Value


class Estimate(Value):
    """A number with its interval, its counts and its method.

    An interval that cannot be given is absent, and `why_no_interval` says why: it is never zero width.
    """

    value: float | None
    interval: tuple[float, float] | None = None
    level: float = 0.95
    estimand: str
    unit: str = "task"
    n_tasks: int | None = None
    n_samples: int | None = None
    n_judgments: int | None = None
    n_excluded: int = 0
    method: str
    seed: int | None = None
    why_no_interval: str | None = None

    @model_validator(mode="after")
    def _interval_or_reason(self) -> Self:
        if (self.interval is None) == (self.why_no_interval is None):
            raise ValueError("an estimate carries either an interval or the reason why it has none")
        if self.interval is not None and not self.interval[0] <= self.interval[1]:
            raise ValueError(f"interval {self.interval} is the wrong way round")
        return self
