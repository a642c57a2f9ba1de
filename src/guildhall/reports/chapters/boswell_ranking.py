"""Who comes first in a Boswell run: the quotient in both modes, marks corrected for who marked, what settles ties."""

from __future__ import annotations

from guildhall.analysis.boswell.quotient import Scores, effects_of_missing_grades
from guildhall.analysis.boswell.run_figures import RunFigures
from guildhall.analysis.boswell.uncertainty import INTERVALS_METHOD, RANKS_METHOD, LeniencyResult
from guildhall.analysis.evidence import Need
from guildhall.analysis.leniency import LeniencyFit
from guildhall.domain.report import CellValue, Column, Figure, Forest, ReportTable, Section
from guildhall.reports.chapters.figures import MOST_ENTRIES, Named

AS_ZERO = "N/A (0.00)"
"""What the published system shows where there is nothing; its formulas then count it as nought."""
MODEL = Column(name="model", title="model")
RANKS = (
    Column(name="best_rank", title="best", form="count"),
    Column(name="worst_rank", title="worst", form="count"),
)
RANKS_TOLD = "Best and worst: the ranks that the marks cannot rule out"
COMPONENTS = {"performance": "perf.", "evaluation": "eval.", "efficiency": "effic."}
_FELL_FAR = 3


def or_zero(value: float | None, found: RunFigures) -> CellValue:
    """A number where it is known; as published, nought stands in for what is not."""
    return AS_ZERO if value is None and found.published_mode else value


def forest_of(name: str, title: str, entries: list[Named], *, says: str = "", reference: float | None = None) -> Figure:
    """A figure of estimates, of the first so many where there are more than one can read."""
    told = (says,) if says else ()
    if len(entries) > MOST_ENTRIES:
        told = (*told, f"the first {MOST_ENTRIES} of {len(entries)} lines; the table holds all")
    plot = Forest(title=title, subtitle=told, entries=tuple(entries[:MOST_ENTRIES]), reference=reference)
    return Figure(name=name, says=title, plot=plot)


class QuotientRanking:
    """Every model's quotient with its components, and the ranks that the marks cannot rule out."""

    needs: frozenset[Need] = frozenset()

    def section(self, found: RunFigures) -> Section:
        scores, sure = found.quotients.scores, found.uncertainty
        parts = "; ".join(f"{title[0].upper()}{title[1:]}: {name}" for name, title in COMPONENTS.items())
        sureness = (
            f"Intervals: {INTERVALS_METHOD}; seed {found.seed}.",
            f"{RANKS_TOLD}; {RANKS_METHOD}.",
        )
        table = ReportTable(
            name="quotient",
            columns=(
                MODEL,
                Column(name="rank", title="rank", form="count"),
                Column(name="quotient", title="quotient", form="number"),
                Column(name="grade", title="grade"),
                *(Column(name=name, title=title, form="number") for name, title in COMPONENTS.items()),
                *(RANKS if sure is not None else ()),
            ),
            rows=tuple(self._row(one, found) for one in scores),
            words=(f"{parts}.", *(() if sure is None else sureness)),
        )
        words = "A quotient of fewer than three components is marked, and ranked after the complete ones."
        if found.published_mode:
            words = "The published formulas give no interval, and rank a quotient of fewer components among the others."
        said = (words, *(_public_code_differs(found) if found.published_mode else ()))
        entries = [(one.model, found.quotient(one)) for one in scores]
        figure = forest_of("quotient", "Boswell Quotient", entries, says=found.quotients.mode)
        return Section(name="quotient", title="Boswell Quotient", words=said, figures=(figure,), tables=(table,))

    def _row(self, one: Scores, found: RunFigures) -> tuple[CellValue, ...]:
        parts = (or_zero(part, found) for part in (one.performance, one.evaluation, one.efficiency))
        sure = found.uncertainty
        if sure is None:
            return (one.model, one.rank, one.quotient, one.grade, *parts)
        ranks = sure.rank_interval[one.model] or (None, None)
        return (one.model, one.rank, found.quotient(one), one.grade, *parts, *ranks)


def _public_code_differs(found: RunFigures) -> tuple[str, ...]:
    """Where the public system's code comes to other quotients than its documents: it takes a missing grade for F."""
    effects = effects_of_missing_grades(found.run)
    moved = [f"{one.model} {_shown(one.as_zero)} for {_shown(one.left_out)}" for one in effects]
    if not moved:
        return ()
    words = "its documents leave marks without a grade out of bias and quotients, its code takes them for 0.00"
    return (f"The public system does otherwise than it says: {words}. By its code: {', '.join(moved)}.",)


class OrderExplained:
    """Why models that led as published do not lead when corrected."""

    needs: frozenset[Need] = frozenset()

    def section(self, found: RunFigures) -> Section | None:
        words = explanations(found)
        title = "Why the order differs from the published rules"
        return Section(name="order", title=title, words=words) if words else None


def explanations(found: RunFigures) -> tuple[str, ...]:
    """A sentence for each model that led by the published formulas and no longer does."""
    corrected, published = found.quotients, found.other_mode
    if found.published_mode:
        corrected, published = published, corrected
    after = {scores.model: scores for scores in corrected.scores}
    return tuple(
        explain(before, after[before.model])
        for before in published.scores
        if before.model in after and _fell(before, after[before.model])
    )


