"""A report as Markdown, JSON and CSV: for reading in a terminal, for a program, for a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from guildhall.domain.estimates import Estimate
from guildhall.domain.report import CellValue, Column, Report, ReportTable, RunReport, Section
from guildhall.reports.number_format import basis, shown


def text_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """A Markdown table, with the blank line after it."""

    def line(cells: Iterable[Any]) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"

    return [line(header), line("---" for _ in header), *(line(row) for row in rows), ""]


FORMULAS = frozenset("=+-@\t\r")
"""What a word begins with that a spreadsheet takes for a formula."""


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """CSV that a spreadsheet cannot take for formulas."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(
        [f"'{cell}" if cell.__class__ is str and cell[:1] in FORMULAS else cell for cell in row] for row in rows
    )
    return out.getvalue()


ESTIMATE = ("value", "low", "high", "level", "n_tasks", "n_judgments", "method", "why_no_interval")
TRACEABLE = frozenset(
    {"task", "model", "sample", "grader", "sector", "occupation", "file_type", "hours", "references"}
    | {"specification", "condition", "effort"}
)
"""Columns by which the judgments behind a row are found."""


def markdown(report: Report) -> str:
    lines = [f"# {report.title}", "", lead(report), ""]
    lines += [line for words in report.warnings for line in (f"**{words}**", "")]
    lines += [" ".join(report.conclusions), "", counted(report), ""]
    for section in report.sections:
        lines += _section(section)
    for title, sentences in (
        ("Planned and done", report.planned_and_done),
        ("Methods", (*report.methods, *report.notes)),
    ):
        lines += [f"## {title}", "", *(f"{sentence}\n" for sentence in sentences)] if sentences else []
    return "\n".join(lines).rstrip() + "\n"


def run_markdown(report: RunReport) -> str:
    lines = [f"# {report.title}", "", *(line for words in report.words for line in (words, ""))]
    for section in report.sections:
        lines += _section(section)
    return "\n".join(lines).rstrip() + "\n"


def lead(report: Report) -> str:
    """What the report asks."""
    n = len(report.models)
    whose = {0: "models' work", 1: f"the work of {''.join(report.models)}"}.get(n, f"the work of {n} models")
    against, judged = report.policy.baseline, graders_in_words(report)
    return f"How does {whose} do against that of the {against}, judged blind by {judged}?"


def graders_in_words(report: Report) -> str:
    """Who judged, as a caption says it."""
    group = report.policy.graders
    if group.name is None:
        return f"{group.kind} graders"
    told = {"judge": "the judge {}", "constant": "the constant verdict {}", "people+judge": "people and the judge {}"}
    return told[group.kind.value].format(group.name)


def counted(report: Report) -> str:
    """Both denominators, and what stayed out by which rule."""
    counts = report.counts
    out = [f"{n} {rule}" for rule, n in report.left_out.items() if n]
    return (
        f"{counts['tasks_compared']} of {counts['tasks']} tasks compared; {counts['judgments']} judgments counted"
        f"{'; left out: ' + '; '.join(out) if out else ''}; {counts['omissions']} parts not shown."
    )


def _section(section: Section) -> list[str]:
    lines = [f"## {section.title}", ""]
    lines += [line for words in section.words for line in (words, "")]
    for table in map(readable, section.tables):
        lines += [f"### {table.title}", ""] if table.title else []
        lines += markdown_table(table)
        lines += [line for words in table.words for line in (words, "")]
    for one in section.quotations:
        lines += [f"> {one.words}", ">", f"> {one.under}; {one.source}", ""]
    return lines


def markdown_table(table: ReportTable) -> list[str]:
    """The table, with a last column that says what each row's estimates rest on."""
    header, rows = in_words(table)
    if resting := rests_on(table):
        header.append("rests on")
        rows = [[*cells, words] for cells, words in zip(rows, resting, strict=True)]
    return text_table(header, rows)


def in_words(table: ReportTable) -> tuple[list[str], list[list[str]]]:
    """A table's header and rows as people read them."""
    rows = [
        [shown(cell, column.form).line for cell, column in zip(row, table.columns, strict=True)] for row in table.rows
    ]
    return [column.title for column in table.columns], rows


def rests_on(table: ReportTable) -> list[str]:
    """What each row's last estimate rests on; nothing where a table has none."""
    last = [next((cell for cell in reversed(row) if isinstance(cell, Estimate)), None) for row in table.rows]
    return ["" if one is None else basis(one) for one in last] if any(last) else []


_LATEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "$&#_%"},
        "\\": r"\textbackslash{}",
        "{": r"\textbraceleft{}",
        "}": r"\textbraceright{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "–": "--",
    }
)


def in_latex(words: str) -> str:
    """Words as LaTeX sets them, whatever stands in them."""
    return "".join(one if one.isprintable() else " " for one in words).translate(_LATEX)


