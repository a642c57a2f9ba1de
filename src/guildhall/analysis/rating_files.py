"""Ratings straight from a file: counts where counts are enough, votes one by one where clusters ask for it.

Bootstrap of Bradley-Terry ratings on counts: the check on the sandwich, never the other way round. Each vote weighs 0
or 2 with equal chance ("double or nothing", Owen and Eckles 2012), which has the mean and the variance that
resampling gives. A count of n votes then becomes twice a count of n coin flips: the ones among n random bits. Ratings
are refitted by Newton steps that keep the Hessian of the full fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.bradley_terry import TIE_MODELS, Fit, FitRows, Ties
from guildhall.analysis.files import column_names
from guildhall.analysis.ratings import RatingTable, rate_counts, rate_votes
from guildhall.analysis.tables import Codes, Floats, side_by_side
from guildhall.analysis.votes import count_vote_file, read_votes
from guildhall.domain.estimates import Estimate
from guildhall.errors import ImpossibleValue, InputError, MissingColumn, UnknownName

SCORES = np.array([1.0, 0.5, 0.0])
"""What the left side gets when left wins, on a tie, when right wins."""


def elo_ratings(
    left: Codes,
    right: Codes,
    outcome: Codes,
    n_models: int,
    *,
    start: float = 1000.0,
    k: float = 4.0,
    scale: float = 400.0,
    compiled: bool = False,
) -> Floats:
    """Ratings after all votes in their order; `outcome` is 0 left, 1 tie, 2 right.

    `compiled` runs the same loop through Numba (extra `fast`): worth its second of compiling above a million votes.
    """
    ratings = np.full(n_models, start)
    update = _compiled_update() if compiled else _update
    update(ratings, left, right, SCORES[outcome], k, np.log(10.0) / scale)
    return ratings


def _update(ratings: Any, left: Any, right: Any, scores: Any, k: float, slope: float) -> None:
    for i in range(len(left)):
        a, b = left[i], right[i]
        expected = 1.0 / (1.0 + np.exp(slope * (ratings[b] - ratings[a])))
        change = k * (scores[i] - expected)
        ratings[a] += change
        ratings[b] -= change


@cache
def _compiled_update() -> Callable[..., None]:
    from guildhall.errors import MissingTool

    try:
        import numba
    except ImportError as error:
        raise MissingTool("numba", needed_for="the compiled Elo loop", fix="install guildhall[fast]") from error
    compiled: Callable[..., None] = numba.njit(_update)
    return compiled


CLUSTERS, CROSSED = ("task", "grader"), "crossed"
COMPILE_ABOVE_VOTES = 1_000_000


def rate_file(
    path: Path,
    *,
    ties: str = "davidson",
    cluster: str = "auto",
    anchors: Sequence[str] = (),
    position: bool = False,
    covariates: Sequence[str] = (),
    level: float = 0.95,
) -> RatingTable:
    """Ratings from a file with columns `left, right, winner`; tasks and graders are crossed where it names them.

    Without clusters and covariates only counts are kept, whatever the number of votes. `anchors` are MODEL=SCORE.
    """
    named, fixed = named_ties(ties), parse_anchors(anchors)
    by = _cluster(path, cluster)
    if by is None and not covariates:
        return rate_counts(count_vote_file(path), ties=named, anchors=fixed, position=position, level=level)
    columns = CLUSTERS if by == CROSSED else (by,) if by else ()
    votes = read_votes(path, clusters=columns, covariates=covariates)
    return rate_votes(votes, cluster=by, ties=named, anchors=fixed, position=position, level=level)


def elo_file(path: Path) -> dict[str, float]:
    """Elo ratings after all votes of a file in their order: no interval, and another order gives other ratings."""
    votes = read_votes(path)
    compiled = len(votes.left) > COMPILE_ABOVE_VOTES and find_spec("numba") is not None
    ratings = elo_ratings(votes.left, votes.right, votes.outcome, len(votes.names), compiled=compiled)
    return dict(zip(votes.names, ratings.tolist(), strict=True))


def named_ties(name: str) -> Ties:
    """The model of ties called `name`; an unknown name is refused."""
    for known in TIE_MODELS:
        if name == known:
            return known
    raise UnknownName("model of ties", name, known=list(TIE_MODELS))


def parse_anchors(words: Sequence[str]) -> dict[str, float]:
    """MODEL=SCORE words as a mapping; the score is in log-odds."""
    anchors = {}
    for word in words:
        model, _, score = word.rpartition("=")
        try:
            value = float(score)
        except ValueError:
            value = math.nan
        if not model or not math.isfinite(value):
            raise InputError(f"{word!r} is no anchor; write MODEL=SCORE, the score in log-odds, e.g. gpt=0")
        anchors[model] = value
    return anchors


def _cluster(path: Path, wanted: str) -> str | None:
    if wanted == "none":
        return None
    if wanted not in ("auto", CROSSED, *CLUSTERS):
        raise UnknownName("cluster", wanted, known=["auto", CROSSED, *CLUSTERS, "none"])
    found = column_names(path)
    for name in CLUSTERS if wanted == CROSSED else (wanted,):
        if wanted != "auto" and name not in found:
            raise MissingColumn(path.name, name, found=found)
    there = [name for name in CLUSTERS if name in found]
    return wanted if wanted != "auto" else CROSSED if len(there) == len(CLUSTERS) else next(iter(there), None)


MOST_BITS = 2048
"""Above this count a binomial draw is cheaper than its bits."""
WORD = 64
"""Bits drawn at once."""
CELLS_A_BATCH = 1 << 17
"""As many rounds go together as keep their pairs in the processor's cache."""
MOST_STEPS = 60
LEFT_DONE = 1e-3
"""What may be left to go to the maximum, of the smallest standard error: far below what resampling can tell."""
LEFT_LOST = 1e-3
"""Where more is left after all steps, the round has no finite maximum, or none that was reached."""


