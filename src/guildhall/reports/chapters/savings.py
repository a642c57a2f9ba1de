"""What working with a model saves: the study's own hours, wages, review times, prices and verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from guildhall.analysis.evidence import Evidence, Need
from guildhall.analysis.savings import CAVEATS, LEFT_OUT, UNREVIEWED, Savings
from guildhall.analysis.savings_files import TRIES, ModelSavings, SpeedAndCost, savings_of_table
from guildhall.domain.estimates import Estimate, Success
from guildhall.domain.report import (
    CellValue,
    Column,
    Curve,
    CurvePanel,
    CurvePoint,
    Figure,
    Lines,
    ReportTable,
    Section,
)

MOST_ROUNDS, FEWEST_ROUNDS, ROUNDS_IN_ALL = 2000, 400, 40_000
"""Each model's tasks are resampled so often; where models are many, less often each."""
SHOWN_TRIES = (2, 3, 5)
"""Beside one try and the limit, what tables show; figures and files have every number of tries."""
CURRENCIES = {"speed": ("Speed", "faster", "minutes"), "cost": ("Cost", "cheaper", "dollars")}
MOST_CURVES, MOST_SOURCES = 8, 3


class SavingsChapter:
    """Ratios of every model; None where no task has both hours and a model's seconds."""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section | None:
        table = evidence.tasks_and_models
        if table is None:
            return None
        n_models = len(table.coded("model").names)
        rounds = max(FEWEST_ROUNDS, min(MOST_ROUNDS, ROUNDS_IN_ALL // n_models))
        found = SpeedAndCost(
            models=savings_of_table(
                table, w=Success.WIN, tries=TRIES, seed=evidence.study.seed, level=evidence.level, rounds=rounds
            ),
            w=Success.WIN,
            hours_by=figures_from(evidence.tasks),
            review_by="active time at a grader's first sight of the task" if "review_minutes" in table else UNREVIEWED,
            success_by=f"{evidence.group} graders against the {evidence.baseline}",
        )
        rates = {one.model: one.win for one in evidence.rates}
        return savings_section(found, rates={model: rates[model] for model in evidence.models})


def figures_from(tasks: pl.DataFrame) -> str:
    """Whence the hours and wages of a study's tasks are: stated with the task, or joined to it from elsewhere."""
    told = []
    for figure, name in (("hours", "hours"), ("wage", "wages")):
        known = tasks.filter(pl.col(figure).is_not_null())
        joined = f"{figure}_from" in known.columns and known[f"{figure}_from"].is_not_null().any()
        if joined:
            counts = known[f"{figure}_from"].fill_null("stated with the task").value_counts(sort=True).rows()
            more = f" and {len(counts) - MOST_SOURCES} more" if len(counts) > MOST_SOURCES else ""
            told.append(f"{name} " + ", ".join(f"{words} ({n} tasks)" for words, n in counts[:MOST_SOURCES]) + more)
        elif figure == "hours":
            told.append("hours stated with the task")
    return "; ".join(told)


def savings_section(found: SpeedAndCost, *, rates: Mapping[str, Estimate] | None = None) -> Section | None:
    """The chapter of a report, or a page of its own for an outside table; None without any ratio.

    `rates` are the models' rates in the order and as the report's headline tells them: a report has one value of `win`.
    """
    w, hours_by, review_by, success_by = found.w, found.hours_by, found.review_by, found.success_by
    known = [one for one in found.models if one.speed or one.cost]
    order = {model: at for at, model in enumerate(rates or ())}
    ranked = sorted(known, key=lambda one: (order.get(one.model, 0), -one.win_rate, one.model))
    if not ranked:
        return None
    words = (
        f"How many times faster or cheaper the work gets when an expert lets a model try first: the expert's own time "
        f"over the time with the model. Above 1 the model saves. w = {w.value}: {success_by}. Each task's own "
        "chance is drawn towards the mean of all tasks, since few verdicts say little about one task.",
        f"Human time: {hours_by}. Review: {review_by}.",
        "Naive: the model alone, with no review. Try once: the model tries, the expert reviews, and does the work "
        "alone if it will not do. Try n: up to n attempts before that. Break-even review: how much review of an "
        "attempt would leave trying once neither saving nor losing.",
        f"{LEFT_OUT[:1].upper()}{LEFT_OUT[1:]}.",
        " ".join(CAVEATS),
    )
    panels = tuple(panel for currency in CURRENCIES if (panel := _panel(ranked, currency)).curves)
    plot = Lines(
        title=f"What trying first saves, w = {w.value}",
        subtitle=(f"Human time: {hours_by}. Review: {review_by}", f"Success: {success_by}"),
        panels=panels,
    )
    figure = Figure(name="savings", says=f"Speed and cost over the number of tries, w = {w.value}", plot=plot)
    tables = [table for currency in CURRENCIES if (table := _table(ranked, currency, w, rates)).rows]
    return Section(
        name="savings",
        title="Speed and cost",
        words=words,
        figures=(figure,) if panels else (),
        tables=(*tables, _every(ranked, w)),
    )


def _in(one: ModelSavings, currency: str) -> Savings | None:
    return one.speed if currency == "speed" else one.cost


def _strategies(found: Savings, tries: Sequence[int]) -> Iterator[tuple[str, Estimate]]:
    yield "naive", found.naive
    yield "try once", found.try_once
    yield from ((f"try {n}", found.try_n[n]) for n in tries if n in found.try_n)
    yield "limit", found.limit


def _table(
    models: Sequence[ModelSavings], currency: str, w: Success, rates: Mapping[str, Estimate] | None
) -> ReportTable:
    title, comparative, unit = CURRENCIES[currency]
    shown = [(one, found) for one in models if (found := _in(one, currency)) is not None]
    names = ["naive", "try once", *(f"try {n}" for n in SHOWN_TRIES), "limit"]
    rows: list[tuple[CellValue, ...]] = []
    why: dict[str, dict[str, None]] = {}
    for one, found in shown:
        ratios = dict(_strategies(found, SHOWN_TRIES))
        for name, ratio in ratios.items():
            if ratio.value is None:
                why.setdefault(str(ratio.why_no_interval), {})[name] = None
        told = (rates or {}).get(one.model)
        cells = [ratios.get(name) for name in names]
        rows.append((one.model, told or one.win_rate, *cells, found.break_even_review, one.n_tasks, one.n_excluded))
    return ReportTable(
        name=f"savings-{currency}",
        title=f"{title}: times {comparative}",
        columns=(
            Column(name="model", title="model"),
            Column(name="w", title=f"w = {w.value}", form="percent"),
            *(Column(name=name.replace(" ", "_"), title=name, form="times") for name in names),
            Column(name="break_even_review", title=f"break-even review ({unit})", form="number"),
            Column(name="n_tasks", title="tasks", form="count"),
            Column(name="n_excluded", title="left out", form="count"),
        ),
        rows=tuple(rows),
        words=tuple(f"– {', '.join(which)}: {reason}." for reason, which in why.items()),
        traced=rates is not None,
    )


def _every(models: Sequence[ModelSavings], w: Success) -> ReportTable:
    """Every ratio there is, one line each: what figures show and tables do not."""
    return ReportTable(
        name="savings",
        title="Every number of tries",
        columns=(
            Column(name="model", title="model"),
            Column(name="currency", title="currency"),
            Column(name="w", title="w"),
            Column(name="strategy", title="strategy"),
            Column(name="ratio", title="ratio", form="times"),
        ),
        rows=tuple(
            (one.model, currency, w.value, name, ratio)
            for currency in CURRENCIES
            for one in models
            if (found := _in(one, currency)) is not None
            for name, ratio in _strategies(found, TRIES)
        ),
        folded=True,
    )


def _panel(models: Sequence[ModelSavings], currency: str) -> CurvePanel:
    title, comparative, _ = CURRENCIES[currency]
    curves = [(one.model, found.try_n) for one in models if (found := _in(one, currency)) is not None][:MOST_CURVES]
    return CurvePanel(
        title=title,
        x="attempts before the expert takes over",
        y=f"times {comparative}",
        reference=1.0,
        curves=tuple(
            Curve(name=name, points=tuple(CurvePoint(x=n, y=one) for n, one in tried.items() if one.value is not None))
            for name, tried in curves
            if any(one.value is not None for one in tried.values())
        ),
    )