def headline_latex(report: Report) -> str:
    """The table of models for a paper: places, rate with its interval, record and tasks. It needs no package."""
    ranks = report.section("ranks")
    places = {row[0]: row[1:3] for row in ranks.table("ranks").rows} if ranks is not None else {}
    rows = []
    for model, wins, ties, losses, *_, half in report.headline.rows if report.headline is not None else ():
        assert isinstance(half, Estimate)  # noqa: S101 - as the headline lays them out
        rate, place = shown(half, "percent"), places.get(model, ())
        sure = rate.interval if half.interval is not None else shown(None, "percent").value
        cells = (model, "--".join(dict.fromkeys(map(str, place))), rate.value, sure, wins, ties, losses, half.n_tasks)
        rows.append(f"{' & '.join(in_latex(str(cell)) for cell in cells)} \\\\")
    told = [*report.warnings, f"{report.title}.", lead(report), "Ties count half.", f"Guildhall {report.version}."]
    header = r"model & places & ties half & interval & won & tied & lost & tasks \\"
    lines = (r"\begin{table}", r"\begin{tabular}{lrrrrrrr}", r"\hline", header, r"\hline", *rows, r"\hline")
    return "\n".join([*lines, r"\end{tabular}", f"\\caption{{{in_latex(' '.join(told))}}}", r"\end{table}", ""])


def bibtex(report: Report) -> str:
    """The study as an entry of a bibliography; who made it is for its makers to add."""
    dated = None if report.answer is None else report.answer.dated
    note = [
        *report.warnings,
        f"Frozen design {report.design_digest}, seed {report.seed}",
        f"Guildhall {report.version}",
    ]
    fields = {
        "title": f"{{{in_latex(report.title)}}}",
        "key": in_latex(report.study),
        **({} if dated is None else {"year": str(dated.year), "month": str(dated.month)}),
        "note": in_latex(". ".join(one.removesuffix(".") for one in note)),
    }
    name = re.sub(r"[^A-Za-z0-9:-]+", "-", report.study)
    return "\n".join([f"@misc{{{name},", *(f"  {key} = {{{words}}}," for key, words in fields.items()), "}", ""])


def as_json(report: Report | RunReport) -> str:
    return report.model_dump_json(indent=2) + "\n"


def table_csv(table: ReportTable) -> str:
    """A table as CSV: one line for each estimate of a row, or for each row where there are none."""
    estimates = estimate_columns(table)
    if not estimates:
        return csv_text([column.name for column in table.columns], table.rows)
    words = [at for at, column in enumerate(table.columns) if at not in estimates and column.form != "count"]
    rest = [at for at, column in enumerate(table.columns) if at not in estimates and column.form == "count"]
    names = [column.name for column in table.columns]
    header = [*(names[at] for at in words), table.long_form, *ESTIMATE, *(names[at] for at in rest)]
    rows = (
        [*(row[at] for at in words), names[place], *fields_of(row[place]), *(row[at] for at in rest)]
        for row in table.rows
        for place in estimates
        if row[place] is not None
    )
    return csv_text(header, rows)


def readable(table: ReportTable) -> ReportTable:
    """The table as people read it: a column in which nothing is known is named below instead of standing there."""
    blank = {
        at
        for at in range(1, len(table.columns) if table.rows else 0)
        if all((cell.value if isinstance(cell := row[at], Estimate) else cell) is None for row in table.rows)
    }
    if not blank:
        return table
    why = {cell.why_no_interval: None for row in table.rows for at in blank if isinstance(cell := row[at], Estimate)}
    unknown = f"Not known in any row: {', '.join(table.columns[at].title for at in sorted(blank))}"
    kept = [at for at in range(len(table.columns)) if at not in blank]
    return ReportTable.model_construct(
        **{
            **dict(table),
            "columns": tuple(table.columns[at] for at in kept),
            "rows": tuple(tuple(row[at] for at in kept) for row in table.rows),
            "words": (*table.words, f"{unknown}{f' ({next(iter(why))})' if why else ''}."),
        }
    )


def estimate_columns(table: ReportTable) -> list[int]:
    return [at for at in range(len(table.columns)) if any(isinstance(row[at], Estimate) for row in table.rows)]


def fields_of(cell: CellValue) -> list[Any]:
    """An estimate as the cells of `ESTIMATE`; a plain number has a value only."""
    if not isinstance(cell, Estimate):
        return [cell, *[""] * (len(ESTIMATE) - 1)]
    ends = cell.interval or ("", "")
    why = cell.why_no_interval or ""
    return [cell.value, *ends, cell.level, cell.n_tasks, cell.n_judgments, cell.method, why]


def numbers_csv(report: Report) -> str:
    """Every estimate of a report, a line each, with the command that shows its rows (empty where rows are none)."""
    header = ["chapter", "table", "name", "estimate", *ESTIMATE, "query"]
    return csv_text(header, _numbers(report))


def _numbers(report: Report) -> Iterator[list[Any]]:
    for section in report.sections:
        for table in section.tables:
            for row in table.rows:
                words = " / ".join(str(cell) for cell in row if isinstance(cell, str))
                rows = query(report, where_of(table.columns, row)) if table.traced else ""
                for column, cell in zip(table.columns, row, strict=True):
                    if isinstance(cell, Estimate):
                        yield [section.name, table.name, words, column.name, *fields_of(cell), rows]


def where_of(columns: tuple[Column, ...], row: tuple[CellValue, ...]) -> dict[str, str]:
    """The columns by which a row's judgments are found, with their words."""
    cells = zip(columns, row, strict=True)
    return {column.name: cell for column, cell in cells if column.name in TRACEABLE and isinstance(cell, str)}


def query(report: Report, where: Mapping[str, str]) -> str:
    """The command that shows the rows in which these columns hold these words."""
    narrowed = [part for name, word in where.items() for part in ("--where", f"{name}={word}")]
    asked = ["guildhall", "study", "rows", report.study, *narrowed]
    return shlex.join([*asked, "--baseline", report.policy.baseline, "--graders", str(report.policy.graders)])