class BootstrapRatings(NamedTuple):
    """Ratings of each round that has a finite maximum, and the number of rounds that had none."""

    ratings: Floats
    n_lost: int

    def interval(self, model: int, *, level: float = 0.95) -> tuple[float, float] | None:
        """Percentiles; None where more rounds were lost than the tails may hold."""
        tail = (1.0 - level) / 2
        if self.n_lost > tail * (self.n_lost + len(self.ratings)):
            return None
        low, high = np.quantile(self.ratings[:, model], [tail, 1.0 - tail]).tolist()
        return low, high


Rounds = tuple[int, np.random.Generator]
"""How many rounds go together, and the source they draw from."""


class Deal(Protocol):
    """Does work on every item, wherever there is room for it, and hands back what came of it in their order."""

    def __call__(
        self,
        work: Callable[[tuple[int, np.random.Generator]], Floats],
        items: Sequence[tuple[int, np.random.Generator]],
    ) -> Iterable[Floats]: ...


def bootstrap_ratings(
    rows: FitRows, fit: Fit, *, rounds: int, rng: np.random.Generator, deal: Deal = side_by_side
) -> BootstrapRatings:
    """Ratings of `rounds` resampled sets of votes. Votes are taken as independent; they must weigh 1 each.

    `deal` says where the rounds are refitted: on the threads of this process, or (with `engine.executor.in_order`) on
    other processes and machines. The result is the same to the last bit.
    """
    whole = rows.counts.astype(np.int64)
    if np.any(whole != rows.counts) or (rows.squares is not rows.counts and np.any(rows.squares != rows.counts)):
        raise ImpossibleValue("weight", "not 1 in some row", allowed="1 for a bootstrap; use the sandwich interval")
    each = max(1, CELLS_A_BATCH // max(len(rows.first), 1))
    sizes = [min(each, rounds - start) for start in range(0, rounds, each)]
    batch = partial(_batch, rows, fit, Coins(whole.ravel()))
    # Each batch draws from a source of its own, so that the result does not hang on which ends first.
    ratings = np.concatenate(list(deal(batch, list(zip(sizes, rng.spawn(len(sizes)), strict=True)))))
    lost = np.isnan(ratings[:, 0])
    return BootstrapRatings(ratings[~lost], int(lost.sum()))


def bootstrapped(table: RatingTable, *, rounds: int, seed: int, level: float = 0.95) -> dict[str, Estimate]:
    """Each rated model's score with the percentiles of a bootstrap of the votes, to lay beside its own interval.

    Votes are taken as independent, so ratings clustered by task or grader are refused, and so are votes of other
    weights than 1. An anchor has no interval, nor has a model where too many rounds had no finite maximum.
    """
    if any(one.score.unit != "vote" for one in table.ratings):
        raise InputError("a bootstrap takes votes as independent of each other; ask for it without clusters")
    drawn = bootstrap_ratings(table.rows, table.fit, rounds=rounds, rng=np.random.default_rng(seed))
    found = {}
    for one in table.ratings:
        if one.score.interval is None:
            found[one.model] = one.score
            continue
        ends = drawn.interval(table.names.index(one.model), level=level)
        why = None if ends else f"{drawn.n_lost} of {rounds} rounds had no finite maximum"
        method = f"double-or-nothing bootstrap of votes, percentiles of {rounds} rounds"
        found[one.model] = replace(one.score, interval=ends, method=method, level=level, seed=seed, why_no_interval=why)
    return found


def _batch(rows: FitRows, fit: Fit, coins: Coins, rounds: Rounds) -> Floats:
    counts = coins.flip(*rounds)
    return _refit(rows, fit, counts.reshape(-1, *rows.counts.shape))


class Coins:
    """Counts of votes that can be drawn anew, each vote doubled or dropped."""

    def __init__(self, counts: NDArray[np.int64]) -> None:
        order = np.argsort(-counts, kind="stable")
        self._falling, self._place = counts[order], np.empty_like(order)
        self._place[order] = np.arange(len(order))

    def flip(self, rounds: int, rng: np.random.Generator) -> Floats:
        """Twice the heads among as many coins as there are votes: rounds x cells."""
        falling = self._falling
        n_large = int((falling > MOST_BITS).sum())
        drawn = np.zeros((rounds, len(falling)), dtype=np.int64)
        drawn[:, :n_large] = rng.binomial(falling[:n_large], 0.5, size=(rounds, n_large))
        small, bits_done = drawn[:, n_large:], 0
        while n_open := int((falling[n_large:] > bits_done).sum()):
            left = falling[n_large : n_large + n_open] - bits_done
            words = rng.integers(0, 1 << 64, size=(rounds, n_open), dtype=np.uint64)
            n_whole = int((left >= WORD).sum())
            words[:, n_whole:] >>= (WORD - left[n_whole:]).astype(np.uint64)
            small[:, :n_open] += np.bitwise_count(words)
            bits_done += WORD
        twice: Floats = np.multiply(drawn.take(self._place, axis=1), 2.0, dtype=np.float64)
        return twice


def _refit(rows: FitRows, fit: Fit, counts: Floats) -> Floats:
    """Ratings for each round's counts (rounds x outcomes x rows); NaN for rounds that do not settle."""
    sides = _sides(rows)
    parameters = fit.parameters[None, :]
    if fit.ties == "half":
        counts = np.stack([counts[:, 0] + 0.5 * counts[:, 1], counts.sum(axis=1)], axis=1)
    errors = np.sqrt(np.diag(fit.covariance)[: fit.n_models])
    done = LEFT_DONE * float(errors[errors > 0].min(initial=1.0))
    last = left = np.full(len(counts), np.inf)
    with np.errstate(all="ignore"):
        for _ in range(MOST_STEPS):
            step = _gradients(rows, fit, counts, parameters, sides) @ fit.inverse
            parameters = parameters + step
            before, last = last, np.abs(step).max(axis=1)
            # With a Hessian that stays, steps shrink by about the same factor each: so what is left is known.
            left = last * np.where(np.isfinite(before), np.minimum(last / before, 1.0), 1.0)
            if not np.any(left > done):
                break
    settled = left < max(done, LEFT_LOST)
    return np.where(settled[:, None], parameters[:, : rows.n_models], np.nan)


class _Side(NamedTuple):
    """A side of the pairs: where each of its models' pairs begin, once the pairs are in `order` (None: as they are)."""

    sign: float
    order: NDArray[np.intp] | None
    starts: NDArray[np.intp]
    models: NDArray[np.intp]


def _sides(rows: FitRows) -> tuple[_Side, _Side]:
    by_second = np.argsort(rows.second, kind="stable")
    return _side(1.0, None, rows.first), _side(-1.0, by_second, rows.second[by_second])


def _side(sign: float, order: NDArray[np.intp] | None, codes: Codes) -> _Side:
    starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
    return _Side(sign, order, starts, codes[starts])


def _gradients(rows: FitRows, fit: Fit, counts: Floats, parameters: Floats, sides: tuple[_Side, _Side]) -> Floats:
    m, n_covariates = rows.n_models, rows.covariates.shape[1]
    n_tie = len(fit.parameters) - m - n_covariates
    d = parameters.take(rows.first, axis=1)
    d -= parameters.take(rows.second, axis=1)
    if n_covariates:
        d += parameters[:, m + n_tie :] @ rows.covariates.T
    pull, tie_pull = _pulls(fit, counts, d, parameters[:, m] if n_tie else None)
    gradients = np.zeros((len(counts), len(fit.parameters)))
    for side in sides:
        pulls = pull if side.order is None else pull.take(side.order, axis=1)
        gradients[:, side.models] += side.sign * np.add.reduceat(pulls, side.starts, axis=1)
    if n_tie:
        gradients[:, m] = tie_pull
    if n_covariates:
        gradients[:, m + n_tie :] = pull @ rows.covariates
    return gradients


def _pulls(fit: Fit, counts: Floats, d: Floats, tie: Floats | None) -> tuple[Floats, Floats]:
    """The likelihood's derivative by each row's difference, and by the tie parameter, in each round."""
    if tie is None:
        # Without a tie parameter two sums of the counts are all that matters: what was won, and how much in all.
        won, total = counts[:, 0], counts[:, 1]
        share = np.exp(np.negative(d, out=d), out=d)
        share += 1.0
        return won - total / share, np.zeros(len(counts))
    pulls, tie_pulls = np.empty((len(counts), counts.shape[2])), np.empty(len(counts))
    for round_, own in enumerate(counts):
        at = TIE_MODELS[fit.ties][0](d[min(round_, len(d) - 1)], float(tie[min(round_, len(tie) - 1)]))
        pulls[round_] = (own * at.d).sum(axis=0)
        tie_pulls[round_] = (own * at.k).sum()
    return pulls, tie_pulls
