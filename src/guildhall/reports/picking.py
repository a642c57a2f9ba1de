"""What the page of a report carries for picking: its first table, and cells in words, bounded by cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from guildhall.domain.estimates import Estimate
from guildhall.domain.report import CellValue, Report, ReportTable
from guildhall.reports.number_format import basis, shown
from guildhall.reports.plots.frame import HUES
from guildhall.reports.text import query

MOST_STANDING = 24
"""So many models, the best, stand on the first screen."""
MOST_BOXES = 12
FEW = 10
"""A cell of fewer tasks is marked."""


class Standing(NamedTuple):
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


def standings(report: Report) -> Iterator[Standing]:
    """The first models, with the places that each may have."""
    ranks = report.section("ranks")
    places = {one["model"]: one for one in _records(ranks.table("ranks"))} if ranks is not None else {}
    n = len(report.models)
    for number, row in enumerate(_records(report.headline)[:MOST_STANDING]):
        place = places.get(row["model"], {"first": 0, "last": 0})
        first, last = int(place["first"]), int(place["last"])
        words = "" if not first else str(first) if first == last else f"{first} to {last}"
        boxes = tuple(first <= at <= last for at in range(1, n + 1)) if words and 1 < n <= MOST_BOXES else ()
        yield Standing(row["model"], 1 + number % len(HUES), words, boxes, *_cell(row)[1:])


def _records(table: ReportTable | None) -> list[dict[str, Any]]:
    if table is None:
        return []
    names = [column.name for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in table.rows]


def _cell(row: Mapping[str, Any]) -> tuple[Any, ...]:
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
                    (*_cell(row), _rests(row["half_tie"]))
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
        "all": [(*_cell(row), _rests(row["half_tie"])) for row in _records(report.headline)[:MOST_STANDING]],
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
