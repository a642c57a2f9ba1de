"""What lies beneath a Boswell ranking: grades received and given, bias, what was not read, people, cost and time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from guildhall.analysis.boswell.grade_tables import GradeCell
from guildhall.analysis.boswell.run_figures import RunFigures, efforts
from guildhall.analysis.evidence import Need
from guildhall.domain.boswell import value_of
from guildhall.domain.estimates import Estimate
from guildhall.domain.grades import TOP
from guildhall.domain.report import CellValue, Column, Figure, HeatMap, ReportTable, Section
from guildhall.reports.chapters.boswell_ranking import MODEL, forest_of, or_zero

NOT_ASKED = "not asked"
GRADER = Column(name="grader", title="grader")
WITHOUT = Column(name="without_grade", title="without a grade", form="count")
OWN = "Where a row and a column are the same model, it marked its own work."


def cell_value(cell: GradeCell, found: RunFigures) -> CellValue:
    """What one grader gave one author, as a number; None where it stated no grade."""
    if not cell.asked:
        return NOT_ASKED
    return or_zero(cell.value, found)


class GradesReceived:
    """A row for each author, a column for each grader."""

    needs: frozenset[Need] = frozenset()

    def section(self, found: RunFigures) -> Section:
        tables = found.tables
        short = short_names(tables.graders)
        rows = []
        for author in tables.authors:
            middle = tables.median_received(author)
            given = (cell_value(tables.cell(author=author, grader=grader), found) for grader in tables.graders)
            figures = (middle, tables.percentage(middle), tables.average_received(author))
            rows.append((author, *given, *(or_zero(one, found) for one in figures), tables.unread_by_author[author]))
        columns = (
            Column(name="author", title="author"),
            *_marks_by(short),
            Column(name="median", title="Median grade", form="grade"),
            Column(name="percentage", title="percentage", form="number"),
            Column(name="raw_numeric_average", title="Raw Numeric Average", form="grade"),
            WITHOUT,
        )
        words = f"A row is an author; each cell is the grade that column's grader gave it. {OWN}"
        table = ReportTable(name="grades-received", columns=columns, rows=tuple(rows), words=_key(short), folded=True)
        title = "Grades received"
        figure = _heat_map(found, short)
        return Section(name="grades-received", title=title, words=(words,), figures=(figure,), tables=(table,))


def _heat_map(found: RunFigures, short: dict[str, str]) -> Figure:
    tables = found.tables
    cells = [tables.cell(author=author, grader=grader) for author in tables.authors for grader in tables.graders]
    plot = HeatMap(
        title="Grades received",
        subtitle=("a row is an author, a column a grader; in brackets a model's mark of its own work",),
        rows=tables.authors,
        columns=tuple(short.values()),
        cells=tuple(
            (
                cell.author,
                short[cell.grader],
                None if cell.value is None else cell.value / TOP,
                f"[{cell.grade}]" if cell.own else cell.grade,
            )
            for cell in cells
            if cell.asked
        ),
    )
    return Figure(name="grades-received", says="Grades by author and grader", plot=plot)


class GradesGiven:
    """A row for each grader, a column for each author."""

    needs: frozenset[Need] = frozenset()

    def section(self, found: RunFigures) -> Section:
        tables = found.tables
        short = short_names(tables.authors)
        rows = tuple(
            (
                grader,
                *(cell_value(tables.cell(author=author, grader=grader), found) for author in tables.authors),
                or_zero(tables.median_given(grader), found),
                tables.unread_by_grader[grader],
            )
            for grader in tables.graders
        )
        columns = (GRADER, *_marks_by(short), Column(name="median", title="Median given", form="grade"), WITHOUT)
        words = f"A row is a grader; each cell is the grade it gave that column's author. {OWN}"
        table = ReportTable(name="grades-given", columns=columns, rows=rows, words=_key(short))
        return Section(name="grades-given", title="Grades given", words=(words,), tables=(table,))


def short_names(models: Sequence[str]) -> dict[str, str]:
    """Short names that no two models share, in the order given: numbers would need a key, so letters come first."""
    short: dict[str, str] = {}
    for model in models:
        words = model.replace(":", " ").replace("/", " ").replace("-", " ").replace("_", " ").split()
        stem = "".join(word[:1].upper() if not word[:1].isdigit() else word for word in words)[:6] or "M"
        name, number = stem if len(model) > 8 else model, 2
        while name in short.values():
            name, number = f"{stem}{number}", number + 1
        short[model] = name
    return short


def _marks_by(short: dict[str, str]) -> tuple[Column, ...]:
    return tuple(Column(name=f"marks_{n}", title=name, form="grade") for n, name in enumerate(short.values(), 1))


def _key(short: dict[str, str]) -> tuple[str, ...]:
    changed = [f"{name} = {model}" for model, name in short.items() if name != model]
    return (f"Key: {'; '.join(changed)}.",) if changed else ()


class BiasOfGraders:
    """How far each grader's marks lie from everybody's."""

    needs: frozenset[Need] = frozenset()

    def section(self, found: RunFigures) -> Section:
        bias = found.tables.bias
        columns = (
            GRADER,
            Column(name="median_given", title="Median given", form="grade"),
            Column(name="median_bias", title="median bias", form="number"),
            Column(name="mean_bias", title="mean bias", form="number"),
            Column(name="label", title="label"),
            Column(name="marks", title="marks", form="count"),
        )
        rows = tuple(
            (one.grader, or_zero(one.median_given, found), one.median_bias, one.mean_bias, one.label, one.count)
            for one in bias.graders.values()
        )
        table = ReportTable(name="bias", columns=columns, rows=rows)
        known = [(one.grader, one.mean_bias, one.count) for one in bias.graders.values() if one.mean_bias is not None]
        points = [(name, _bias(name, value, n)) for name, value, n in sorted(known, key=lambda one: -one[1])]
        says = "of the marks that were given; positive is lenient"
        figures = (forest_of("bias", "Mean bias", points, says=says, reference=0.0),) if points else ()
        words = _against(bias.overall_median)
        return Section(name="bias", title="Grading bias", words=words, figures=figures, tables=(table,))


def _bias(grader: str, value: float, n_marks: int) -> Estimate:
    return Estimate(
        value=value,
        estimand=f"mean mark of {grader} less the mean of all marks",
        target="these very marks",
        unit="mark",
        n_judgments=n_marks,
        method="difference of means",
        why_no_interval="it tells of these very marks and of no others",
    )


def _against(middle: float | None) -> tuple[str, ...]:
    if middle is None:
        return ("No grade could be read from any reply.",)
    return (f"Against the median of all marks, {middle:.2f}. Positive is lenient.",)


class Repeatability:
    """How far a grader repeats itself on essays it marked more than once."""

    needs: frozenset[Need] = frozenset()

    def section(self, found: RunFigures) -> Section | None:
        repeated = () if found.leniency is None else found.leniency.repeatability
        if not repeated:
            return None
        columns = (
            GRADER,
            Column(name="pairs", title="pairs of rounds", form="count"),
            Column(name="same", title="same grade", form="percent"),
            Column(name="gap", title="mean gap", form="number"),
        )
        table = ReportTable(name="repeatability", columns=columns, rows=tuple(tuple(one) for one in repeated))
        words = ("The same essay marked again.",)
        return Section(name="repeatability", title="Repeatability", words=words, tables=(table,))


class PeopleBeside:
    """Human judgments of the same deliverables, beside the models' marks and never mixed with them."""

    needs: frozenset[Need] = frozenset()

    def section(self, found: RunFigures) -> Section | None:
        if not found.run.human:
            return None
        counts = (Column(name=name, title=name, form="count") for name in ("wins", "ties", "losses"))
        table = ReportTable(
            name="people",
            columns=(MODEL, Column(name="graders", title="graders"), *counts),
            rows=tuple((one.model, one.kind, one.wins, one.ties, one.losses) for one in found.run.human),
        )
        words = "People judged the same deliverables against the baseline of the study."
        return Section(name="people", title="Human judgments", words=(words,), tables=(table,))


