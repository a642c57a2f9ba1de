"""One study, two kinds of graders: people's grades of a drawn share joined with a judge's of everything it could grade.

For each model, over works i of the estimand (mean over tasks of the mean over samples), with what a rule decided known:

    theta = sum over decided of b y + sum over the rest of b (lambda f + r),   r = mean of y - lambda f over drawn

`f` is the judge's mean verdict on a work; where it gave none (a failure, or a task it cannot grade) the mean of its
verdicts on that model, so that no work drops out and people's drawn grades speak for it. Any f leaves theta right on
average; lambda decides how wide it is. The judge's bias is f less what people say, over work that the judge graded.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean

import numpy as np
import polars as pl
from numpy.typing import NDArray

from guildhall.analysis.counting import Counted
from guildhall.analysis.crossed import crossed
from guildhall.analysis.intervals import mean_interval
from guildhall.analysis.missing import Becomes
from guildhall.analysis.outcomes import LOSS, UNKNOWN, WIN
from guildhall.analysis.ppi import FEWEST_LABELLED, PpiErrors, PpiMean, PpiRows, ppi_mean, unseen_errors
from guildhall.analysis.rated import CONVENTIONS
from guildhall.analysis.spreads import joined, tasks_alone
from guildhall.analysis.tables import Floats
from guildhall.analysis.win_rates import win_rates
from guildhall.domain.estimates import Convention, Estimate
from guildhall.errors import NothingPaired

MANY_UNGIVEN = 0.05
"""Above this share of drawn gradings that were never given, a report says so first."""


Given = Mapping[str, Sequence[tuple[float, int]]]
"""Work -> the scores it was given, each with the code of who gave it."""
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class JoinedRate:
    """One model's rate three ways, and what people's grades say of the judge."""

    model: str
    joined: Estimate
    people: Estimate
    judge: Estimate
    bias: Estimate
    """The judge's mean verdict less people's, over work that it graded: above zero it is too kind to the model."""
    works: int
    decided: int
    unjudged: int
    """Works to be graded without a verdict of the judge, by failure, ..."""
    ungradable: int
    """... and among them those on tasks that it cannot grade."""
    drawn: int
    """Works that were drawn for people and left something to grade, ..."""
    graded: int
    """... and those of them that somebody graded."""
    gradings: int
    ungiven: int
    least: float | None = None
    most: float | None = None
    """The joined value with every drawn grading that was not given lost, and won; None where all were given."""
    lam: float = 0.0
    rho: float | None = None
    """Correlation of the judge's mean verdict with people's mean grade; None where either is always the same."""
    worth: float | None = None
    """How many human gradings alone would be as sure."""
    ceiling: float | None = None
    """How many they would be worth at this correlation if graders did not differ; no less than they are worth here."""
    powered: PpiMean | None = None


def joined_rates(
    people: Counted, judge: Counted, *, wanted: int, convention: Convention, level: float = 0.95
) -> list[JoinedRate]:
    """Every model's joined rate, in the order of their names; `wanted` is how many people were to grade a drawn work.

    `people` may be counted of nobody (no pairs): then nothing is known of the judge's bias, and the figures say so.
    """
    if people.frame is None:
        return []
    works, given = _works(people, judge, convention), _given(people, convention)
    rates = win_rates(judge.outcomes, level=level) if len(judge.outcomes.halves) else []
    alone = {one.model: getattr(one, convention) for one in rates}
    made = []
    for (name,), rows in sorted(works.group_by("model"), key=lambda one: str(one[0][0])):
        one = joined_rate(str(name), rows, given, wanted=wanted, convention=convention, level=level)
        made.append(replace(one, judge=alone.get(one.model, one.judge)))
    return made


def joined_differences(rates: Sequence[JoinedRate], *, level: float) -> list[tuple[str, str, Estimate]]:
    """Every two models' joined rates, the first less the second; each at a level at which all of them hold together."""
    powered = [(one.model, one.powered) for one in rates if one.powered is not None and one.powered.errors is not None]
    pairs = list(combinations(powered, 2))
    each = 1.0 - (1.0 - level) / max(len(pairs), 1)
    made = []
    for (first, one), (second, other) in pairs:
        with suppress(NothingPaired):
            what = f"joined rate of {first} less that of {second}"
            made.append((first, second, ppi_difference(one, other, what=what, level=each)))
    return made


