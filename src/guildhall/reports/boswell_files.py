"""A Boswell run's files as the seed names them: CSV, consolidated JSON, essays with feedback, workbook; its report.

The seed's workbook of a Boswell run: a sheet of grades received, one of grades given, one of all other tables. A
colour for each letter, the raw number beside it, own marks framed and italic, medians, the raw average in blue and
bold, a row of bias, a legend; panes frozen so that names stay in sight.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from guildhall.analysis.boswell.grade_tables import GradeCell
from guildhall.analysis.boswell.quotient import Quotients, Scores
from guildhall.analysis.boswell.run_figures import RunFigures
from guildhall.domain.boswell import RunRecord, essay_name, grade_of, label, mark_path, value_of
from guildhall.domain.grades import LETTERS, NO_GRADE, letter_of, mean
from guildhall.domain.report import Section
from guildhall.reports.chapters.boswell_marks import short_names
from guildhall.reports.chapters.boswell_ranking import explanations, or_zero
from guildhall.reports.number_format import shown
from guildhall.reports.page import run_page
from guildhall.reports.reporting import run_report_of
from guildhall.reports.text import as_json, run_markdown
from guildhall.reports.workbook import GRADE_COLOURS, SheetPen, grade_colour

_BLUE = "#DDEBF7"
_PINK = "#FCE4E4"
_ON_OWN_SHEET = ("grades-received", "grades-given")


def cross_grading_workbook(found: RunFigures, sections: Sequence[Section]) -> bytes:
    """The cross-grading workbook of a run."""
    import xlsxwriter

    out = io.BytesIO()
    # Text is never taken for a formula or a link: names and grades come from outside.
    with xlsxwriter.Workbook(out, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}) as book:
        created = found.run.started_at.replace(tzinfo=None)
        book.set_properties({"title": f"Boswell Test {found.run.run}", "created": created})
        styles = _Styles(book)
        for name, fill in {"Received": _received, "Given": _given}.items():
            sheet = book.add_worksheet(name)
            sheet.set_landscape()
            sheet.fit_to_pages(1, 0)
            fill(sheet, styles, found)
        SheetPen(book).sections("Statistics", [one for one in sections if one.name not in _ON_OWN_SHEET])
    return out.getvalue()


def _grade(value: float | None, found: RunFigures) -> str:
    """A median as the seed shows it: `A- (3.75)`, and what it shows where there is none."""
    return shown(or_zero(value, found), "grade").value


class _Styles:
    """GradeCell formats, each made once."""

    def __init__(self, book: Any) -> None:
        self._book = book
        self._made: dict[tuple[tuple[str, Any], ...], Any] = {}

    def get(self, **properties: Any) -> Any:
        base = {"font_name": "Calibri", "font_size": 11, "valign": "vcenter"}
        key = tuple(sorted((base | properties).items()))
        if key not in self._made:
            self._made[key] = self._book.add_format(dict(key))
        return self._made[key]

    def grade(self, cell: GradeCell) -> Any:
        own = {"italic": True, "bold": True, "border": 2, "border_color": "#7030A0"} if cell.own else {"border": 1}
        ground = {"bg_color": grade_colour(cell.grade), "text_wrap": True}
        if cell.own:
            ground |= {"pattern": 18, "fg_color": "#7030A0"}  # the letter's colour, dotted
        return self.get(align="center", **ground, **({"border_color": "#BFBFBF"} | own))

    @property
    def head(self) -> Any:
        return self.get(bold=True, bg_color="#404040", font_color="#FFFFFF", align="center", text_wrap=True, border=1)

    @property
    def name(self) -> Any:
        return self.get(bold=True, border=1, border_color="#BFBFBF")

    @property
    def median(self) -> Any:
        return self.get(bold=True, align="center", border=1, border_color="#BFBFBF", bg_color="#F2F2F2")

    @property
    def average(self) -> Any:
        blue = {"bg_color": _BLUE, "font_color": "#1F4E79", "num_format": "0.00"}
        return self.get(bold=True, align="center", text_wrap=True, border=1, border_color="#BFBFBF", **blue)


def _cell_text(cell: GradeCell, found: RunFigures) -> str:
    return _grade(None, found) if cell.value is None else f"{cell.grade} ({cell.value:.2f})"


def _received(sheet: Any, styles: _Styles, found: RunFigures) -> None:
    """Rows are authors, columns are graders."""
    tables = found.tables
    short = short_names(tables.graders)
    tail = ["Median Grade", "Raw Numeric Average", "Rank"]
    _headings(
        sheet, styles, "Author received from", [short[g] for g in tables.graders] + tail, wide=len(tables.graders)
    )
    for row, author in enumerate(tables.authors, 1):
        sheet.write_string(row, 0, author, styles.name)
        for column, grader in enumerate(tables.graders, 1):
            _grade_cell(sheet, styles, row, column, found, author=author, grader=grader)
        at = len(tables.graders) + 1
        middle, average = tables.median_received(author), tables.average_received(author)
        sheet.write_string(row, at, _grade(middle, found), styles.median)
        _number(sheet, row, at + 1, average, styles.average)
        ranks = [scores.rank for scores in found.quotients.scores if scores.model == author]
        _number(sheet, row, at + 2, ranks[0] if ranks else None, styles.median)
    _footer(sheet, styles, found, len(tables.authors) + 1)
    _legend(sheet, styles, len(tables.authors) + 6, short)


def _footer(sheet: Any, styles: _Styles, found: RunFigures, row: int) -> None:
    """Column medians, grading bias, and the count of marks without a grade where there are any."""
    tables = found.tables
    lines = ["Column Medians (given)", "Grading Bias"] + (["N/A count"] if tables.unread else [])
    pink = styles.get(align="center", text_wrap=True, bg_color=_PINK, border=1, border_color="#BFBFBF", font_size=9)
    for offset, name in enumerate(lines):
        sheet.write_string(row + offset, 0, name, styles.name)
        sheet.set_row(row + offset, 30 if name == "Grading Bias" else None)
    for column, grader in enumerate(tables.graders, 1):
        middle = _grade(tables.median_given(grader), found)
        sheet.write_string(row, column, middle, styles.median)
        sheet.write_string(row + 1, column, tables.bias.graders[grader].label, pink)
        if tables.unread:
            sheet.write_number(row + 2, column, tables.unread_by_grader[grader], styles.median)


def _given(sheet: Any, styles: _Styles, found: RunFigures) -> None:
    """Rows are graders, columns are authors."""
    tables = found.tables
    short = short_names(tables.authors)
    tail = ["Median Given", "Raw Average Given", "Bias"]
    _headings(sheet, styles, "Grader gave to", [short[a] for a in tables.authors] + tail, wide=len(tables.authors))
    for row, grader in enumerate(tables.graders, 1):
        sheet.write_string(row, 0, grader, styles.name)
        for column, author in enumerate(tables.authors, 1):
            _grade_cell(sheet, styles, row, column, found, author=author, grader=grader)
        at = len(tables.authors) + 1
        sheet.write_string(row, at, _grade(tables.median_given(grader), found), styles.median)
        _number(sheet, row, at + 1, mean(tables.given(grader)), styles.average)
        sheet.write_string(row, at + 2, tables.bias.graders[grader].label, styles.median)
    sheet.set_column(len(tables.authors) + 3, len(tables.authors) + 3, 24)
    _legend(sheet, styles, len(tables.graders) + 3, short)


def _headings(sheet: Any, styles: _Styles, corner: str, names: list[str], *, wide: int) -> None:
    sheet.set_column(0, 0, 34)
    sheet.set_column(1, wide, 12)
    sheet.set_column(wide + 1, wide + 3, 15)
    sheet.set_row(0, 32)
    sheet.write_string(0, 0, corner, styles.head)
    for column, name in enumerate(names, 1):
        sheet.write_string(0, column, name, styles.head)
    sheet.freeze_panes(1, 1)


def _grade_cell(
    sheet: Any, styles: _Styles, row: int, column: int, found: RunFigures, *, author: str, grader: str
) -> None:
    cell = found.tables.cell(author=author, grader=grader)
    if cell.asked:
        sheet.write_string(row, column, _cell_text(cell, found), styles.grade(cell))


def _number(sheet: Any, row: int, column: int, value: float | None, style: Any) -> None:
    if value is None:
        sheet.write_string(row, column, NO_GRADE, style)
    else:
        sheet.write_number(row, column, value, style)


def _legend(sheet: Any, styles: _Styles, row: int, short: dict[str, str]) -> None:
    sheet.write_string(row, 0, "Legend", styles.get(bold=True))
    for offset, grade in enumerate((*LETTERS, NO_GRADE), 1):
        style = styles.get(align="center", bg_color=GRADE_COLOURS[grade], border=1, border_color="#BFBFBF")
        sheet.write_string(row, offset, grade, style)
    own = styles.get(italic=True, bold=True, border=2, border_color="#7030A0", align="center")
    sheet.write_string(row + 1, 1, "own mark", own)
    changed = [(name, model) for model, name in short.items() if name != model]
    for offset, (name, model) in enumerate(changed):
        sheet.write_string(row + 3 + offset, 0, f"{name} = {model}", styles.get(font_color="#595959"))


FORMAT = "guildhall-peer-1"


def write_run_report(folder: Path, found: RunFigures) -> list[Path]:
    """Every report of a run into its folder; returns what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [*_write_essays(folder, found.run), *_write_csv(folder, found)]
    report = run_report_of(found)
    consolidated = json.dumps(consolidated_json(found), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    contents = {
        "report.md": run_markdown(report).encode(),
        "report.json": as_json(report).encode(),
        "full_results.json": consolidated.encode(),
        "report.html": run_page(report).encode(),
        "cross_grading_table.xlsx": cross_grading_workbook(found, report.sections),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return [*written, *(folder / name for name in contents)]


def quotient_rows(found: RunFigures) -> list[dict[str, Any]]:
    """The documented rows of `peer quotient`, in order of rank."""
    return [_quotient_row(scores, found) for scores in found.quotients.scores]


def _quotient_row(scores: Scores, found: RunFigures) -> dict[str, Any]:
    row: dict[str, Any] = {
        "model": scores.model,
        "quotient": scores.quotient,
        "grade": scores.grade,
        "components": scores.components,
        "performance": scores.performance,
        "evaluation": scores.evaluation,
        "efficiency": scores.efficiency,
        "rank": scores.rank,
    }
    if (sure := found.uncertainty) is not None:
        row |= {
            "interval": sure.interval[scores.model],
            "rank_interval": sure.rank_interval[scores.model],
            "level": sure.level,
            "method": sure.method,
            "why_no_interval": sure.why_none.get(scores.model),
        }
    return row | {"formula": found.quotients.mode}


def consolidated_json(found: RunFigures) -> dict[str, Any]:
    """Everything in one document: the public system's shape, and the record itself from which all can be rebuilt."""
    run, tables = found.run, found.tables
    grades: dict[str, dict[str, Any]] = {}
    for mark, author, grader in run.cells():
        cell = {"feedback": mark.reply, "grade": grade_of(mark), "numeric_grade": value_of(mark)}
        grades.setdefault(grader, {})[author] = cell
    return {
        "format": FORMAT,
        "domain": {"id": run.domain, "name": run.title},
        "run_timestamp": run.started_at.strftime("%Y-%m-%d %H:%M:%S"),
        "grades": grades,
        "summary": {
            author: {
                "median_numeric": tables.median_received(author),
                "raw_numeric_average": _rounded(tables.average_received(author)),
                "n_a": tables.unread_by_author[author],
            }
            for author in tables.authors
        },
        "bias_analysis": {
            "overall_median": tables.bias.overall_median,
            "overall_mean": tables.bias.overall_mean,
            "grader_bias": {
                row.grader: {
                    "median_given": row.median_given,
                    "median_bias": row.median_bias,
                    "mean_bias": row.mean_bias,
                    "letter_bias": row.label,
                    "count": row.count,
                }
                for row in tables.bias.graders.values()
            },
        },
        "quotients": quotient_rows(found),
        "other_mode": _other_mode(found.other_mode),
        "explanations": explanations(found),
        "record": run.model_dump(mode="json"),
    }


def _other_mode(quotients: Quotients) -> list[dict[str, Any]]:
    return [
        {"model": scores.model, "quotient": scores.quotient, "rank": scores.rank, "formula": quotients.mode}
        for scores in quotients.scores
    ]


def _write_essays(folder: Path, run: RunRecord) -> list[Path]:
    """Each essay with all feedback on it and references to the single grading files."""
    written = []
    for essay in run.essays:
        parts = [f"# Essay by {label(essay.author)}", essay.text or f"({essay.stop})"]
        for mark in (mark for mark in run.marks if mark.essay == essay.key):
            value = value_of(mark)
            reason = f" ({mark.reading.reason.value})" if mark.reading.reason else ""
            parts += [
                f"## Graded by: {label(mark.grader)}" + (f", round {mark.round}" if mark.round > 1 else ""),
                mark.reply or f"({mark.error or mark.stop})",
                f"**Letter Grade:** {grade_of(mark)}{reason}  \n"
                f"**Numeric Grade:** {NO_GRADE if value is None else f'{value:.2f}'}  \n"
                f"**Complete grading data:** `{mark_path(essay, mark).as_posix()}`",
            ]
        path = folder / "essays" / f"{essay_name(essay)}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        written.append(path)
    return written


def _write_csv(folder: Path, found: RunFigures) -> list[Path]:
    tables = found.tables
    received = [
        {
            "author": author,
            **{g: _letters(tables.cell(author=author, grader=g), found) for g in tables.graders},
            "median": _letter(tables.median_received(author), found),
            "median_numeric": _digits(tables.median_received(author)),
            "percentage": _digits(tables.percentage(tables.median_received(author)), 2)
            or ("0.00" if found.published_mode else ""),
            "Raw Numeric Average": _digits(tables.average_received(author)),
            "average_grade": _letter(tables.average_received(author), found),
            "n_a": tables.unread_by_author[author],
        }
        for author in tables.authors
    ]
    given = [
        {
            "grader": grader,
            **{a: _letters(tables.cell(author=a, grader=grader), found) for a in tables.authors},
            "median_given": _digits(tables.median_given(grader)),
            "median_bias": _digits(tables.bias.graders[grader].median_bias),
            "mean_bias": _digits(tables.bias.graders[grader].mean_bias),
            "label": tables.bias.graders[grader].label,
            "n_a": tables.unread_by_grader[grader],
        }
        for grader in tables.graders
    ]
    marks = [
        {
            "author": author,
            "sample": found.run.essay_by_key[mark.essay].author.sample,
            "grader": grader,
            "round": mark.round,
            "grade": grade_of(mark),
            "numeric": _digits(value_of(mark)),
            "rule": mark.reading.rule,
            "reason": mark.reading.reason.value if mark.reading.reason else "",
            "suggested": mark.reading.grade if mark.reading.inferred else "",
            "attempts": mark.attempts,
            "cached": mark.cached,
            "seconds": _rounded(mark.seconds),
        }
        for mark, author, grader in found.run.cells()
    ]
    quotients = [{k: v for k, v in row.items() if k != "method"} for row in quotient_rows(found)]
    named: dict[str, list[dict[str, Any]]]
    named = {"grades_received": received, "grades_given": given, "marks": marks, "boswell_quotient": quotients}
    return [_write_rows(folder / f"{name}.csv", rows) for name, rows in named.items()]


def _write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _guarded(value) for name, value in row.items()} for row in rows)
    return path


def _guarded(value: Any) -> Any:
    """Text that a spreadsheet would run as a formula gets a quote in front."""
    risky = isinstance(value, str) and value[:1] in "=+-@\t\r" and len(value) > 2
    return f"'{value}" if risky else value


def _rounded(value: float | None, digits: int = 4) -> float | None:
    return None if value is None else round(value, digits)


def _digits(value: float | None, places: int = 4) -> str:
    return "" if value is None else f"{value:.{places}f}"


def _letters(cell: GradeCell, found: RunFigures) -> str:
    return _grade(None, found) if cell.asked and cell.value is None else cell.grade if cell.asked else ""


def _letter(value: float | None, found: RunFigures) -> str:
    return _grade(None, found) if value is None else letter_of(value)
