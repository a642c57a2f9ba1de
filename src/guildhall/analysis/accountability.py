"""An automatic judge held to account: how far it agrees with people, what sways it, and what it left unsaid.

Estimates rest on whole rounds: where one order of a sweep failed, the other order of that sweep is left out too, and
counted. Every share clusters by task, since verdicts on one task go together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from guildhall.analysis.agreement_report import AgreementReport, ConstantVerdict, agreement_report, best_constant
from guildhall.analysis.effects import (
    JudgedRows,
    clustered_slope,
    flips,
    length_effect,
    position_effect,
    slope_estimate,
)
from guildhall.analysis.files import read_table
from guildhall.analysis.intervals import mean_of_rows, share_interval
from guildhall.analysis.ratings_table import ratings_from_table
from guildhall.analysis.splits import mean_margin
from guildhall.analysis.tables import Coded, Floats, Table, encode
from guildhall.domain.estimates import Estimate
from guildhall.domain.pair_scores import PairScore
from guildhall.errors import ImpossibleValue, NothingJudged

Rows = Sequence[PairScore]
_PAIR = 2


@dataclass(frozen=True)
class Coverage:
    """Both denominators: verdicts asked for, and verdicts given; failures by kind, and what they took along."""

    asked: int
    verdicts: int
    failures: dict[str, int]
    left_out_with_them: int
    cost_usd: float | None = None
    """Of all answers, failures included; None as soon as one price is unknown."""


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


def account(judge: Rows, people: Rows, *, grader: str, coverage: Coverage, level: float = 0.95) -> Account:
    """The account of one grader over its whole rounds, and people's judgments on the tasks it can grade."""
    if not coverage.asked:
        raise NothingJudged(f"the account of {grader}")
    cost, n_verdicts = coverage.cost_usd, coverage.verdicts
    return Account(
        grader=grader,
        people=tuple(sorted({row.grader_kind for row in people})),
        coverage=coverage,
        agreement=agreement_with_people(judge, people, level=level),
        first_place=_share(judge, _first_won, "share of decided verdicts for the side shown first", level),
        position=_effect(judge, position_effect, "score shown first minus shown second", level),
        flips=_flips(judge, level),
        ties=_share(judge, _tied, "share of ties", level),
        ties_of_people=_share(people, _tied, "share of ties among people", level),
        longer=_share(judge, _longer_won, "share of decided verdicts for the longer side", level),
        longer_of_people=_share(people, _longer_won, "share of people's decided verdicts for the longer side", level),
        length=_effect(judge, length_effect, "score per doubling of length against the other side", level),
        kin=kin_preference(judge, people, level=level),
        reliability=_reliability(judge, level),
        cost_per_verdict_usd=cost / n_verdicts if n_verdicts and cost is not None else None,
        criteria=_criteria(judge, people, level),
    )


class JudgeOfFile(NamedTuple):
    """One automatic rater of a file, held against people on its own samples, and against itself.

    Without a column of orders the three figures about them are absent.
    """

    constant: ConstantVerdict | None
    flips: Estimate | None = None
    position: Estimate | None = None
    repeats: Estimate | None = None

    def warnings(self, name: str) -> list[str]:
        """What must be said of it in the same breath as its rates."""
        said, constant = [], self.constant
        if constant is not None and not constant.beaten:
            margin = constant.margin.value or 0.0
            worse = (
                "agrees with people less often than" if margin < 0 else "is not shown to agree with people more than"
            )
            points = f"{100 * margin:+.1f} points on its own samples"
            said.append(f"{name} {worse} {constant.verdict}, which looks at nothing ({points})")
        if self.flips is not None and (self.flips.value or 0.0) > MANY_FLIPS:
            share = f"{100 * (self.flips.value or 0.0):.0f} % of {self.flips.n_judgments} swaps"
            said.append(
                f"{name} changes its verdict when the sides change places in {share}: it often judges the place"
            )
        return said


MANY_FLIPS = 0.25
"""A judge that changes its verdict in more swaps than this is said to, whatever else it reaches."""


