"""The report as one self-contained HTML page: no outside request, printable, light and dark, tables under figures.

What may be picked on it is written out here in words, bounded by cells; its script shows it and computes nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from guildhall.domain.estimates import Estimate
from guildhall.domain.report import WARNING, CellValue, Form, Report, ReportTable, RunReport
from guildhall.reports.drawing import drawn
from guildhall.reports.number_format import CellWords, basis, percent, rate_name, shown
from guildhall.reports.plots.frame import FAINT, GRID, GROUND, HUES, INK, MARK
from guildhall.reports.text import estimate_columns, graders_in_words, lead, query, readable, rests_on

TEMPLATES, STYLES = (Path(__file__).parent / name for name in ("templates", "static"))
PAGE_COLOURS = {GROUND: "--surface", INK: "--ink", FAINT: "--ink-2", GRID: "--line", MARK: "--accent"}
PAGE_COLOURS |= {hue: f"--m{number}" for number, hue in enumerate(HUES, 1)}
"""Colours of a figure that belong to the page around it, and those of models; other colours of data stay."""
TILES = {
    "tasks_compared": "tasks compared",
    "submissions": "submissions",
    "judgments": "judgments counted",
    "left_out": "left out by a rule",
    "omissions": "parts not shown",
}


@cache
def environment() -> Environment:
    """The templates of reports, with numbers in words."""
    made = Environment(
        loader=FileSystemLoader([TEMPLATES, STYLES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {
        "shown": shown,
        "basis": basis,
        "estimate_columns": estimate_columns,
        "readable": readable,
        "table_rows": table_rows,
        "lead": lead,
        "graders_in_words": graders_in_words,
    }
    made.tests["warns"] = lambda words: words.startswith(WARNING)
    made.filters |= {"percent": _unbroken_percent, "rate_name": rate_name, "unbroken": unbroken}
    return made


def unbroken(words: str) -> str:
    """The same words with a number, its unit and the ends of an interval kept on one line."""
    together = _ENDS.sub("\\1\u00a0to\u00a0\\2", words) if " to " in words else words
    return together.replace(" %", "\u00a0%")


def _unbroken_percent(value: float | None) -> str:
    return unbroken(percent(value))


def table_rows(table: ReportTable) -> Markup:
    """The rows of a table; not by the templates, which take seconds for the cells of hundreds of models."""
    form, *forms = (column.form for column in table.columns)
    resting = rests_on(table)
    lines = []
    for number, (first, *row) in enumerate(table.rows):
        cells = "".join([_cell(cell, form) for cell, form in zip(row, forms, strict=True)])
        last = f'<td class="small">{_escaped(resting[number])}</td>' if resting else ""
        lines.append(f'<tr><th scope="row">{_escaped(shown(first, form).line)}</th>{cells}{last}</tr>\n')
    return Markup("".join(lines))  # noqa: S704 - every word of it was escaped


def _cell(cell: CellValue, form: Form) -> str:
    value, interval = shown(cell, form)
    if form in {"count", "date"}:
        return f'<td class="n">{_escaped(value)}</td>'
    if interval:
        return f'<td class="e">{_kept(value)}<br><span class="small">{_kept(interval)}</span></td>'
    return f"<td>{_kept(value)}</td>"


@lru_cache(maxsize=4096)
def _escaped(words: str) -> str:
    return str(escape(words))


def _kept(words: str) -> str:
    return _escaped(unbroken(words))


_ENDS = re.compile(r"([\d.]) to ([+-]?\d)")
IN_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
"""What may stand in no data between tags."""
ON_PAGE = 1.2
"""Figures stand on the page so much larger than they are drawn, all alike, so that letters keep one size."""
_SIZE = re.compile(r'width="([\d.]+)" height="[\d.]+"')


def html_page(report: Report, figures: Mapping[str, str] | None = None) -> str:
    """The whole report; the same report gives the same bytes. `figures` are its figures, where drawn already."""
    script = (STYLES / "report.js").read_text(encoding="utf-8")
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    picks = json.dumps(explorer(report), ensure_ascii=False, separators=(",", ":")).translate(IN_SCRIPT)
    parts = {"script": Markup(script), "script_digest": digest, "picks": Markup(picks)}  # noqa: S704 - ours; escaped
    return _render("report.html", report, drawn(report) if figures is None else figures, **parts)


def html_body(report: Report) -> Markup:
    """The report without head, title and style, for a page that brings its own."""
    return Markup(_render("body.html", report, drawn(report)))  # noqa: S704 - rendered with autoescape


def run_page(report: RunReport) -> str:
    """The report of a Boswell run on a page of its own."""
    inlined = {name: inline(svg) for name, svg in drawn(report).items()}
    return environment().get_template("boswell.html").render(report=report, drawn=inlined)


def _render(template: str, report: Report, figures: Mapping[str, str], **parts: Any) -> str:
    inlined = {name: inline(svg) for name, svg in figures.items()}
    counts = {**report.counts, "left_out": sum(report.left_out.values())}
    tiles = [(counts[name], words) for name, words in TILES.items()]
    return (
        environment()
        .get_template(template)
        .render(
            report=report,
            answer=report.answer,
            chips=list(_chips(report)),
            standings=list(standings(report)),
            drawn=inlined,
            tiles=tiles,
            **parts,
        )
    )


def _chips(report: Report) -> Iterator[tuple[str, str]]:
    """How far the report is, as words with a look each."""
    if (answer := report.answer) is None:
        return
    progress = "" if answer.done is None else f": {100 * answer.done:.0f} % of the gradings"
    yield {
        "rehearsal": ("unsure", "rehearsal"),
        "running": ("unsure", f"running{progress}"),
        "final": ("pass", "final"),
    }[answer.state]
    if answer.departures:
        yield "fail", f"departed from the plan{'' if answer.departures == 1 else f' {answer.departures} times'}"
    if answer.dated is not None:
        yield "", f"judged until {answer.dated.day} {answer.dated:%B %Y}"
    yield "", f"by {graders_in_words(report)}"


def inline(svg: str) -> Markup:
    """An SVG of our own drawing inside the page, in the colours of the page, so that it follows light and dark.

    Whoever listens to the page is told what the figure is by its frame and reads the table beneath.
    """
    body = svg.replace("<svg", '<svg aria-hidden="true"', 1)
    body = _SIZE.sub(lambda found: f'width="{ON_PAGE * float(found[1]):.0f}"', body, count=1)
    for colour, variable in PAGE_COLOURS.items():
        body = body.replace(f'"{colour}"', f'"var({variable})"')
    return Markup(body)  # noqa: S704 - drawn by us; text in it is escaped


MOST_STANDING = 24
"""So many models, the best, stand on the first screen."""
MOST_BOXES = 12
FEW = 10
"""A cell of fewer tasks is marked."""


class StandingLine(NamedTuple):
    """A line of the first screen, in words; `low`, `at` and `high` are per cent."""

    model: str
    hue: int
    places: str
    boxes: tuple[bool, ...]
    low: float | None
    at: float | None
    high: float | None
    value: str
    interval: str
    record: str
    tasks: str
    joined: CellWords | None = None
    """The rate by people joined with a judge, where the report has one: that leads in words."""


def standings(report: Report) -> Iterator[StandingLine]:
    """The first models, with the places that each may have."""
    ranks = report.section("ranks")
    places = {one["model"]: one for one in _records(ranks.table("ranks"))} if ranks is not None else {}
    by_both = report.section("joined")
    joined = (
        {one["model"]: one["joined"] for one in _records(by_both.table("joined"))} if by_both and by_both.tables else {}
    )
    n = len(report.models)
    for number, row in enumerate(_records(report.headline)[:MOST_STANDING]):
        place = places.get(row["model"], {"first": 0, "last": 0})
        first, last = int(place["first"]), int(place["last"])
        words = "" if not first else str(first) if first == last else f"{first} to {last}"
        boxes = tuple(first <= at <= last for at in range(1, n + 1)) if words and 1 < n <= MOST_BOXES else ()
        rate = joined.get(row["model"])
        beside = None if rate is None else shown(rate, "percent")
        yield StandingLine(row["model"], 1 + number % len(HUES), words, boxes, *_picked(row)[1:])._replace(
            joined=beside
        )


def _records(table: ReportTable | None) -> list[dict[str, Any]]:
    if table is None:
        return []
    names = [column.name for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in table.rows]


def _picked(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """A model's line as the page writes it: name, ends and value in per cent, in words, record and tasks."""
    rate: Estimate = row["half_tie"]
    low, high = (None, None) if rate.interval is None else (_per_cent(end) for end in rate.interval)
    words = shown(rate, "percent")
    few = " (few)" if rate.interval is not None and (rate.n_tasks or FEW) < FEW else ""
    interval = words.interval if rate.interval is not None else ""
    record = f"{row['wins']:,} · {row['ties']:,} · {row['losses']:,}"
    at = None if rate.value is None else _per_cent(rate.value)
    return row["model"], low, at, high, words.value, interval, record, f"{rate.n_tasks or 0:,}{few}"


