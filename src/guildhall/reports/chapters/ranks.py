"""Who is told apart from whom: places that models may have, differences between them, parity with the baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from guildhall.analysis.evidence import Evidence, Need
from guildhall.analysis.ranks import Differences, differences, verdict
from guildhall.analysis.win_rates import WinRate, win_rates
from guildhall.domain.report import CellValue, Column, ReportTable, Section
from guildhall.reports.number_format import at_level, listed, shown

HALF = 0.5
MOST_NAMED = 5
"""So many models that may be the best are named in a sentence."""
MOST_PAIRS = 45
"""So many differences stand in the table; where models are many, those with the first of them."""
_MODEL = Column(name="model", title="model")
_PLACES = (
    _MODEL,
    Column(name="first", title="best place it may have", form="count"),
    Column(name="last", title="worst place it may have", form="count"),
    Column(name="against", title="against the baseline", form="text"),
    Column(name="half_tie", title="half tie, all models at once", form="percent"),
)
_PAIRS = (
    _MODEL,
    Column(name="other", title="other"),
    Column(name="told", title="the first is", form="text"),
    Column(name="difference", title="half tie, the first less the second", form="points"),
)


class Ranks:
    """Sets of places by differences paired by task; a model is called the best only where nobody else may be."""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section:
        plan, outcomes = evidence.study.plan, evidence.counted.outcomes
        n_models = len(evidence.rates)
        together = win_rates(outcomes, level=evidence.level ** (1 / n_models))
        held = f"; for all {n_models} models at once (Sidak)"
        together = [
            one._replace(half_tie=replace(one.half_tie, level=evidence.level, method=one.half_tie.method + held))
            for one in together
        ]
        rates = sorted(together, key=lambda one: (-(one.half_tie.value or 0), one.model))
        found = differences(outcomes, level=evidence.level, seed=evidence.seed) if n_models > 1 else None
        places = ReportTable(
            name="ranks",
            title="Places that models may have",
            columns=_PLACES,
            rows=tuple(_place(one, found, margin=plan.margin) for one in rates),
            folded=True,
            words=(
                "Ties count half. Places follow from the differences paired by task; the intervals here hold for all "
                "models at once, so they are wider than those of the headline.",
            ),
        )
        names = [one.model for one in rates]
        pairs = [pair for pair in plan.comparisons if {*pair} <= {*names}] or _all_pairs(names)
        tables = [places]
        if found is not None:
            rows = tuple(
                (one, other, found.told(one, other, margin=plan.margin), found.between(one, other))
                for one, other in pairs
            )
            tables.append(
                ReportTable(
                    name="differences", title="Differences between models", columns=_PAIRS, rows=rows, folded=True
                )
            )
        words = (*_best(found, at_level(evidence.level)), *_parity(rates[:3], evidence.baseline, plan.margin))
        return Section(name="ranks", title="Who is told apart", words=words, tables=tuple(tables))


def _all_pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    every = [(one, other) for at, one in enumerate(names) for other in names[at + 1 :]]
    return every if len(every) <= MOST_PAIRS else every[: len(names) - 1]


def _place(one: WinRate, found: Differences | None, *, margin: float) -> tuple[CellValue, ...]:
    first, last = (1, 1) if found is None else found.ranks(one.model)
    return one.model, first, last, verdict(one.half_tie, margin=margin, zero=HALF), one.half_tie


def _best(found: Differences | None, level: str) -> Iterator[str]:
    if found is None:
        return
    best, n = found.best, len(found.models)
    if len(best) == 1:
        yield f"{best[0]} does best of {n} models: it is better than each of the others on the tasks both have."
    else:
        held = listed([*best[:MOST_NAMED], *([f"{len(best) - MOST_NAMED} more"] if len(best) > MOST_NAMED else [])])
        yield f"{held} may each be the best of {n} models: the judgments do not tell which is."
    yield f"Ties count half; differences are paired by task, and all of them hold together at {level}."


def _parity(rates: Sequence[WinRate], baseline: str, margin: float) -> Iterator[str]:
    for one in rates:
        told = verdict(one.half_tie, margin=margin, zero=HALF)
        words = {
            "better": f"is better than the {baseline}",
            "worse": f"is worse than the {baseline}",
            "not told apart": f"is not told apart from the {baseline}",
            "not known": f"is not held against the {baseline}",
        }.get(told, f"is, against the {baseline}, {told}")
        rate = shown(one.half_tie, "percent")
        yield f"{one.model} {words} (half tie {rate.value}, {rate.interval or one.half_tie.why_no_interval})."
