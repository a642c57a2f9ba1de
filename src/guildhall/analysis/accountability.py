"""An automatic judge held to account: how far it agrees with people, what sways it, and what it left unsaid.

Estimates rest on whole rounds: where one order of a sweep failed, the other order of that sweep is left out too, and
counted. Every share clusters by task, since verdicts on one task go together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from guildhall.analysis.agreement_report import AgreementReport, agreement_report
from guildhall.analysis.effects import JudgedRows, length_effect, position_effect
from guildhall.analysis.intervals import clustered_mean, share_interval
from guildhall.analysis.ratings_table import ratings_from_table
from guildhall.analysis.regress import clustered_slope, slope_estimate
from guildhall.analysis.tables import Floats, Table, encode
from guildhall.domain.estimates import Estimate
from guildhall.domain.pair_scores import PairScore
from guildhall.errors import NothingJudged

Rows = Sequence[PairScore]


@dataclass(frozen=True)
class Coverage:
    """Both denominators: verdicts asked for, and verdicts given; failures by kind, and what they took along."""

    asked: int
    verdicts: int
    failures: dict[str, int]
    left_out_with_them: int


@dataclass(frozen=True)
class Account:
    """Everything known about one judge. Without people's judgments the figures that need them are absent."""

    grader: str
    people: tuple[str, ...]
    """The kinds of people it is held against; they are never pooled without being named."""
    coverage: Coverage
    agreement: AgreementReport | None
    first_place: Estimate
    position: Estimate
    flips: Estimate
    ties: Estimate
    ties_of_people: Estimate
    longer: Estimate
    longer_of_people: Estimate
    length: Estimate
    kin: Estimate
    reliability: Estimate
    cost_per_verdict_usd: float | None
    criteria: dict[str, Estimate] = field(default_factory=dict)


def account(rows: Rows, grader: str, *, level: float = 0.95) -> Account:
    """The account of one grader over rows of people and judges; other judges' rows take no part."""
    asked = [row for row in rows if not row.human and row.grader == grader]
    people = [row for row in rows if row.human and row.score is not None]
    if not asked:
        raise NothingJudged(f"the account of {grader}")
    whole = whole_rounds(asked)
    costs = [row.cost_usd for row in asked]
    n_verdicts = sum(row.score is not None for row in asked)
    known = [cost for cost in costs if cost is not None]
    return Account(
        grader=grader,
        people=tuple(sorted({row.grader_kind for row in people})),
        coverage=Coverage(len(asked), n_verdicts, failure_kinds(asked), n_verdicts - len(whole)),
        agreement=agreement_with_people(whole, people, level=level),
        first_place=_share(whole, _first_won, "share of decided verdicts for the side shown first", level),
        position=_effect(whole, position_effect, "score shown first minus shown second", level),
        flips=_flips(whole, level),
        ties=_share(whole, _tied, "share of ties", level),
        ties_of_people=_share(people, _tied, "share of ties among people", level),
        longer=_share(whole, _longer_won, "share of decided verdicts for the longer side", level),
        longer_of_people=_share(people, _longer_won, "share of people's decided verdicts for the longer side", level),
        length=_effect(whole, length_effect, "score per doubling of length against the other side", level),
        kin=kin_preference(whole, people, level=level),
        reliability=_reliability(whole, level),
        cost_per_verdict_usd=sum(known) / n_verdicts if n_verdicts and len(known) == len(costs) else None,
        criteria=_criteria(whole, people, level),
    )


def whole_rounds(asked: Rows) -> list[PairScore]:
    """The verdicts of rounds in which every order was answered; a round is one sweep of one sample."""
    failed = {(row.sample, row.sweep) for row in asked if row.score is None}
    return [row for row in asked if (row.sample, row.sweep) not in failed]


def failure_kinds(asked: Rows) -> dict[str, int]:
    """Failures by the words before the colon: refused, unreadable, truncated, provider failed."""
    return dict(Counter((row.failure or "unknown").partition(":")[0] for row in asked if row.score is None))


def agreement_with_people(judge: Rows, people: Rows, *, level: float) -> AgreementReport | None:
    """Agreement on the samples the judge was asked about; None where no person judged any of them."""
    shared = {row.sample for row in judge}
    kept = [row for row in people if row.sample in shared]
    if not kept:
        return None
    return agreement_report(ratings_from_table(ratings_table([*kept, *judge])), level=level)


def ratings_table(rows: Rows) -> Table:
    """Rows in the columns `guildhall analyze agreement` reads."""
    columns = {
        "sample": [row.sample for row in rows],
        "model": [row.model for row in rows],
        "task": [row.task for row in rows],
        "rater": [row.grader for row in rows],
        "kind": ["human" if row.human else "auto" for row in rows],
    }
    scores: Floats = np.array([np.nan if row.score is None else row.score for row in rows])
    return Table({**{name: encode(cells) for name, cells in columns.items()}, "score": scores}, len(rows))


