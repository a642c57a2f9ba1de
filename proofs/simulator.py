"""Worlds with planted truths, for testing intervals. No estimator imports this module, and it imports none.

Every world is drawn from a `Cell`: how often the model wins, how often judgments tie, how much tasks and graders
differ (SD in log-odds), whether grades are missing, and how many tasks there are. Truths are sums or quadratures,
or averages over two million draws where neither is at hand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
SAMPLE_SD = 0.5
SAMPLES = GRADERS = 3
TASKS_AN_OCCUPATION = GRADERS_AN_OCCUPATION = 5


@dataclass(frozen=True)
class Cell:
    rate: float
    ties: float
    task_sd: float
    grader_sd: float
    missing: float
    n_tasks: int


CELLS = tuple(
    Cell(*row)
    for row in (
        # rate, ties, task SD, grader SD, missing grades, tasks: each level meets each level of its neighbours
        (0.05, 0.00, 0.5, 0.0, 0.0, 30),
        (0.12, 0.00, 1.0, 0.5, 0.2, 220),
        (0.45, 0.00, 2.0, 1.0, 0.0, 30),
        (0.90, 0.00, 0.5, 0.5, 0.2, 220),
        (0.05, 0.05, 1.0, 1.0, 0.2, 220),
        (0.12, 0.05, 2.0, 0.0, 0.0, 30),
        (0.45, 0.05, 0.5, 0.5, 0.2, 30),
        (0.90, 0.05, 1.0, 1.0, 0.0, 220),
        (0.05, 0.40, 2.0, 0.5, 0.0, 30),
        (0.12, 0.40, 0.5, 1.0, 0.2, 220),
        (0.45, 0.40, 1.0, 0.0, 0.0, 220),
        (0.90, 0.40, 2.0, 0.0, 0.2, 30),
        (0.05, 0.00, 2.0, 1.0, 0.2, 220),
        (0.12, 0.00, 0.5, 0.0, 0.0, 220),
        (0.45, 0.00, 1.0, 0.5, 0.2, 30),
        (0.90, 0.00, 2.0, 0.5, 0.0, 30),
        (0.05, 0.05, 0.5, 0.5, 0.0, 220),
        (0.12, 0.05, 1.0, 1.0, 0.2, 30),
        (0.45, 0.05, 2.0, 0.0, 0.2, 220),
        (0.90, 0.05, 0.5, 0.0, 0.0, 30),
        (0.05, 0.40, 1.0, 0.0, 0.2, 30),
        (0.12, 0.40, 2.0, 0.5, 0.0, 220),
        (0.45, 0.40, 0.5, 1.0, 0.0, 220),
        (0.90, 0.40, 1.0, 1.0, 0.2, 30),
    )
)


def logistic(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


@lru_cache(maxsize=256)
def centre_for(rate: float, spread: float) -> float:
    """The log-odds whose average chance, over normal effects with this SD, is `rate`."""
    low, high = -20.0, 20.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if average_chance(middle, spread) < rate else (low, middle)
    return (low + high) / 2


@lru_cache(maxsize=1)
def _nodes() -> tuple[Floats, Floats]:
    points, weights = np.polynomial.hermite_e.hermegauss(80)
    return points, weights / weights.sum()


def average_chance(centre: float, spread: float) -> float:
    """The mean chance when log-odds are normal."""
    points, weights = _nodes()
    return float(weights @ logistic(centre + spread * points))


@dataclass(frozen=True)
class Study:
    """One model's judgments in halves (0 loss, 1 tie, 2 win), and an automatic verdict on every sample."""

    task: Codes
    occupation: Codes
    sample: Codes
    grader: Codes
    halves: NDArray[np.int8]
    sample_task: Codes
    auto: NDArray[np.int8]
    human_chance: Floats
    auto_chance: Floats
    occupation_chance: Floats


