"""`Estimate`: a number together with how sure one may be of it, and of what. Every figure of the package is one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Literal

Convention = Literal["win", "win_or_tie", "half_tie"]
"""How a tie counts in a rate: as lost, as won, or as half."""


class Success(StrEnum):
    """What `w` counts; a savings figure without this name means nothing."""

    WIN = "win"
    WIN_OR_TIE = "win_or_tie"
    ACCEPTED = "accepted"


LATER = ("target", "effective_tasks", "effective_graders", "df_graders", "design_effect")
"""Fields that estimates written by the first version lack; what takes a digest leaves them out while unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number with its interval, its counts and its method.

    An interval that cannot be given is absent, and `why_no_interval` says why: it is never zero width for want of
    knowledge. `target` says about whom it is (graders like these, or these very ones). What is unknown is None.
    """

    # Values that hold estimates read and write them by this; the module itself stays light enough for a cold start.
    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid", "allow_inf_nan": False}

    value: float | None
    interval: tuple[float, float] | None = None
    level: float = 0.95
    estimand: str
    target: str | None = None
    unit: str = "task"
    n_tasks: int | None = None
    effective_tasks: float | None = None
    effective_graders: float | None = None
    df_graders: float | None = None
    design_effect: float | None = None
    n_samples: int | None = None
    n_judgments: int | None = None
    n_excluded: int = 0
    method: str
    seed: int | None = None
    why_no_interval: str | None = None

    def __post_init__(self) -> None:
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"an estimate is a finite number or None, not {self.value}")
        if (self.interval is None) == (self.why_no_interval is None):
            raise ValueError("an estimate carries either an interval or the reason why it has none")
        if self.interval is not None and not -math.inf < self.interval[0] <= self.interval[1] < math.inf:
            raise ValueError(f"interval {self.interval} is the wrong way round, or has no end")

    @property
    def half_width(self) -> float | None:
        return None if self.interval is None else 0.5 * (self.interval[1] - self.interval[0])
