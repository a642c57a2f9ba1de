"""Speed and cost of working with a model: naive, try once, try n times, and the limit.

An expert has the model try, reviews, and after n attempts that do not do does the work alone. `H` is the
expert's own time (or cost), `R` the review's, `M` the model's, `w` the chance that an attempt will do.

    E[T_n] = sum over k = 1..n of (1 - w)^(k-1) (M + R) + (1 - w)^n H

Ratios are E[H] / E[T_n] over tasks, never means of ratios. Left out: the review of human work, human
failures, and the price of catastrophes unless one is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.savings_intervals import (
    KindSums,
    Shares,
    WhoJudged,
    graders_spreads,
    moved_wins,
    ratio_intervals,
    reaching,
    task_weights,
    telling,
    with_graders,
)
from guildhall.analysis.spreads import Spread
from guildhall.domain.estimates import Estimate, Success
from guildhall.errors import ImpossibleValue, NothingToCompare, UnknownName

Floats = NDArray[np.float64]

UNREVIEWED = "nobody measured the time of review; see what would break even"
FREE = "nothing is spent this way, so the ratio has no bound"
LEFT_OUT = "left out: review of human work, human failures, catastrophic cost unless given"
CAVEATS = (
    "Hours are what experts said of their own work; nobody held a watch to them.",
    "A wage is the median of the occupation, and these experts are likely paid more: what they save is then more.",
    "A model that loses a comparison may still have made usable work, which counts here as a failed try.",
)
"""What makes the published ratios uncertain beside their intervals, in the order of the paper's notes."""


def named_success(word: str) -> Success:
    """The success a user named, or a refusal that lists the names."""
    if word not in set(Success):
        raise UnknownName("success", word, known=[one.value for one in Success])
    return Success(word)


def numbers_of_tries(words: str) -> tuple[int, ...]:
    """Numbers of tries as users write them: `1,2,5`."""
    parts = [part.strip() for part in words.split(",") if part.strip()]
    if not parts or not all(part.isdigit() and 1 <= int(part) <= 1000 for part in parts):
        raise ImpossibleValue("n", repr(words), allowed="whole numbers from 1 to 1000, separated by commas")
    return tuple(dict.fromkeys(int(part) for part in parts))


@dataclass(frozen=True)
class Catastrophe:
    """What a catastrophic deliverable costs, how often one is made, and the share that review catches."""

    cost: float
    rate: float
    caught: float = 0.0

    @property
    def expected(self) -> float:
        return self.cost * self.rate * (1 - self.caught)


@dataclass(frozen=True)
class TaskLedger:
    """One model on many tasks, in one currency (minutes or dollars), one entry per task.

    `review` is None where nobody measured it: then only the naive ratio and what would break even are known.
    """

    human: Floats
    review: Floats | None
    model: Floats
    won: Floats
    judged: Floats
    votes: WhoJudged | None = None
    """Who judged which task how; without it the interval is for these very graders."""

    def __post_init__(self) -> None:
        if not len(self.human):
            raise NothingToCompare("savings")
        for name in ("human", "review", "model", "won", "judged"):
            values = getattr(self, name)
            if values is not None and not (np.isfinite(values).all() and (values >= 0).all()):
                raise ImpossibleValue(name, "negative or not a number", allowed="0 or more on every task")
        if (self.won > self.judged).any() or not (self.judged > 0).all():
            raise ImpossibleValue("won", "more than judged, or nothing judged", allowed="at most `judged`, above 0")

    @property
    def win_rate(self) -> float:
        return float((self.won / self.judged).mean())

    @property
    def never_won(self) -> float:
        """Share of tasks without a single success, on which the limit rests."""
        return float((self.won == 0).mean())


@dataclass(frozen=True)
class Savings:
    """One model's ratios in one currency; above 1 the model saves."""

    w: Success
    win_rate: float
    naive: Estimate
    try_once: Estimate
    try_n: dict[int, Estimate]
    limit: Estimate
    never_won: float | None
    break_even_review: float
    """Review (in minutes or dollars) at which trying once saves nothing and loses nothing."""
    break_even_model: float | None
    break_even_win_rate: float | None