def _fell(before: Scores, after: Scores) -> bool:
    return before.rank <= _FELL_FAR < after.rank or (before.rank == 1 and after.rank > 1)


def explain(before: Scores, after: Scores) -> str:
    """In words, what moved a model between the two modes."""
    reasons = [words for words in (_speed(before, after), _marking(before, after), _marks(before, after)) if words]
    moved = (
        f"{before.model} is ranked {before.rank} as published ({_shown(before.quotient)}) and {after.rank} corrected"
    )
    return f"{moved} ({_shown(after.quotient)}): {'; '.join(reasons) or 'other models moved past it'}."


def _speed(before: Scores, after: Scores) -> str | None:
    if before.efficiency is None and after.efficiency is not None:
        return (
            "it was the slowest model at both tasks, so its published efficiency of zero was treated as missing and "
            f"its weight went to the other components; corrected, efficiency is {_shown(after.efficiency)} and counts"
        )
    return _changed("efficiency", "is measured against a stated time", before.efficiency, after.efficiency)


def _marking(before: Scores, after: Scores) -> str | None:
    why = "is agreement with the leave-one-out consensus, no longer only the absence of a median bias"
    return _changed("evaluation", why, before.evaluation, after.evaluation)


def _marks(before: Scores, after: Scores) -> str | None:
    why = "is the median from others, as the replies state it"
    return _changed("performance", why, before.performance, after.performance)


def _changed(name: str, why: str, before: float | None, after: float | None) -> str | None:
    if before == after or (before is not None and after is not None and abs(before - after) < 1):
        return None
    return f"{name} {why} ({_shown(before)} -> {_shown(after)})"


def _shown(value: float | None) -> str:
    return "absent" if value is None else f"{value:.2f}"


class CorrectedRanking:
    """Marks corrected for who marked: quality, leniency, and what models add to their own and their relatives'."""

    needs: frozenset[Need] = frozenset()

    def section(self, found: RunFigures) -> Section | None:
        placed = found.leniency
        if placed is None:
            return None
        name, title = "corrected-quality", "Marks corrected for who marked"
        if placed.fit is None:
            return Section(name=name, title=title, words=(f"Not available: {placed.why_none}",))
        fit = placed.fit
        words = [f"Leniency model: mark = quality + leniency of the grader; about {fit.about}."]
        words += [] if placed.ordinal is None else [_whether_order_holds(placed)]
        lenient = sorted(fit.severity.items(), key=lambda item: -(item[1].value or 0.0))
        figures = (
            forest_of("quality", "Corrected quality", placed.qualities, says="4.25 is A+"),
            forest_of("leniency", "Leniency of graders", lenient, says="positive is lenient", reference=0.0),
        )
        tables = (_qualities(placed, fit), _preferences(fit))
        return Section(name=name, title=title, words=tuple(words), figures=figures, tables=tables)


def _qualities(placed: LeniencyResult, fit: LeniencyFit) -> ReportTable:
    ordinal = {} if placed.ordinal is None else placed.ordinal.quality
    rows = tuple(
        (
            name,
            *fit.ranks.get(name, (None, None)),
            None if name not in ordinal else ordinal[name].value,
            quality,
            fit.severity.get(name),
        )
        for name, quality in placed.qualities
    )
    columns = (
        MODEL,
        *RANKS,
        Column(name="ordinal_score", title="ordinal score", form="number"),
        Column(name="quality", title="corrected quality", form="number"),
        Column(name="leniency", title="leniency", form="number"),
    )
    return ReportTable(name="corrected-quality", columns=columns, rows=rows, words=(f"{RANKS_TOLD}.",))


def _preferences(fit: LeniencyFit) -> ReportTable:
    columns = (Column(name="figure", title="marks of"), Column(name="added", title="added", form="number"))
    rows = (("a model's own work", fit.self_preference), ("work of its family", fit.family_preference))
    title = "Self-preference and family preference: what a model adds to a mark"
    return ReportTable(name="preferences", title=title, columns=columns, rows=rows)


def _whether_order_holds(placed: LeniencyResult) -> str:
    """Whether the order of models hangs on how far apart one takes the letters to be."""
    scores = {} if placed.ordinal is None else {name: one.value or 0.0 for name, one in placed.ordinal.quality.items()}
    order = sorted(scores, key=lambda name: -scores[name])
    same = order == [name for name, _ in placed.qualities]
    told = "models come in the same order" if same else f"the order is {', '.join(order)}"
    return f"Ordinal score, in log-odds: letters taken as an order only, without distances between them; {told}."


class Settling:
    """What it would take to tell neighbours in the corrected ranking apart."""

    needs: frozenset[Need] = frozenset()

    def section(self, found: RunFigures) -> Section | None:
        placed = found.leniency
        if placed is None or placed.fit is None:
            return None
        unit = "essays an author" if placed.fit.essay_sd is not None else "rounds of all graders on these essays"
        table = ReportTable(
            name="settling",
            columns=(
                Column(name="better", title="better"),
                Column(name="next", title="next"),
                Column(name="to_settle", title=f"to settle: {unit}", form="count"),
                Column(name="difference", title="difference", form="number"),
            ),
            rows=tuple((better, other, needed, gap) for better, other, gap, needed in placed.to_settle),
            words=("No number of marks settles two that are equal.",),
        )
        return Section(name="settling", title="What it takes to settle neighbours", tables=(table,))