def judges_of_file(path: Path, *, level: float = 0.95) -> dict[str, JudgeOfFile]:
    """Each automatic rater of a file as `analyze agreement` reads it; `order` names the order the sides stood in."""
    table = read_table(path, required=("sample", "model", "rater", "kind", "score"), optional=("task", "order"))
    ratings = ratings_from_table(table)
    names = [ratings.raters[code] for code in np.unique(ratings.rater[~ratings.is_human]).tolist()]
    rows = _rows_of(table) if "order" in table else None
    found = {}
    for name in names:
        kept = ratings.is_human | (ratings.rater == ratings.raters.index(name))
        own = replace(
            ratings,
            sample=ratings.sample[kept],
            rater=ratings.rater[kept],
            is_human=ratings.is_human[kept],
            halves=ratings.halves[kept],
        )
        found[name] = JudgeOfFile(best_constant(own, level=level))
        if rows is not None and (said := [row for row in rows if row.grader == name]):
            what = "score in the first order less in the second"
            found[name] = found[name]._replace(
                flips=_flips(said, level),
                position=_effect(said, position_effect, what, level),
                repeats=_reliability(said, level),
            )
    return found


def _rows_of(table: Table) -> list[PairScore]:
    """Verdicts of automatic raters; the same one asked again about a sample in an order is its next sweep."""
    names = ("sample", "model", "rater", "kind", "order", "task")
    columns = {name: _words(table.coded(name)) for name in names if name in table}
    orders = sorted({one for one in columns["order"] if one is not None})
    if len(orders) > _PAIR:
        raise ImpossibleValue("order", ", ".join(orders[:4]), allowed="two names, one for each order of the two sides")
    swept: Counter[tuple[str | None, ...]] = Counter()
    rows = []
    for at, score in enumerate(table.numbers("score").tolist()):
        order, rater = columns["order"][at], columns["rater"][at]
        if columns["kind"][at] != "auto" or order is None or np.isnan(score):
            continue
        sample = f"{columns['model'][at]} {columns['sample'][at]}"
        swept[rater, sample, order] += 1
        task = columns.get("task", columns["sample"])[at] or sample
        rows.append(
            PairScore(
                task,
                str(columns["model"][at]),
                sample,
                str(rater),
                human=False,
                score=score,
                shown_first=order == orders[0],
                sweep=swept[rater, sample, order],
            )
        )
    return rows


def _words(column: Coded) -> list[str | None]:
    return [column.names[code] if code >= 0 else None for code in column.codes.tolist()]


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
    slope = clustered_slope(gap, kin, absorb=(), task=tasks)
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
    value, spread = mean_of_rows(np.array(values), _codes(tasks))
    made = share_interval(value, spread, n_judgments=len(values), level=level, unit=unit)
    return Estimate(
        value=value,
        estimand=what,
        level=level,
        unit=unit,
        n_tasks=spread.n_tasks if unit == "task" else None,
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
    said = [row for row in rows if row.score is not None]
    task, sample = (_codes([getattr(row, name) for row in said]) for name in ("task", "sample"))
    score = np.array([row.score for row in said], dtype=np.float64)
    return flips(task, sample, np.array([row.sweep for row in said], dtype=np.intp), score, level=level)


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


def agreement_gain(
    mine: Sequence[PairScore],
    theirs: Sequence[PairScore],
    people: Sequence[PairScore],
    *,
    names: tuple[str, str],
    level: float = 0.95,
) -> Estimate:
    """How much more often one judge agrees with people than another does; `names` are theirs.

    Estimand: the mean over samples that both judged, and some person did, of the difference in agreement. Paired by
    sample; interval by t over tasks, absent where nothing varies.
    """
    what = f"agreement of {names[0]} with people less that of {names[1]}"
    said: dict[str, list[float]] = defaultdict(list)
    for row in people:
        if row.score is not None:
            said[row.sample].append(row.score)
    own, other = (_agreement(rows, said) for rows in (mine, theirs))
    shared = sorted(own.keys() & other.keys())
    if not shared:
        why = "there is no work that both judged and people too"
        return Estimate(value=None, estimand=what, method="none", level=level, why_no_interval=why)
    task_of = {row.sample: row.task for row in mine}
    margins = np.array([own[sample] - other[sample] for sample in shared])
    return mean_margin(margins, encode([task_of[one] for one in shared]).codes, what=what, unit="task", level=level)


def _agreement(rows: Sequence[PairScore], people: dict[str, list[float]]) -> dict[str, float]:
    """Per sample the mean of 1 - |X - Y| over pairs of the judge's verdicts and people's."""
    said: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row.score is not None and row.sample in people:
            said[row.sample].append(row.score)
    return {
        sample: float(np.mean([1 - abs(one - other) for one in scores for other in people[sample]]))
        for sample, scores in said.items()
    }
