"""What becomes of work that was tried: judged, decided by a rule, or missing; and how far the missing could matter."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from guildhall.analysis.outcomes import LOSS, NOBODY, TIE, WIN, Outcomes
from guildhall.analysis.pairs import Pairs, coded, facts_of
from guildhall.analysis.tables import Coded
from guildhall.domain.design import EXPERT
from guildhall.domain.policy import Policy
from guildhall.domain.submissions import OUR_FAULT, StopReason

_OURS = [one.value for one in OUR_FAULT]


class Becomes(StrEnum):
    """What becomes of a piece of work before anybody judges it."""

    TO_GRADE = "to be graded"
    BY_RULE = "decided by rule"
    MISSING = "missing"
    UNGRADABLE = "on a task that such graders cannot judge"
    NO_BASELINE = "without the baseline's work"


def settled(policy: Policy) -> dict[str, pl.Expr]:
    """What is told of each attempt beside the baseline's: what it `becomes`, and the `halves` of one a rule decides.

    `void` marks work that nobody's verdict counts of. The baseline's own work is told by `void` only. Work that ended
    by a fault of ours was never shown; where no rule was kept, graders saw everything else. It meets the baseline's try
    of the same number, else the first.
    """
    rule, ours, by_baseline = policy.losses, pl.col("stop").is_in(_OURS), pl.col("model") == policy.baseline
    fates = {one.value: "missing" if rule is None else rule.fate(one) for one in StopReason}
    nothing = pl.col("empty") if rule is not None else pl.lit(value=False)
    ends = pl.col("stop").replace_strict(fates, return_dtype=pl.String())
    own = pl.when(ours | nothing).then(ends).otherwise(pl.lit("judged"))
    if policy.baseline == EXPERT:
        base = pl.when(pl.col("expert")).then(pl.lit("judged"))
    else:
        tries = own.filter(by_baseline & ~ours).implode().over("id")
        met = pl.when(pl.col("sample") <= tries.list.len()).then(pl.col("sample") - 1).otherwise(0)
        base = pl.when(~by_baseline).then(tries.list.get(met, null_on_oob=True))
    both = TIE if rule is not None and rule.both_empty == "tie" else None
    out = pl.col("wording").is_in([str(key) for key in policy.ungradable])
    decided = (
        pl.when(out)
        .then(pl.lit(None, dtype=pl.Int8()))
        .when((own == "loss") & (base == "loss"))
        .then(pl.lit(both, dtype=pl.Int8()))
        .when((own == "loss") & (base == "judged"))
        .then(pl.lit(LOSS, dtype=pl.Int8()))
        .when((own == "judged") & (base == "loss"))
        .then(pl.lit(WIN, dtype=pl.Int8()))
    )
    becomes = (
        pl.when(base.is_null())
        .then(pl.lit(Becomes.NO_BASELINE.value))
        .when(out)
        .then(pl.lit(Becomes.UNGRADABLE.value))
        .when(decided.is_not_null())
        .then(pl.lit(Becomes.BY_RULE.value))
        .when((own == "judged") & (base == "judged"))
        .then(pl.lit(Becomes.TO_GRADE.value))
        .otherwise(pl.lit(Becomes.MISSING.value))
    )
    return {"void": nothing & ~ours, "becomes": becomes, "halves": decided}


def outcomes_by_rule(decided: pl.DataFrame) -> Outcomes:
    """Works with their `halves` as outcomes that no grader gave."""
    facts = facts_of(decided)
    return Outcomes(
        task=coded(decided["id"]),
        model=coded(decided["model"]),
        sample=coded(decided["sample"]),
        halves=decided["halves"].cast(pl.Int8()).to_numpy(),
        grader=Coded(np.full(len(decided), NOBODY, dtype=np.int32), ()),
        groups={name: coded(facts[name]) for name in facts.columns},
    )


def missing_grades(attempted: pl.DataFrame, pairs: Pairs, *, wanted: int) -> pl.DataFrame:
    """Works that are to be graded, or missing by a fault of ours, with how many of their `wanted` grades are missing.

    One whose grades are all there is left out. A judge's rounds are whole: it is wanted once.
    """
    graded = pl.DataFrame({"key": pl.Series(pairs.submission.names, dtype=pl.String())}).with_columns(
        given=pl.Series(np.bincount(pairs.submission.codes, minlength=len(pairs.submission.names)), dtype=pl.Int64())
    )
    open_ = attempted.filter(pl.col("becomes").is_in([Becomes.TO_GRADE.value, Becomes.MISSING.value]))
    found = open_.join(graded, on="key", how="left", maintain_order="left")
    return found.with_columns(lacking=wanted - pl.col("given").fill_null(0)).filter(pl.col("lacking") > 0)


def filled(outcomes: Outcomes, lacking: pl.DataFrame, *, halves: int) -> Outcomes:
    """The outcomes with every missing grade taken for the same verdict."""
    rows = lacking.select(pl.all().repeat_by("lacking").explode()).with_columns(halves=pl.lit(halves, dtype=pl.Int8()))
    return outcomes.and_also(outcomes_by_rule(rows)) if len(rows) else outcomes


class EndsWith(NamedTuple):
    """What a figure is so far, and the least and the most that it can end with."""

    now: float | None
    least: float
    most: float
    n_tasks: int
    """Tasks of which anything is known."""
    n_given: int
    n_planned: int


def ends_with(parts: pl.DataFrame) -> dict[str, EndsWith]:
    """For each `group` what its mean over tasks of the mean over `work` of the mean over what was said can end with.

    `parts` has a row for each work: `group, task, total, given, planned`, where `given` of `planned` values between 0
    and 1 are there and add up to `total`. Whatever the others turn out to be, whoever gives them in whatever order,
    and however many stay ungiven, the figure lies between the ends; so one may look at them at any time.
    """
    size = pl.max_horizontal("given", "planned")
    by_work = parts.with_columns(
        now=pl.when(pl.col("given") > 0).then(pl.col("total") / pl.col("given")),
        least=pl.col("total") / size,
        most=(pl.col("total") + size - pl.col("given")) / size,
    )
    by_task = by_work.group_by("group", "task", maintain_order=True).agg(
        pl.col("now", "least", "most").mean(), pl.col("given").sum(), planned=size.sum()
    )
    found = by_task.group_by("group", maintain_order=True).agg(
        pl.col("now", "least", "most").mean(),
        (pl.col("given") > 0).sum().alias("n_tasks"),
        pl.col("given").sum(),
        pl.col("planned").sum(),
    )
    return {str(group): EndsWith(*row) for group, *row in found.sort("group").iter_rows()}


def on_common_tasks(outcomes: Outcomes) -> Outcomes:
    """Only tasks on which every model that stands here has an outcome."""
    met = np.zeros((len(outcomes.model.names), len(outcomes.task.names)), dtype=np.bool_)
    met[outcomes.model.codes, outcomes.task.codes] = True
    common: NDArray[np.bool_] = np.asarray(met[met.any(axis=1)].all(axis=0))
    return outcomes.keep(common[outcomes.task.codes])


def tipping_point(low: float, high: float, against: float = 0.5) -> float | None:
    """How much of what is missing would have to be won for a rate to stand at `against`; None where none would do."""
    share = (against - low) / (high - low) if high > low else -1.0
    return share if 0.0 <= share <= 1.0 else None


def weighted_by_cause(outcomes: Outcomes, planned: pl.DataFrame, cause: str) -> dict[str, float]:
    """Each model's half-tie rate with tasks weighted by one over how likely tasks of their kind were to be graded.

    `planned` has a row for each piece of work that was to be graded; `cause` is what missing grades go with, such as
    the occupation. A kind of which nothing was graded stands for nothing: a model that has one is left out.
    """
    kinds = (outcomes.groups or {})[cause]
    rows = pl.DataFrame(
        {
            "model": [outcomes.model.names[code] for code in outcomes.model.codes.tolist()],
            "task": outcomes.task.codes,
            "sample": outcomes.sample.codes,
            "kind": [kinds.names[code] if code >= 0 else None for code in kinds.codes.tolist()],
            "score": outcomes.halves / 2,
        }
    )
    by_task = rows.group_by("model", "task", "sample", "kind", maintain_order=True).agg(pl.col("score").mean())
    by_task = by_task.group_by("model", "task", "kind", maintain_order=True).agg(pl.col("score").mean())
    got = by_task.group_by("model", "kind", maintain_order=True).agg(pl.col("score").mean())
    wanted = planned.group_by("model", kind=pl.col(cause)).agg(tasks=pl.col("id").n_unique())
    both = wanted.join(got, on=["model", "kind"], how="left", nulls_equal=True)
    whole = both.group_by("model").agg(
        rate=(pl.col("score") * pl.col("tasks")).sum() / pl.col("tasks").sum(),
        known=pl.col("score").is_not_null().all(),
    )
    return dict(whole.filter("known").select("model", "rate").sort("model").iter_rows())