def savings_from_totals(
    *,
    human: float,
    review: float | None,
    model: float,
    win_rate: float,
    w: Success = Success.WIN,
    tries: Sequence[int] = (1, 2, 3),
    catastrophe: Catastrophe | None = None,
) -> Savings:
    """The plug-in ratios from averages over tasks, as the paper's Table 2; totals carry no interval."""
    if not 0 <= win_rate <= 1:
        raise ImpossibleValue("win_rate", win_rate, allowed="between 0 and 1")
    if not (human > 0 and (review is None or review >= 0) and model >= 0):
        raise ImpossibleValue(
            "a time or cost", (human, review, model), allowed="above 0 (0 allowed for review and for a free model)"
        )
    why = "averages over tasks carry no spread; give one row per task for an interval"
    fail = 1 - win_rate

    def spent_in(n: int) -> float | None:
        if review is None:
            return None
        tried = sum(fail**k for k in range(n))
        harm = catastrophe.expected * (1 - fail**n) if catastrophe else 0.0
        return tried * (model + review) + fail**n * human + harm

    def estimated(spent: float | None, what: str, reason: str | None = None) -> Estimate:
        value = human / spent if spent else None
        reason = reason or (UNREVIEWED if spent is None else why if spent else FREE)
        return Estimate(
            value=value,
            estimand=f"{what}, w = {w}",
            method="plug-in of averages",
            why_no_interval=reason,
        )

    unreviewed = model + (catastrophe.cost * catastrophe.rate if catastrophe else 0.0)
    limit = (
        (model + review) / win_rate + (catastrophe.expected if catastrophe else 0.0)
        if win_rate and review is not None
        else None
    )
    return Savings(
        w=w,
        win_rate=win_rate,
        naive=estimated(unreviewed, "naive ratio"),
        try_once=estimated(spent_in(1), _named(1)),
        try_n={n: estimated(spent_in(n), _named(n)) for n in tries},
        limit=estimated(limit, "limit of many tries", None if win_rate else "the model never succeeds"),
        never_won=None,
        break_even_review=win_rate * human - model,
        break_even_model=None if review is None else win_rate * human - review,
        break_even_win_rate=None if review is None else (model + review) / human,
    )


def savings_from_tasks(
    ledger: TaskLedger,
    *,
    rng: np.random.Generator,
    w: Success = Success.WIN,
    tries: Sequence[int] = (1, 2, 3),
    rounds: int = 2000,
    level: float = 0.95,
    catastrophe: Catastrophe | None = None,
) -> Savings:
    """Ratios with intervals that resample tasks jointly over H, R, M and w.

    Estimand: E[H] / E[T_n] over tasks. Each task's powers of 1 - w are posterior means under a
    beta-binomial over tasks, refitted in every round; the limit is plug-in only. Where it is known who judged, graders
    are a sample too. Where wins or losses are few the ends reach as far as their exact interval lets them.
    """
    weights = np.vstack([np.ones(len(ledger.human)), task_weights(len(ledger.human), rounds=rounds, rng=rng)])
    spent = _Spent(ledger, weights, catastrophe)
    report = _Reporter(ledger, w, level, rounds)
    plain = savings_from_totals(
        human=float(ledger.human.mean()),
        review=None if ledger.review is None else float(ledger.review.mean()),
        model=float(ledger.model.mean()),
        win_rate=ledger.win_rate,
        w=w,
        tries=tries,
        catastrophe=catastrophe,
    )
    [naive] = report.ratios(_naive(ledger, weights, catastrophe), (0.0, np.ones((1, 1, 1))), {"naive ratio": None})
    if ledger.review is None:
        return replace(plain, naive=telling(naive), never_won=ledger.never_won)
    unknown = None if (ledger.judged > 1).any() else "one judgment a task cannot tell hard tasks from bad luck"
    ends = _Ends(ledger, catastrophe, most=max(tries, default=1), level=level)
    every = sorted({1, *tries})
    why_not = {_named(n): unknown if n > 1 else None for n in every}
    found = report.ratios(spent.sums, spent.tried(every), why_not)
    found = [with_graders(one, own) for one, own in zip(found, spent.of_graders(every), strict=True)]
    by_tries = {n: telling(ends.reached(one, n)) for n, one in zip(every, found, strict=True)}
    return Savings(
        w=w,
        win_rate=ledger.win_rate,
        naive=telling(naive),
        try_once=by_tries[1],
        try_n={n: by_tries[n] for n in tries},
        limit=replace(
            plain.limit,
            n_tasks=len(ledger.human),
            why_no_interval=plain.limit.why_no_interval
            if plain.limit.value is None
            else f"plug-in only: {ledger.never_won:.0%} of tasks were never won",
        ),
        never_won=ledger.never_won,
        break_even_review=plain.break_even_review,
        break_even_model=plain.break_even_model,
        break_even_win_rate=plain.break_even_win_rate,
    )


