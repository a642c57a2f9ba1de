"""A Boswell run's files as the seed names them: CSV, consolidated JSON, essays with feedback, workbook; its report."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from guildhall.analysis.boswell.quotient import Quotients, Scores
from guildhall.analysis.boswell.run_figures import RunFigures
from guildhall.domain.boswell import RunRecord, essay_name, label, mark_path, value_of
from guildhall.domain.grades import NO_GRADE, letter_of
from guildhall.reports.boswell_workbook import cross_grading_workbook
from guildhall.reports.chapters.boswell_ranking import explanations
from guildhall.reports.page import run_page
from guildhall.reports.reporting import run_report_of
from guildhall.reports.text import as_json, run_markdown

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
        cell = {"feedback": mark.reply, "grade": mark.reading.grade or NO_GRADE, "numeric_grade": value_of(mark)}
        grades.setdefault(grader, {})[author] = cell
    return {
        "format": FORMAT,
        "domain": {"id": run.domain, "name": run.title},
        "run_timestamp": run.started_at.strftime("%Y-%m-%d %H:%M:%S"),
        "grades": grades,
        "summary": {
            author: {
                "median_numeric": tables.median_received(author),
                "raw_average": _rounded(tables.average_received(author)),
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
                f"**Letter Grade:** {mark.reading.grade or NO_GRADE}{reason}  \n"
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
            **{g: cell.grade for g in tables.graders if (cell := tables.cell(author=author, grader=g))},
            "median": _letter(tables.median_received(author)),
            "median_numeric": _rounded(tables.median_received(author)),
            "percentage": _rounded(tables.percentage(tables.median_received(author)), 2),
            "raw_numeric_average": _rounded(tables.average_received(author)),
            "n_a": tables.unread_by_author[author],
        }
        for author in tables.authors
    ]
    given = [
        {
            "grader": grader,
            **{a: tables.cell(author=a, grader=grader).grade for a in tables.authors},
            "median_given": _rounded(tables.median_given(grader)),
            "median_bias": _rounded(tables.bias.graders[grader].median_bias),
            "mean_bias": _rounded(tables.bias.graders[grader].mean_bias),
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
            "grade": mark.reading.grade or NO_GRADE,
            "numeric": _rounded(value_of(mark)),
            "rule": mark.reading.rule,
            "reason": mark.reading.reason.value if mark.reading.reason else "",
            "attempts": mark.attempts,
            "cached": mark.cached,
            "seconds": _rounded(mark.seconds),
        }
        for mark, author, grader in found.run.cells()
    ]
    quotients = [{k: v for k, v in row.items() if k != "method"} for row in quotient_rows(found)]
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


def _letter(value: float | None) -> str:
    return NO_GRADE if value is None else letter_of(value)
