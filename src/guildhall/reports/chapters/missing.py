"""What became of all the work that was planned, and how far what is missing could change the rates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from guildhall.analysis.counting import Counted
from guildhall.analysis.evidence import Evidence, Need
from guildhall.analysis.missing import (
    Becomes,
    filled,
    on_common_tasks,
    tipping_point,
    weighted_by_cause,
)
from guildhall.analysis.outcomes import LOSS, WIN, Outcomes
from guildhall.analysis.pairs import words_in
from guildhall.analysis.win_rates import win_rates
from guildhall.domain.estimates import Estimate
from guildhall.domain.policy import PROGRAMS
from guildhall.domain.report import Column, ReportTable, Section
from guildhall.domain.studies import Study
from guildhall.domain.submissions import OUR_FAULT

STEPS = {
    "planned": "planned",
    "attempted": "attempted",
    "ours": "failed by no fault of the author",
    "delivered": "delivered",
    "by_rule": "decided by rule",
    "gradable": "can be graded",
    "shown": "shown",
    "graded": "graded",
    "read": "counted",
    "declined": "sets declined after opening",
}
MODEL = Column(name="model", title="model")
FLOW = (MODEL, *(Column(name=name, title=title, form="count") for name, title in STEPS.items()))
RATES = {
    "primary": "half tie",
    "delivered": "only what was delivered",
    "common": "on tasks common to all models",
    "lowest": "all missing grades lost",
    "highest": "all missing grades won",
    "weighted": "weighted by occupation",
}
_BESIDE = (
    MODEL,
    Column(name="missing_grades", title="missing grades", form="count"),
    *(Column(name=name, title=title, form="percent") for name, title in RATES.items()),
    Column(name="tipping", title="share of them won at which it stands at one half", form="text"),
)
_OURS = [one.value for one in OUR_FAULT]


class MissingWork:
    """The way of all work from plan to figure, and the rates beside the primary one; None where no plan says it."""

    needs = frozenset({Need.OPENED})

    def section(self, evidence: Evidence) -> Section | None:
        if evidence.counted.attempted is None:
            return None
        flow = flow_of(evidence.counted, evidence.waves, evidence.facts.get(Need.OPENED))
        outcomes, lacking = evidence.counted.outcomes, evidence.lacking
        assert lacking is not None  # noqa: S101 - what was tried is known
        ruled = evidence.counted.by_rule
        words = [
            "The primary rate is over attempted work of planned tasks. Work that was tried and left nothing to judge "
            "is decided by the rule of the plan, before any verdict; what failed by no fault of its author is missing; "
            "what was never tried is outside.",
            *_endings(evidence),
            *_survivors(evidence, outcomes),
        ]
        tables = [ReportTable(name="flow", title="From plan to figure", columns=FLOW, rows=flow)]
        if len(lacking) or (ruled is not None and len(ruled)) or _uneven(outcomes):
            tables.append(_rates_beside(evidence, outcomes, lacking))
        else:
            words.append(
                "No grade is missing, and every model was judged on the same tasks: nothing here moves a rate."
            )
        return Section(
            name="missing", title="Missing work and missing grades", words=tuple(words), tables=tuple(tables)
        )


def flow_of(
    by_group: Counted, waves: Sequence[Study], opened: pl.DataFrame | None
) -> tuple[tuple[str, *tuple[int | None, ...]], ...]:
    """A row for each author: planned, attempted and so on to counted, in pieces of work; none where it is unknown."""
    if (tried := by_group.attempted) is None:
        return ()
    if opened is None:
        opened = pl.DataFrame(schema={"submission": pl.String(), "declined": pl.Int64()})
    counted = words_in(by_group.pairs.submission)
    answered = {*counted, *by_group.unanswered_keys}
    shown = answered | set(opened["submission"].to_list())
    becomes, own = pl.col("becomes"), pl.col("stop").is_in(_OURS)
    steps = tried.group_by("model").agg(
        attempted=pl.len(),
        ours=own.sum(),
        delivered=(~pl.col("empty") & ~own).sum(),
        by_rule=(becomes == Becomes.BY_RULE.value).sum(),
        gradable=(becomes == Becomes.TO_GRADE.value).sum(),
        shown=pl.col("key").is_in(sorted(shown)).sum(),
        graded=pl.col("key").is_in(sorted(answered)).sum(),
        read=pl.col("key").is_in(sorted(counted)).sum(),
    )
    refused = dict(
        opened.filter(pl.col("declined") > 0)
        .join(tried.select("key", "model"), left_on="submission", right_on="key")
        .group_by("model")
        .agg(pl.col("declined").sum())
        .iter_rows()
    )
    planned = {name: tries * len(wave.tasks) for wave in waves for name, tries in wave.plan.samples.items()}
    if by_group.policy.graders.kind not in PROGRAMS:
        draws = (wave.design.draw for wave in waves)
        planned |= {name: len(one.pairs) for draw in draws if draw for name, one in draw.authors.items()}
    found = {str(row["model"]): row for row in steps.iter_rows(named=True)}
    return tuple(
        _step(name, planned.get(name), found.get(name, {}), refused.get(name, 0))
        for name in sorted({*planned, *found} - {by_group.policy.baseline})
    )


def _step(name: str, planned: int | None, row: Mapping[str, int], declined: int) -> tuple[str, *tuple[int | None, ...]]:
    beside = {"planned": planned, "declined": declined}
    return (name, *(beside[step] if step in beside else row.get(step, 0) for step in STEPS))


def _endings(evidence: Evidence) -> Iterator[str]:
    """How the work ended that a rule decides, by model: refusals apart from the rest."""
    ruled = evidence.counted.by_rule
    if ruled is None or not len(ruled):
        return
    ends = ruled.group_by("model", "stop").len().sort("model", "stop")
    for (model,), rows in ends.group_by("model", maintain_order=True):
        told = ", ".join(f"{n} {stop}" for _, stop, n in rows.iter_rows())
        yield f"{model}: {sum(rows['len'])} of its works were decided by rule and shown to nobody ({told})."


def _uneven(outcomes: Outcomes) -> bool:
    return len(on_common_tasks(outcomes).halves) != len(outcomes.halves)


def tasks_by_model(outcomes: Outcomes) -> dict[str, int]:
    """On how many tasks each model has an outcome."""
    pairs = np.unique(outcomes.model.codes.astype(np.int64) * len(outcomes.task.names) + outcomes.task.codes)
    models, times = np.unique(pairs // max(1, len(outcomes.task.names)), return_counts=True)
    return {outcomes.model.names[code]: n for code, n in zip(models.tolist(), times.tolist(), strict=True)}


def _survivors(evidence: Evidence, outcomes: Outcomes) -> Iterator[str]:
    """A model with fewer tasks than others is not compared by its rate."""
    tasks = tasks_by_model(outcomes)
    most = max(tasks.values())
    common = on_common_tasks(outcomes)
    fewer = {name: n for name, n in sorted(tasks.items()) if n < most}
    if not fewer:
        return
    same = {one.model: one.half_tie for one in win_rates(common, level=evidence.level)} if len(common.halves) else {}
    shared = max((one.n_tasks or 0 for one in same.values()), default=0)
    for name, n in fewer.items():
        beside = _percents(same)
        yield (
            f"{name} has outcomes on {n} of the {most} tasks that other models have: its rate is about fewer tasks, "
            f"and does not compare with theirs. On the {shared} tasks common to all models: {beside or 'nothing'}."
        )


def _percents(rates: Mapping[str, Estimate]) -> str:
    told = sorted(rates.items(), key=lambda one: (-(one[1].value or 0), one[0]))
    return ", ".join(f"{name} {100 * (one.value or 0):.1f} %" for name, one in told)


def _rates_beside(evidence: Evidence, outcomes: Outcomes, lacking: pl.DataFrame) -> ReportTable:
    level = evidence.level

    def rates(of: Outcomes) -> dict[str, Estimate]:
        return {one.model: one.half_tie for one in win_rates(of, level=level)} if len(of.halves) else {}

    half_ties = {one.model: one.half_tie for one in evidence.rates}
    primary = {model: half_ties[model] for model in evidence.models}
    tried = evidence.counted.attempted
    assert tried is not None  # noqa: S101 - asked before
    columns = {
        "delivered": rates(evidence.pairs.outcomes),
        "common": rates(on_common_tasks(outcomes)),
        "lowest": rates(filled(outcomes, lacking, halves=LOSS)) if len(lacking) else primary,
        "highest": rates(filled(outcomes, lacking, halves=WIN)) if len(lacking) else primary,
    }
    wanted = tried.filter(
        pl.col("becomes").is_in([Becomes.TO_GRADE.value, Becomes.MISSING.value]) | pl.col("halves").is_not_null()
    )
    weighted = weighted_by_cause(outcomes, wanted, "occupation") if len(lacking) else {}
    numbers = dict(lacking.group_by("model").agg(pl.col("lacking").sum()).iter_rows())
    return ReportTable(
        name="missing",
        title="What is missing, and what it could change",
        columns=_BESIDE,
        rows=tuple(
            (
                name,
                numbers.get(name, 0),
                one,
                *(columns[column].get(name) for column in columns),
                weighted.get(name),
                _tipping(one, columns["lowest"].get(name), columns["highest"].get(name)),
            )
            for name, one in primary.items()
        ),
        words=(
            "Ties count half. Between the columns in which all missing grades are lost or won lies the rate that all "
            "planned grades would have given, whatever made them missing. Weighted: each task weighs one over the "
            "share of its occupation's tasks that were graded, which repairs what goes with the occupation and nothing "
            "else; it describes, and has no interval.",
        ),
        long_form="case",
    )


def _tipping(primary: Estimate, low: Estimate | None, high: Estimate | None) -> str:
    """At which share of wins among what is missing the rate would stand on the other side of one half."""
    if low is None or high is None or low.value is None or high.value is None or low.value == high.value:
        return "nothing is missing"
    share = tipping_point(low.value, high.value)
    if share is None:
        return f"none: it stays {'above' if low.value > 0.5 else 'below'} one half" if primary.value != 0.5 else "none"
    return f"{100 * share:.0f} %"
