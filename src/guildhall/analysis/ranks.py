"""Which models are told apart: all differences between models, paired by task, in statements that hold together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from guildhall.analysis.intervals import FEWEST_CLUSTERS
from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.rated import Groups, Rated
from guildhall.analysis.spreads import LIKE_THESE, NO_SPREAD, THESE
from guildhall.analysis.tables import Floats
from guildhall.domain.estimates import Estimate

DRAWS = 4000
MOST_DRAWN = 24
"""Of so many models the largest of all differences is drawn; of more its bound is Sidak's, which is a little wider."""


@dataclass(frozen=True)
class Differences:
    """Half-tie rates of models held against each other on the tasks that both have.

    `value[i, j]` is the mean over those tasks of the first's rate less the second's, `error` its standard error with
    tasks and graders as clusters. NaN where two models share too few tasks. `reach` times the error holds for all
    pairs at once.
    """

    models: tuple[str, ...]
    value: Floats
    error: Floats
    n_tasks: NDArray[np.int64]
    reach: float
    level: float
    drawn: bool = True
    like_these: NDArray[np.bool_] | None = None
    """Of which models' graders it may be said that they are a sample; None where nobody says who judged."""

    @cached_property
    def better(self) -> NDArray[np.bool_]:
        """Where the first is certainly better than the second."""
        return np.asarray(np.nan_to_num(self.value - self.reach * self.error, nan=-1.0) > 0.0)

    @property
    def best(self) -> tuple[str, ...]:
        """The models than which none is certainly better."""
        worse = np.asarray(self.better.any(axis=0)).tolist()
        return tuple(name for name, is_worse in zip(self.models, worse, strict=True) if not is_worse)

    def ranks(self, model: str) -> tuple[int, int]:
        """The first and the last place that a model may truly have."""
        at = self.models.index(model)
        return 1 + int(self.better[:, at].sum()), len(self.models) - int(self.better[at].sum())

    def between(self, first: str, second: str) -> Estimate:
        """The difference of two models, with the interval that holds for all differences at once."""
        i, j = self.models.index(first), self.models.index(second)
        value, error, n = float(self.value[i, j]), float(self.error[i, j]), int(self.n_tasks[i, j])
        known = math.isfinite(value) and math.isfinite(error)
        reach = self.reach * error
        pairs = len(self.models) * (len(self.models) - 1) // 2
        people, bound = self.like_these, "max-t" if self.drawn else "Sidak"
        return Estimate(
            value=value if math.isfinite(value) else None,
            interval=(max(-1.0, value - reach), min(1.0, value + reach)) if known else None,
            level=self.level,
            target=None if people is None else LIKE_THESE if people[i] and people[j] else THESE,
            estimand=f"half_tie of {first} minus {second}, mean over the tasks both have",
            n_tasks=n,
            method=f"paired by task, all {pairs} differences at once ({bound})" if known else "none",
            why_no_interval=None if known else f"{n} tasks in common that tell them apart; it takes {FEWEST_CLUSTERS}",
        )

    def told(self, first: str, second: str, *, margin: float) -> str:
        """What may be said of two models, in words: better, worse, equivalent within the margin, or not told apart."""
        found = self.between(first, second)
        return verdict(found, margin=margin)


def verdict(found: Estimate, *, margin: float, zero: float = 0.0) -> str:
    """What an interval says against `zero`, `margin` being the difference that matters."""
    if found.interval is None:
        return "not known"
    low, high = (end - zero for end in found.interval)
    points = f"{100 * margin:g} points"
    if low > 0:
        return "better"
    if high < 0:
        return "worse"
    if low > -margin and high < margin:
        return f"equivalent within {points}"
    return f"no worse by more than {points}" if low > -margin else "not told apart"


def differences(outcomes: Outcomes, *, level: float = 0.95, seed: int = 0, drawn: bool = True) -> Differences:
    """All differences between models' half-tie rates; ties count half. Their joint reach is `drawn`, or Sidak's."""
    groups = Groups(outcomes)
    means, has = _by_task(groups)
    shared = has @ has.T
    n = np.where(shared >= FEWEST_CLUSTERS, shared, np.nan)
    first = means @ has.T
    with np.errstate(invalid="ignore", divide="ignore"):
        value = (first - first.T) / n
        squares = np.square(means) @ has.T
        scatter = squares + squares.T - 2.0 * means @ means.T - n * np.square(value)
        by_tasks = np.maximum(scatter, 0.0) / (n * (n - 1))
    rated = Rated(groups, "half_tie")
    crossing = groups.crossing
    graders = crossing.of_differences(rated.errors)
    total = by_tasks + graders
    error = np.where(total > NO_SPREAD, np.sqrt(total), np.nan)
    df = _df(by_tasks, graders, n, np.minimum(crossing.df_graders[:, None], crossing.df_graders))
    centred = has * (means - (means.sum(axis=1) / has.sum(axis=1))[:, None]) / has.sum(axis=1)[:, None]
    reach = _reach(centred, crossing.by_people(rated.errors), df, level=level, seed=seed, drawn=drawn)
    names = tuple(outcomes.model.names[code] for code in groups.codes.tolist())
    like_these = None if outcomes.grader is None else crossing.like_these
    return Differences(names, value, error, np.asarray(shared, dtype=np.int64), reach, level, drawn, like_these)


def _by_task(groups: Groups) -> tuple[Floats, Floats]:
    """Each model's mean on each task (0 where it has none), and 1 where it has one."""
    place = np.repeat(np.arange(len(groups)), groups.n_tasks), groups.names_of_tasks
    means = np.zeros((len(groups), int(groups.names_of_tasks.max()) + 1))
    has = np.zeros_like(means)
    means[place], has[place] = groups.task_means("half_tie"), 1.0
    return means, has


def _df(by_tasks: Floats, graders: Floats, n: Floats, df_graders: Floats) -> float:
    """The fewest degrees of freedom of any difference."""
    with np.errstate(invalid="ignore", divide="ignore"):
        below = np.square(by_tasks) / (n - 1) + np.square(graders) / df_graders
        df = np.square(by_tasks + graders) / below
    known = df[np.isfinite(df)]
    return float(known.min()) if len(known) else math.inf


def _reach(by_task: Floats, by_grader: Floats, df: float, *, level: float, seed: int, drawn: bool) -> float:
    """How many standard errors the largest of all differences may be off, by drawing signs of tasks and of graders."""
    n_models = len(by_task)
    pairs = n_models * (n_models - 1) // 2
    if pairs < 2 or n_models > MOST_DRAWN or not drawn:
        return float(special.stdtrit(df, 0.5 + level ** (1 / max(1, pairs)) / 2))
    rng = np.random.default_rng(seed)
    signs = rng.standard_normal((DRAWS, by_task.shape[1])) @ by_task.T
    signs += rng.standard_normal((DRAWS, by_grader.shape[1])) @ by_grader.T
    first, second = np.triu_indices(n_models, 1)
    apart = signs[:, first] - signs[:, second]
    spread = apart.std(axis=0)
    largest = np.abs(apart[:, spread > 0] / spread[spread > 0]).max(axis=1, initial=0.0)
    scale = np.sqrt(df / rng.chisquare(df, DRAWS)) if math.isfinite(df) else 1.0
    return float(np.quantile(largest * scale, level))