def fit_beta_binomial(won: Floats, judged: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Mean and within-task correlation of success, by analysis of variance, one pair for each row of weights.

    The mean is over tasks, each weighing the same. Correlation is kept inside (0.001, 0.999).
    """
    share = won / judged
    tasks, total = weights.sum(axis=1), weights @ judged
    mean = weights @ share / tasks
    pooled = weights @ won / total
    between = (weights @ (judged * share**2) - total * pooled**2) / np.maximum(tasks - 1, 1)
    spare = total - tasks
    within = np.divide(weights @ (won * (1 - share)), spare, out=np.zeros_like(total), where=spare > 0)
    typical = (total - weights @ judged**2 / total) / np.maximum(tasks - 1, 1)
    scale = between + (typical - 1) * within
    correlation = np.divide(between - within, scale, out=np.zeros_like(scale), where=(scale > 0) & (spare > 0))
    return mean, np.clip(correlation, 1e-3, 1 - 1e-3)


def _naive(ledger: TaskLedger, weights: Floats, catastrophe: Catastrophe | None) -> KindSums:
    """The expert's own time or cost beside that of the model alone."""
    alone = ledger.model + (catastrophe.cost * catastrophe.rate if catastrophe else 0.0)
    return KindSums((ledger.human, alone), np.zeros(len(alone), dtype=np.intp), weights)


class _Spent:
    """Expected time or cost under each strategy, for the data (row 0) and for every round.

    All tasks with as many wins of as many verdicts fail alike, whatever they cost: each strategy takes shares of the
    expert's own time, of an attempt's, and of the harm that accepted work may do.
    """

    def __init__(self, ledger: TaskLedger, weights: Floats, catastrophe: Catastrophe | None) -> None:
        counted, kind = np.unique(np.column_stack([ledger.won, ledger.judged]), axis=0, return_inverse=True)
        won, judged = counted.T
        mean, correlation = (one[:, None] for one in fit_beta_binomial(ledger.won, ledger.judged, weights))
        prior = (1 - correlation) / correlation
        self.fails_once = 1 - won / judged
        self.lost = (1 - mean) * prior + (judged - won)
        self.trials = prior + judged
        attempt = ledger.model + (0.0 if ledger.review is None else ledger.review)
        harm = [np.full(len(attempt), catastrophe.expected)] if catastrophe else []
        self.has_harm, self.ledger, self.kind = bool(harm), ledger, kind.ravel()
        self.columns = (ledger.human, attempt, *harm)
        self.sums = KindSums(self.columns, self.kind, weights)

    def tried(self, tries: Sequence[int]) -> Shares:
        """E[T_n] for each n of `tries`, rising from 1; each attempt goes on from the last.

        E[T_1] is linear in w, so there the raw rates are unbiased and are not shrunk.
        """
        once = np.broadcast_to(self.fails_once, self.lost.shape)
        fails, attempts = self.lost / self.trials, np.ones_like(self.lost)
        made = [(once, attempts)]
        for k in range(1, tries[-1]):
            attempts = attempts + fails
            fails = fails * (self.lost + k) / (self.trials + k)
            made.append((fails, attempts))
        return self._shares(*(np.stack(one) for one in zip(*(made[n - 1] for n in tries), strict=True)))

    def of_graders(self, tries: Sequence[int]) -> list[Spread | None]:
        """How far each ratio's logarithm may be off, tasks and graders crossed; None where nobody says who judged."""
        if self.ledger.votes is None:
            return [None] * len(tries)
        step = np.arange(tries[-1])[:, None]
        chances = np.cumprod((self.lost[0] + step) / (self.trials[0] + step), axis=0)
        failing = np.vstack([np.ones_like(chances[:1]), chances])
        spent, saved = [], []
        for n in tries:
            fails = self.fails_once if n == 1 else failing[n]
            spent.append(self._of_tasks(fails, failing[:n].sum(axis=0), 1 - fails))
            # By how much less is spent as the chance of each task rises.
            steeper = n * failing[n - 1]
            saved.append(self._of_tasks(steeper, (np.arange(1, n) @ failing[: n - 1]), -steeper))
        return graders_spreads(self.ledger, spent, saved)

    def _of_tasks(self, *shares: Floats) -> Floats:
        """What each task takes of the expert's own time, of attempts and of harm."""
        mixed = [share[self.kind] * column for share, column in zip(shares, self.columns, strict=False)]
        return np.asarray(np.sum(mixed, axis=0), dtype=np.float64)

    def _shares(self, fails: Floats, attempts: Floats) -> Shares:
        return (fails, attempts, 1 - fails) if self.has_harm else (fails, attempts)


class _Ends:
    """How far the ratios would move if the wins were as few or as many as an exact interval allows."""

    def __init__(self, ledger: TaskLedger, catastrophe: Catastrophe | None, *, most: int, level: float) -> None:
        self.moved = moved_wins(ledger, level=level)
        if self.moved is not None:
            ones = np.ones((1, len(ledger.human)))
            moved = (_Spent(one, ones, catastrophe) for one in (self.moved.fewest, self.moved.most))
            self.fewest, self.most = (
                (one.sums.total(one.tried(range(1, most + 1)))[:, 0] / len(ledger.human)).tolist() for one in moved
            )
            self.human = float(ledger.human.mean())

    def reached(self, found: Estimate, n: int) -> Estimate:
        if self.moved is None or found.interval is None or found.value is None:
            return found
        fewest, most = (
            self.human / spent if spent > 0 else found.value for spent in (self.fewest[n - 1], self.most[n - 1])
        )
        ends = reaching(found.interval, found.value, fewest, most)
        return replace(found, interval=ends, method=found.method + self.moved.words)


@dataclass(frozen=True)
class _Reporter:
    ledger: TaskLedger
    w: Success
    level: float
    rounds: int

    def ratios(self, sums: KindSums, below: Shares, why_not: Mapping[str, str | None]) -> list[Estimate]:
        """The ratio of each row of shares, by its name; and why there can be no interval, if so."""
        spent, whole = sums.total(below), self.ledger.human.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            found = ratio_intervals(sums, below, level=self.level)
        return [
            self._ratio(what, whole / own[0] if own[0] else None, why or self._nothing(own) or one)
            for (what, why), own, one in zip(why_not.items(), spent, found, strict=True)
        ]

    def _nothing(self, spent: Floats) -> str | None:
        """Why tasks cannot be resampled where they are few, or most of them spend nothing."""
        if len(self.ledger.human) < 3:
            return "fewer than 3 tasks"
        if not spent[0]:
            return FREE
        return None if spent.all() else "so few tasks spend anything that a resample may hold none of them"

    def _ratio(self, what: str, value: float | None, found: tuple[float, float] | str) -> Estimate:
        interval, why = (None, found) if isinstance(found, str) else (found, None)
        return Estimate(
            value=None if value is None else float(value),
            interval=interval,
            level=self.level,
            estimand=f"E[H] / E[T], {what}, w = {self.w}",
            method=f"beta-binomial over tasks; bootstrap-t, {self.rounds} joint resamples of tasks",
            n_tasks=len(self.ledger.human),
            n_judgments=int(self.ledger.judged.sum()),
            why_no_interval=why,
        )


def _named(n: int) -> str:
    return "try once, then do it oneself" if n == 1 else f"try {n} times, then do it oneself"