def ppi_difference(first: PpiMean, second: PpiMean, *, what: str = "difference", level: float = 0.95) -> Estimate:
    """First minus second, paired: what both share on a task, or with a grader, cancels. Their codes mean the same."""
    one, other = first.errors, second.errors
    if one is None or other is None or not np.intersect1d(one.task, other.task).size:
        raise NothingPaired("first", "second")
    a, b = first.estimate.value, second.estimate.value
    value = None if a is None or b is None else a - b
    both = PpiErrors(
        *(np.concatenate(pair) for pair in zip(one, (*other[:2], -other[2], -other[3], other[4]), strict=True))
    )
    labelled = both.weight > 0
    by_task = np.bincount(np.unique(both.task, return_inverse=True)[1], both.whole)
    df = min(first.n_labelled_tasks, second.n_labelled_tasks) - 1
    unseen = first.unseen + second.unseen
    tasks = tasks_alone(float(by_task @ by_task) * (df + 1) / max(df, 1) + unseen, df + 1)
    people = crossed(both.rectified[labelled], both.task[labelled], both.grader[labelled], weight=both.weight[labelled])
    method = "prediction-powered, paired by task"
    spread = joined(tasks, people)
    if value is None or not spread.variance > 0:
        return Estimate(value=value, estimand=what, method=method, why_no_interval="nothing varies")
    made = mean_interval(value, spread, level=level, words=", prediction-powered, paired")
    return Estimate(value=value, estimand=what, level=level, n_tasks=len(by_task), **made)


def _works(people: Counted, judge: Counted, convention: Convention) -> pl.DataFrame:
    """A row for each work of the estimand, with the judge's mean verdict where it gave one."""
    pairs, worth = judge.pairs, _worth(convention)
    said = pl.DataFrame(
        {"key": [pairs.submission.names[code] for code in pairs.submission.codes.tolist()], "f": worth[pairs.halves]},
        schema={"key": pl.String(), "f": pl.Float64()},
    )
    means = said.group_by("key").agg(pl.col("f").mean())
    out = [str(key) for key in judge.policy.ungradable]
    assert people.frame is not None  # noqa: S101 - asked by the caller
    frame = people.frame.filter(pl.col("becomes").is_in([Becomes.TO_GRADE.value, Becomes.BY_RULE.value]))
    known = pl.Series(worth.tolist())
    return frame.join(means, on="key", how="left", maintain_order="left").with_columns(
        task=pl.col("id").rank("dense").cast(pl.Int64()) - 1,
        y=pl.when(pl.col("halves").is_not_null()).then(known.gather(frame["halves"].fill_null(0))),
        ungradable=pl.col("wording").is_in(out),
    )


def _worth(convention: Convention) -> Floats:
    """What a loss, a tie and a win are worth, by their halves."""
    return np.array(CONVENTIONS[convention], dtype=np.float64)


def joined_rate(
    model: str, works: pl.DataFrame, given: Given, *, wanted: int, convention: Convention, level: float
) -> JoinedRate:
    """The same of one model: `works` as `_works` makes them, `given` what people said of each and who said it."""
    works = works.sort("id", "sample", "key")
    decided = works["y"].is_not_null().to_numpy()
    f = works["f"].to_numpy()
    graded_by_judge = ~np.isnan(f) & ~decided
    middle = float(f[graded_by_judge].mean()) if graded_by_judge.any() else 0.5
    drawn = works["drawn"].is_not_null().to_numpy() & ~decided
    rows = _Rows(works, decided, np.where(np.isnan(f), middle, f), given)
    n_given = np.array([len(given.get(key, ())) for key in works["key"]])
    ungiven = np.where(drawn, np.maximum(wanted - n_given, 0), 0)
    what = f"{convention} rate of {model}, people"
    found, judged = rows.powered(f"{what} joined with the judge", level), rows.of(graded_by_judge)
    gradings, n = int(n_given[drawn].sum()), len(works)
    made = JoinedRate(
        model=model,
        joined=_nobody(f"{what} joined with the judge", level, gradings),
        people=_nobody(f"{what} alone", level, gradings),
        judge=_nothing(f"{convention} rate of {model}", level, "the judge graded nothing of this model"),
        bias=judged.bias(f"the judge's {convention} rate of {model} less people's", level, gradings),
        works=n,
        decided=int(decided.sum()),
        unjudged=int((~graded_by_judge & ~decided).sum()),
        ungradable=int((works["ungradable"].to_numpy() & ~graded_by_judge & ~decided).sum()),
        drawn=int(drawn.sum()),
        graded=int((n_given[drawn] > 0).sum()),
        gradings=gradings,
        ungiven=int(ungiven.sum()),
    )
    if ungiven.any():
        least, most = (rows.filled(ungiven, float(_worth(convention)[end])) for end in (LOSS, WIN))
        made = replace(made, least=least, most=most)
    if found is None:
        return made
    rho, worth = rows.correlation(), found.effective_human_n
    both = replace(found.estimate, n_samples=n)
    alone = replace(found.classical, n_samples=made.graded, n_tasks=found.n_labelled_tasks)
    made = replace(made, joined=both, people=alone, lam=found.lam, rho=rho, worth=worth, powered=found)
    if rho is None or worth is None:
        return made
    spared = max(rho, 0.0) ** 2 * (1.0 - made.drawn / (n - made.decided))
    return replace(made, ceiling=max(worth, gradings / (1.0 - spared)) if spared < 1.0 else None)


