"""How far an estimate may be off, and of whom that is said: of graders like these, or of these very ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.tables import Codes, Floats

LIKE_THESE, THESE = "graders like these", "these very graders"
FEWEST_GRADERS = 2.5
"""Effective graders (Kish) below which their spread is not estimated."""
MOST_UNNAMED = 0.05
NO_SPREAD = 1e-14
"""A variance below this is rounding: nothing differs."""


class Spread(NamedTuple):
    """How far one estimate may be off. `variance` includes `of_graders`; both are for the named target."""

    variance: float
    of_graders: float
    df: float
    df_graders: float
    by_tasks: float
    """What tasks alone would say."""
    n_tasks: int
    n_graders: int
    effective_tasks: float
    effective_graders: float
    like_these: bool
    """Whether it is about graders like these; else about these very ones."""
    unnamed: float = 0.0
    """The share of judgments without a grader's name."""
    borrowed: int = 0
    """From how many cells the graders' component was borrowed."""
    skew: float = 0.0
    """How far graders' own figures are skewed: (1 - 2 share)^2, where a share far from one half is behind them."""

    planned: bool = False
    """Whether the plan asks of these very graders."""

    @property
    def target(self) -> str | None:
        """About whom it is; None where nobody judged."""
        return None if not self.n_graders else LIKE_THESE if self.like_these else THESE

    @property
    def design_effect(self) -> float | None:
        """The variance over that of tasks alone."""
        told = self.like_these and self.by_tasks > NO_SPREAD and self.variance > NO_SPREAD
        return self.variance / self.by_tasks if told else None

    @property
    def words(self) -> str:
        """What a method says of graders."""
        if not self.n_graders:
            return ""
        if self.like_these:
            lent = f", their component borrowed over {self.borrowed} cells" if self.borrowed else ""
            return f"; tasks and graders crossed ({self.effective_graders:.3g} effective graders{lent})"
        if self.planned:
            return "; for these very graders, as planned"
        if self.unnamed > MOST_UNNAMED:
            return f"; for these very graders: {self.unnamed:.0%} of judgments do not name theirs"
        return (
            f"; for these very graders: graders like these need {FEWEST_GRADERS:g} effective ones, "
            f"here are {self.effective_graders:.3g}"
        )


@dataclass(frozen=True)
class Spreads:
    """The spreads of many groups, as arrays; `spreads[i]` is one of them."""

    variance: Floats
    of_graders: Floats
    df: Floats
    df_graders: Floats
    by_tasks: Floats
    n_tasks: Codes
    n_graders: Codes
    effective_tasks: Floats
    effective_graders: Floats
    like_these: NDArray[np.bool_]
    unnamed: Floats
    borrowed: Codes
    skew: Floats
    planned: NDArray[np.bool_]

    def __getitem__(self, at: int) -> Spread:
        return Spread(*(getattr(self, name)[at].item() for name in Spread._fields))


def tasks_alone(variance: float, n_tasks: int, *, df: float | None = None) -> Spread:
    """A spread as far as tasks go, where no person judged."""
    df = max(n_tasks - 1.0, 1.0) if df is None else df
    return Spread(variance, 0.0, df, 1.0, variance, n_tasks, 0, float(n_tasks), 0.0, like_these=False)


def joined(tasks: Spread, *people: Spread) -> Spread:
    """The spread of a sum: what tasks say of it as a whole, and what its parts' graders, who are others, add each.

    Degrees of freedom of the graders' parts are Welch's.
    """
    like_these = all(one.like_these for one in people)
    parts = [(one.of_graders, one.df_graders) for one in people] if like_these else []
    more = sum(max(0.0, one.variance - one.by_tasks) for one in people) if like_these else 0.0
    variance = tasks.variance + more
    return tasks._replace(
        variance=variance,
        of_graders=min(sum(part for part, _ in parts), variance),
        df_graders=joint_df(*parts) if parts else 1.0,
        by_tasks=tasks.variance,
        n_graders=sum(one.n_graders for one in people),
        effective_graders=sum(one.effective_graders for one in people),
        like_these=like_these,
        unnamed=max(one.unnamed for one in people),
    )


def joint_df(*parts: tuple[float, float]) -> float:
    """Degrees of freedom of a sum of variances, each with its own (Satterthwaite); the fewest where nothing varies."""
    total = sum(variance for variance, _ in parts)
    below = sum(variance**2 / df for variance, df in parts)
    return total**2 / below if below > 0 else min(df for _, df in parts)


def df_of_weights(w: Floats, block: Codes, group: Codes, sums: Floats, size: int) -> Floats:
    """(tr M)^2 / tr M^2 with M = B'B, B = diag(w)(I - 1w'), for weights that add up to 1 in each block.

    Blocks of a group, which weigh `sums`, are added.
    """
    p2, p3, p4, p5 = (np.bincount(block, w**power, len(group)) for power in (2, 3, 4, 5))
    trace = p2 - 2.0 * p3 + p2**2
    of_square = p4 - 4.0 * p5 + 2.0 * p2 * p4 + 2.0 * p3**2 + 2.0 * p4 * p2 - 4.0 * p2 * p3 * p2 + p2**4
    traces = np.bincount(group, trace * sums**2, size)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = traces**2 / np.bincount(group, of_square * sums**4, size)
    return np.where(traces > 0, np.maximum(found, 1.0), 1.0)


def df_of_squares(squares: Floats, group: Codes, n: Codes, most: Floats) -> Floats:
    """At most `most`, and fewer where a few of a group's `n` squares make up most of its variance.

    A variance's own relative variance is (kurtosis - 1) / n, that of a chi-square 2 / df.
    """
    total, fourth = (np.bincount(group, one, len(n)) for one in (squares, np.square(squares)))
    with np.errstate(divide="ignore", invalid="ignore"):
        kurtosis = np.where(total > 0, n * fourth / total**2, 1.0)
        matched = np.maximum(1.0, np.minimum(most, 2.0 * n / (kurtosis - 1.0)))
    return np.where(kurtosis > 1.0, matched, most)
