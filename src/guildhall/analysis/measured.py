"""`Measured`: what an estimator returns, light enough that a cold process pays for NumPy and nothing else.

It has the fields of `guildhall.domain.estimates.Estimate`, which checks them; `to_estimate` crosses over where
results leave the package (reports, the command line, the store).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from guildhall.domain.estimates import Estimate


class Measured(NamedTuple):
    """A number with its interval, or with the reason why it has none."""

    value: float | None
    interval: tuple[float, float] | None
    estimand: str
    method: str
    level: float = 0.95
    unit: str = "task"
    n_tasks: int | None = None
    n_samples: int | None = None
    n_judgments: int | None = None
    n_excluded: int = 0
    seed: int | None = None
    why_no_interval: str | None = None

    @property
    def half_width(self) -> float | None:
        return None if self.interval is None else 0.5 * (self.interval[1] - self.interval[0])

    def to_estimate(self) -> Estimate:
        """The same as a checked domain value."""
        from guildhall.domain.estimates import Estimate

        return Estimate(**self._asdict())