def kin_preference(judge: Rows, people: Rows, *, level: float = 0.95) -> Estimate:
    """What a judge adds for models of its own family, beyond what people see in them (after Panickssery et al.).

    Estimand: mean over kin samples of judge minus people, less the same over other samples. Clustered by task.
    """
    what = "judge minus people, on its own family's work less on others'"
    method = "difference of differences, least squares clustered by task (jackknife errors)"
    seen, truth = _means_by_sample(judge), _means_by_sample(people)
    about = {row.sample: row for row in judge if row.kin is not None}
    shared = sorted(about.keys() & seen.keys() & truth.keys())
    if not shared:
        why = "the judge's or the authors' makers are not named, or no person judged the same samples"
        return Estimate(value=None, estimand=what, method=method, level=level, why_no_interval=why)
    gap = np.array([seen[sample] - truth[sample] for sample in shared])
    kin = np.array([float(about[sample].kin or False) for sample in shared])
    tasks = _codes([about[sample].task for sample in shared])
    slope = clustered_slope(gap, kin, absorb=(), cluster=tasks)
    return slope_estimate(slope, what=what, n_judgments=len(judge), level=level, method=method)


def _means_by_sample(rows: Rows) -> dict[str, float]:
    scores: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row.score is not None:
            scores[row.sample].append(row.score)
    return {sample: float(np.mean(found)) for sample, found in scores.items()}


def _first_won(row: PairScore) -> float | None:
    if row.score in (None, 0.5):
        return None
    return float((row.score == 1.0) == row.shown_first)


def _longer_won(row: PairScore) -> float | None:
    if row.score in (None, 0.5) or not row.log_length_ratio:
        return None
    return float((row.score == 1.0) == (row.log_length_ratio > 0))


def _tied(row: PairScore) -> float | None:
    return None if row.score is None else float(row.score == 0.5)


def _share(rows: Rows, of: Callable[[PairScore], float | None], what: str, level: float) -> Estimate:
    counted = [(row.task, value) for row in rows if (value := of(row)) is not None]
    return clustered_share([value for _, value in counted], [task for task, _ in counted], what=what, level=level)


def clustered_share(
    values: Sequence[float], tasks: Sequence[str], *, what: str, level: float = 0.95, unit: str = "task"
) -> Estimate:
    """A share over rows that go together by task; exact where tasks or events are few, or nothing varies."""
    if not values:
        return Estimate(
            value=None,
            estimand=what,
            method="none",
            level=level,
            why_no_interval="there is no verdict it could be counted from",
        )
    mean = clustered_mean(np.array(values), _codes(tasks))
    made = share_interval(
        mean.value,
        mean.error**2,
        n_clusters=mean.n_clusters,
        n_judgments=len(values),
        level=level,
        df=mean.df,
        unit=unit,
    )
    return Estimate(
        value=mean.value,
        estimand=what,
        level=level,
        unit=unit,
        n_tasks=mean.n_clusters if unit == "task" else None,
        n_judgments=len(values),
        **made,
    )


def _effect(rows: Rows, effect: Callable[..., Estimate], what: str, level: float) -> Estimate:
    scored = [row for row in rows if row.score is not None]
    if not scored:
        return Estimate(
            value=None,
            estimand=what,
            method="none",
            level=level,
            why_no_interval="there is no verdict it could be counted from",
        )
    ratios = [row.log_length_ratio for row in scored]
    lengths = np.array(ratios, dtype=np.float64) if None not in ratios else None
    judged = JudgedRows(
        task=_codes([row.task for row in scored]),
        model=_codes([row.model for row in scored]),
        grader=_codes([row.grader for row in scored]),
        sample=_codes([row.sample for row in scored]),
        score=np.array([row.score for row in scored], dtype=np.float64),
        shown_first=np.array([row.shown_first for row in scored]),
        log_length_ratio=lengths,
    )
    return effect(judged, level=level)


def _flips(rows: Rows, level: float) -> Estimate:
    """A flip between orders is its own figure; it is never turned into a tie."""
    rounds: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    for row in rows:
        if row.score is not None:
            rounds[row.task, row.sample, row.sweep].append(row.score)
    both = [(key[0], float(len(set(scores)) > 1)) for key, scores in rounds.items() if len(scores) > 1]
    what = "share of rounds whose orders got different verdicts"
    return clustered_share([value for _, value in both], [task for task, _ in both], what=what, level=level)


def _reliability(rows: Rows, level: float) -> Estimate:
    """Agreement of a judge with itself: 1 - |X - Y| over pairs of sweeps of one sample in one order."""
    repeated: dict[tuple[str, str, bool], list[float]] = defaultdict(list)
    for row in rows:
        if row.score is not None:
            repeated[row.task, row.sample, row.shown_first].append(row.score)
    pairs = [
        (key[0], float(np.mean([1 - abs(one - other) for one, other in combinations(scores, 2)])))
        for key, scores in repeated.items()
        if len(scores) > 1
    ]
    what = "agreement between sweeps of the same order"
    return clustered_share([value for _, value in pairs], [task for task, _ in pairs], what=what, level=level)


def _criteria(judge: Rows, people: Rows, level: float) -> dict[str, Estimate]:
    """Per criterion: agreement of the judge's side with people's side, on samples where both named one."""
    found: dict[str, Estimate] = {}
    truth: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in people:
        for name, score in row.criteria.items():
            truth[row.sample, name].append(score)
    for name in sorted({name for row in judge for name in row.criteria}):
        pairs = [
            (row.task, float(np.mean([1 - abs(row.criteria[name] - other) for other in truth[row.sample, name]])))
            for row in judge
            if name in row.criteria and truth.get((row.sample, name))
        ]
        what = f"agreement with people on {name}"
        found[name] = clustered_share([v for _, v in pairs], [task for task, _ in pairs], what=what, level=level)
    return found


def _codes(names: Sequence[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
    return np.unique(np.array(names), return_inverse=True)[1]