class MarksUnread:
    """Marks from which no grade could be read, by reason."""

    needs: frozenset[Need] = frozenset()

    def section(self, found: RunFigures) -> Section:
        reasons = Counter(
            mark.reading.reason.value if mark.reading.reason else f"its words suggest {mark.reading.grade}; not counted"
            for mark in found.run.marks
            if value_of(mark) is None
        )
        columns = (Column(name="reason", title="reason"), Column(name="marks", title="marks", form="count"))
        table = ReportTable(name="unread", columns=columns, rows=tuple(reasons.most_common()))
        words = "Replies from which no grade could be read are left out of every figure and never replaced by a guess."
        if found.published_mode:
            words = (
                "As published, a reply without a grade is shown as N/A (0.00), is a nought in raw averages, and is "
                "left out of medians, bias and quotients."
            )
        tables = (table,) if reasons else ()
        return Section(name="unread", title="Marks without a grade", words=(words,), tables=tables)


class RunCost:
    """Answers, tokens and dollars of each model."""

    needs: frozenset[Need] = frozenset()

    def section(self, found: RunFigures) -> Section:
        names = {"essays": "essays", "marks": "marks", "cached": "from cache", "tokens": "tokens"}
        counts = (Column(name=name, title=title, form="count") for name, title in names.items())
        columns = (MODEL, *counts, Column(name="cost_usd", title="cost (USD)", form="dollars"))
        rows = [(one.model, one.essays, one.marks, one.cached, one.tokens, one.cost_usd) for one in efforts(found.run)]
        unknown = any(row[-1] is None for row in rows)
        table = ReportTable(
            name="cost",
            columns=columns,
            rows=tuple(rows),
            words=("A cost is not shown where a price is unknown.",) if unknown else (),
        )
        return Section(name="cost", title="Cost", words=("An answer from the cache costs nothing.",), tables=(table,))


class RunTiming:
    """How long each model took to write and to mark."""

    needs: frozenset[Need] = frozenset()

    def section(self, found: RunFigures) -> Section:
        known = list(efforts(found.run))
        columns = (
            MODEL,
            Column(name="essay_s", title="seconds an essay", form="number"),
            Column(name="marks_timed", title="marks timed", form="count"),
            Column(name="marking_s", title="seconds of marking in all", form="number"),
            Column(name="mark_s", title="seconds a mark", form="number"),
        )
        rows = tuple((one.model, one.essay_s, one.marks_timed, one.marking_s, one.mark_s) for one in known)
        table = ReportTable(name="timing", columns=columns, rows=rows)
        timed = [(one.model, one.mark_s) for one in known if one.marks_timed]
        figures = (forest_of("speed", "Seconds a mark", timed, says="uncached calls only"),) if timed else ()
        words = ("Uncached calls only.",)
        return Section(name="timing", title="Timing", words=words, figures=figures, tables=(table,))