def _given(people: Counted, convention: Convention) -> Given:
    """What people said of each work, and who: scores and codes of graders."""
    pairs, worth = people.pairs, _worth(convention)
    given: dict[str, list[tuple[float, int]]] = {}
    columns = (pairs.submission.codes.tolist(), worth[pairs.halves].tolist(), pairs.grader.codes.tolist())
    for code, score, grader in zip(*columns, strict=True):
        given.setdefault(pairs.submission.names[code], []).append((score, grader))
    return given


def _nobody(what: str, level: float, gradings: int) -> Estimate:
    why = f"people gave {gradings} gradings of this model's drawn work; {FEWEST_LABELLED} are needed"
    return replace(_nothing(what, level, why), n_judgments=gradings)


def _nothing(what: str, level: float, why: str) -> Estimate:
    return Estimate(value=None, estimand=what, level=level, method="none", why_no_interval=why)


@dataclass(frozen=True)
class _Rows:
    """One model's works in the columns that prediction-powered estimates take."""

    works: pl.DataFrame
    decided: Flags
    f: Floats
    given: Given

    def of(self, which: Flags) -> _Rows:
        return _Rows(self.works.filter(pl.Series(which)), self.decided[which], self.f[which], self.given)

    def labels(self, more: Mapping[str, Sequence[tuple[float, int]]] | None = None) -> PpiRows | None:
        """A row for each grading, and one for each work without any, which share the work's weight."""
        by_key = {**self.given, **(more or {})}
        told = zip(self.works["key"], self.decided, strict=True)
        said = [() if known else by_key.get(key, ()) for key, known in told]
        times = np.array([max(1, len(one)) for one in said], dtype=np.int64)
        if not len(times):
            return None
        at = np.repeat(np.arange(len(said)), times)
        task = self.works["task"].to_numpy().astype(np.intp)
        each = [pair for one in said for pair in (one or ((math.nan, UNKNOWN),))]
        y = self.works["y"].to_numpy()
        drawn = self.works["drawn"].fill_null(1.0).to_numpy()
        return PpiRows(
            auto=np.where(self.decided, np.nan_to_num(y), self.f)[at],
            human=np.array([score for score, _ in each]),
            task=task[at],
            probability=drawn[at],
            grader=np.array([grader for _, grader in each], dtype=np.intp),
            weight=(1.0 / np.bincount(task)[task] / times)[at],
            known=self.decided[at],
        )

    def powered(self, what: str, level: float) -> PpiMean | None:
        rows = self.labels()
        if rows is None or rows.labelled.sum() < FEWEST_LABELLED:
            return None
        return ppi_mean(rows, level=level, what=what)

    def filled(self, ungiven: NDArray[np.int64], score: float) -> float | None:
        """The joined value with every grading that was not given taken for this score."""
        lacking = {key: int(n) for key, n in zip(self.works["key"], ungiven, strict=True) if n}
        more = {key: [*self.given.get(key, ()), *[(score, UNKNOWN)] * n] for key, n in lacking.items()}
        rows = self.labels(more)
        if rows is None or rows.labelled.sum() < FEWEST_LABELLED:
            return None
        return ppi_mean(rows).estimate.value

    def correlation(self) -> float | None:
        open_ = zip(self.works["key"], self.decided, self.f, strict=True)
        both = [
            (f, fmean(score for score, _ in said))
            for key, known, f in open_
            if not known and (said := self.given.get(key))
        ]
        auto, human = np.array(both).reshape(-1, 2).T
        if len(auto) < FEWEST_LABELLED or np.ptp(auto) == 0 or np.ptp(human) == 0:
            return None
        return float(np.corrcoef(auto, human)[0, 1])

    def bias(self, what: str, level: float, gradings: int) -> Estimate:
        """Its mean verdict less the joined rate of the same work: what both share of tasks cancels."""
        rows, found = self.labels(), self.powered(what, level)
        if found is None or found.errors is None or rows is None or rows.weight is None:
            return _nobody(what, level, gradings)
        weight = rows.weight / rows.weight.sum()
        mean, none = float(weight @ rows.auto), np.zeros(len(weight))
        errors = found.errors._replace(whole=weight * (rows.auto - mean), rectified=none, weight=none)
        seldom = unseen_errors(found.errors, 1.0)
        alone = replace(found, estimate=replace(found.estimate, value=mean), errors=errors, unseen=seldom)
        return replace(ppi_difference(alone, replace(found, unseen=0.0), what=what, level=level), n_judgments=gradings)