def _per_cent(share: float) -> float:
    return round(100 * min(1.0, max(0.0, share)), 2)


def explorer(report: Report) -> dict[str, Any]:
    """All that may be picked, as the script reads it: every number is written out here, and none is made there."""
    tables = {table.name: table for table in report.explored}
    levels: dict[str, dict[str, Any]] = {}
    for name, table in tables.items():
        if name.startswith("cells-by-"):
            by = table.columns[0].name
            for row in _records(table):
                levels.setdefault(f"{by}={row[by]}", {"by": table.title, "word": row[by], "cells": []})["cells"].append(
                    (*_picked(row), _rests(row["half_tie"]))
                )
    pairs = [
        (_level(row), row["model"], row["other"], row["told"], *_difference(row["difference"]))
        for row in _records(tables.get("pairs"))
    ]
    works = tables.get("by-task")
    return {
        "models": report.models,
        "query": query(report, {}),
        "baseline": report.policy.baseline,
        "all": [(*_picked(row), _rests(row["half_tie"])) for row in _records(report.headline)[:MOST_STANDING]],
        "levels": levels,
        "pairs": pairs,
        "facts": [] if works is None else [column.name for column in works.columns[2:-3]],
        "works": [] if works is None else works.rows,
    }


def _level(row: Mapping[str, CellValue]) -> str:
    return "" if row["breakdown"] == row["level"] else f"{row['breakdown']}={row['level']}"


def _rests(estimate: Estimate) -> str:
    return f"{basis(estimate)}{f'; {estimate.why_no_interval}' if estimate.why_no_interval else ''}"


def _difference(apart: Estimate) -> tuple[str, str, str]:
    words = shown(apart, "points")
    return words.value, words.interval, basis(apart)