def draw_study(cell: Cell, rng: np.random.Generator, *, own_graders: bool = False, occupation_sd: float = 0.0) -> Study:
    """Occupations of five tasks and five graders, three of whom grade each of three samples a task.

    With `own_graders` every grade comes from somebody else; with `occupation_sd` occupations differ. `human_chance`
    is a sample's chance of a win (given no tie) averaged over graders, `auto_chance` that of the automatic verdict,
    `occupation_chance` an occupation's own.
    """
    n, centre = cell.n_tasks, centre_for(cell.rate, math.hypot(_spread(cell), occupation_sd))
    sample_task = np.repeat(np.arange(n), SAMPLES)
    sample = np.repeat(np.arange(n * SAMPLES), GRADERS)
    occupation = sample_task // TASKS_AN_OCCUPATION
    of_occupation = occupation_sd * rng.normal(size=n // TASKS_AN_OCCUPATION)
    quality = (cell.task_sd * rng.normal(size=n))[sample_task] + SAMPLE_SD * rng.normal(size=n * SAMPLES)
    quality += of_occupation[occupation]
    if own_graders:
        grader = np.arange(len(sample))
    else:
        picked = rng.random((n * SAMPLES, GRADERS_AN_OCCUPATION)).argsort(axis=1)[:, :GRADERS]
        grader = (picked + (occupation * GRADERS_AN_OCCUPATION)[:, None]).ravel()
    severity = cell.grader_sd * rng.normal(size=int(grader.max()) + 1)
    halves = _outcomes(logistic(centre + quality[sample] + severity[grader]), cell.ties, rng)
    kept = rng.random(len(sample)) >= cell.missing
    auto_chance = logistic(centre + 0.7 * quality)
    return Study(
        task=sample_task[sample][kept],
        occupation=occupation[sample][kept],
        sample=sample[kept],
        grader=grader[kept],
        halves=halves[kept],
        sample_task=sample_task,
        auto=_outcomes(auto_chance, cell.ties, rng),
        human_chance=_over_graders(centre + quality, cell.grader_sd),
        auto_chance=auto_chance,
        occupation_chance=_over_graders(centre + of_occupation, _spread(cell)),
    )


def _spread(cell: Cell) -> float:
    return math.sqrt(cell.task_sd**2 + SAMPLE_SD**2 + cell.grader_sd**2)


def _outcomes(chance: Floats, ties: float, rng: np.random.Generator) -> NDArray[np.int8]:
    won = 2 * (rng.random(len(chance)) < chance)
    return np.where(rng.random(len(chance)) < ties, 1, won).astype(np.int8)


def _over_graders(logit: Floats, grader_sd: float) -> Floats:
    if grader_sd == 0:
        return logistic(logit)
    points, weights = _nodes()
    return np.asarray(logistic(logit[:, None] + grader_sd * points) @ weights, dtype=np.float64)


def true_rates(cell: Cell) -> dict[str, float]:
    won = (1 - cell.ties) * cell.rate
    return {"win": won, "win_or_tie": won + cell.ties, "half_tie": won + cell.ties / 2}


def agreement_given(ties: float, first: Floats, second: Floats) -> Floats:
    """Expected 1 - |X - Y| of two judgments that are independent given their chances of a win (given no tie)."""
    apart: Floats = (1 - ties) ** 2 * (first * (1 - second) + second * (1 - first)) + ties * (1 - ties)
    return 1 - apart


@lru_cache(maxsize=256)
def true_agreement(cell: Cell) -> tuple[float, float]:
    """Human-human and human-automatic agreement in the population."""
    points, weights = _nodes()
    centre, of_quality = centre_for(cell.rate, _spread(cell)), math.hypot(cell.task_sd, SAMPLE_SD)
    human = _over_graders(centre + of_quality * points, cell.grader_sd)
    auto = logistic(centre + 0.7 * of_quality * points)
    return (
        float(weights @ agreement_given(cell.ties, human, human)),
        float(weights @ agreement_given(cell.ties, human, auto)),
    )


@lru_cache(maxsize=256)
def true_chance_corrected(cell: Cell) -> tuple[float, float]:
    """Krippendorff's alpha and Gwet's AC2 with squared distances, in the population."""
    points, weights = _nodes()
    centre, of_quality = centre_for(cell.rate, _spread(cell)), math.hypot(cell.task_sd, SAMPLE_SD)
    human = _over_graders(centre + of_quality * points, cell.grader_sd)
    ties, won = cell.ties, (1 - cell.ties) * cell.rate
    within = (1 - ties) ** 2 * float(weights @ (2 * human * (1 - human))) + ties * (1 - ties) / 2
    variance = won + ties / 4 - (won + ties / 2) ** 2
    by_chance = sum(share * (1 - share) for share in (won, ties, 1 - won - ties))
    return 1 - within / (2 * variance), (1 - within - by_chance) / (1 - by_chance)


@dataclass(frozen=True)
class VoteWorld:
    """Votes between models with planted Davidson scores (mean 0); votes on one task partly repeat each other."""

    left: Codes
    right: Codes
    outcome: Codes
    auto: Codes
    task: Codes
    scores: Floats


def draw_votes(cell: Cell, rng: np.random.Generator, *, models: int = 6, votes_a_task: int = 12) -> VoteWorld:
    """`ties` sets the tie parameter, `task_sd` how often a vote repeats the task's earlier verdict on the pair."""
    scores = np.linspace(-1, 1, models) * (1.2 if cell.rate in (0.05, 0.9) else 0.6)
    nu = {0.0: 0.0, 0.05: 0.1, 0.4: 1.3}[cell.ties]
    n = cell.n_tasks * votes_a_task
    task = np.repeat(np.arange(cell.n_tasks), votes_a_task)
    left = rng.integers(0, models, n)
    right = (left + rng.integers(1, models, n)) % models
    base = _davidson(rng.random((cell.n_tasks, models, models)), scores, nu)
    fresh = _davidson_at(rng.random(n), scores[left] - scores[right], nu)
    repeats = rng.random(n) < {0.5: 0.1, 1.0: 0.25, 2.0: 0.5}[cell.task_sd]
    low, high = np.minimum(left, right), np.maximum(left, right)
    told = base[task, low, high]
    told = np.where(left < right, told, 2 - told)
    outcome = np.where(repeats, told, fresh)
    auto = np.where(rng.random(n) < 0.75, outcome, _davidson_at(rng.random(n), (scores[left] - scores[right]) / 2, nu))
    return VoteWorld(left, right, outcome, auto, task, scores)


def _davidson(uniform: Floats, scores: Floats, nu: float) -> Codes:
    return _davidson_at(uniform, (scores[:, None] - scores[None, :])[None], nu)


def _davidson_at(uniform: Floats, gap: Floats, nu: float) -> Codes:
    """0 left wins, 1 tie, 2 right wins."""
    left, right, tie = np.exp(gap / 2), np.exp(-gap / 2), nu
    total = left + right + tie
    return (uniform * total > left).astype(np.intp) + (uniform * total > left + tie).astype(np.intp)


LETTERS = np.array([0.0, 0.75, 1.0, 1.25, 1.75, 2.0, 2.25, 2.75, 3.0, 3.25, 3.75, 4.0, 4.25])
_EDGES = (LETTERS[1:] + LETTERS[:-1]) / 2


@dataclass(frozen=True)
class MarkWorld:
    """Marks [author, essay, grader] rounded to letters with a ceiling, which were read, and the true expected marks."""

    marks: Floats
    read: NDArray[np.bool_]
    expected: Floats
    severity: Floats


def draw_marks(
    rng: np.random.Generator,
    *,
    models: int,
    essays: int,
    high: bool = False,
    missing: bool = False,
    own: float = 0.3,
    family: float = 0.0,
    slopes: Floats | None = None,
    error_sd: float = 0.35,
    essay_sd: float = 0.25,
) -> MarkWorld:
    """`high` puts qualities near the ceiling; `missing` makes strict graders leave weak essays without a grade.

    `expected` is the mean letter of an author before each grader: of this essay with one essay an
    author, over essays like these with more.
    """
    quality = (3.8 if high else 3.0) + 0.4 * rng.normal(size=models)
    severity = 0.3 * rng.normal(size=models)
    severity -= severity.mean()
    written = quality[:, None] + essay_sd * rng.normal(size=(models, essays))
    kin = (np.arange(models)[:, None] // 2 == np.arange(models) // 2) & ~np.eye(models, dtype=bool)
    stretch = np.ones(models) if slopes is None else slopes
    shift = severity + own * np.eye(models) + family * kin
    latent = 3.0 + stretch * (written[:, :, None] - 3.0) + shift[:, None, :]
    marks = LETTERS[np.searchsorted(_EDGES, latent + error_sd * rng.normal(size=latent.shape))]
    unread = (0.25 if missing else 0.0) * ((quality < quality.mean())[:, None] & (severity < 0))
    read = rng.random(marks.shape) >= unread[:, None, :]
    if essays == 1:
        expected = expected_letter(latent[:, 0], error_sd)
    else:
        mean = 3.0 + stretch * (quality[:, None] - 3.0) + shift
        expected = expected_letter(mean, np.hypot(stretch * essay_sd, error_sd)[None, :])
    return MarkWorld(marks, read, expected, severity)


def expected_letter(mean: Floats, sd: Floats | float) -> Floats:
    """The mean letter when a normal mark is rounded to the nearest one."""
    below = 0.5 * (1 + _erf((_EDGES - mean[..., None]) / (np.atleast_1d(sd)[..., None] * math.sqrt(2))))
    chance = np.diff(np.concatenate([np.zeros((*mean.shape, 1)), below, np.ones((*mean.shape, 1))], axis=-1), axis=-1)
    return np.asarray(chance @ LETTERS, dtype=np.float64)


_erf = np.vectorize(math.erf, otypes=[np.float64])


@dataclass(frozen=True)
class WorkWorld:
    """Times of one model's tasks and its wins in nine judgments each."""

    human: Floats
    review: Floats
    model: Floats
    won: Floats
    judged: Floats


def draw_work(cell: Cell, rng: np.random.Generator, *, n_tasks: int | None = None) -> WorkWorld:
    """Long tasks are long for everybody, and a little harder to win."""
    chance, human, review, model = _work(cell, rng, n_tasks or cell.n_tasks)
    return WorkWorld(human, review, model, rng.binomial(9, chance).astype(float), np.full(len(human), 9.0))


def _work(cell: Cell, rng: np.random.Generator, n: int) -> tuple[Floats, Floats, Floats, Floats]:
    size = rng.normal(size=n)
    chance = logistic(
        centre_for(cell.rate, math.hypot(cell.task_sd, 0.3)) + cell.task_sd * rng.normal(size=n) - 0.3 * size
    )
    human = np.exp(5.5 + 0.6 * size + 0.3 * rng.normal(size=n))
    review = np.exp(4.5 + 0.3 * size + 0.3 * rng.normal(size=n))
    return chance, human, review, np.exp(2 + 0.5 * rng.normal(size=n))


@lru_cache(maxsize=256)
def true_savings(cell: Cell, tries: int) -> float:
    """E[H] / E[T_n] over two million tasks; `tries` 0 is the naive ratio."""
    chance, human, review, model = _work(cell, np.random.default_rng(20251), 2_000_000)
    if tries == 0:
        return float(human.mean() / model.mean())
    tried = sum((1 - chance) ** k for k in range(tries))
    return float(human.mean() / (tried * (model + review) + (1 - chance) ** tries * human).mean())
