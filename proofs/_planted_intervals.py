"""Every interval that a report carries, each under an address of its own, found by walking its tables: none is listed.

An address is section, table, row and column; a row is called by its words, and where several have the same ones also by
its first number that is no count. An interval is an estimate's, or two columns called `..._low` and `..._high`. An
estimate without an interval is walked too, so that an interval that is never given does not go unseen. Figures hold
nothing of their own: whatever estimate stands in one has to stand in a table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeGuard

from guildhall.domain.estimates import Estimate
from guildhall.domain.report import CellValue, Report, ReportTable

LOW, HIGH = "_low", "_high"
"""How two columns are called that hold the ends of one interval."""


class Given(NamedTuple):
    """One interval of a report, or its absence; `value` and `method` are the estimate's where it belongs to one."""

    address: str
    interval: tuple[float, float] | None
    value: float | None
    method: str


def intervals_of(report: Report) -> dict[str, Given]:
    """Address -> interval, over everything the report tells."""
    found: dict[str, Given] = {}
    for section in report.sections:
        for table in section.tables:
            for given in _walk(section.name, table):
                if given.address in found:
                    raise AssertionError(f"two intervals stand at {given.address}")
                found[given.address] = given
    tabled = {(one.value, one.interval) for one in found.values()}
    for section in report.sections:
        for figure in section.figures:
            alone = set(_drawn(figure.plot.model_dump())) - tabled
            assert not alone, f"figure {figure.name} of {section.name} shows what no table holds: {alone}"
    return found


def _walk(section: str, table: ReportTable) -> Iterator[Given]:
    columns = [column.name for column in table.columns]
    for called, row in zip(_called(table), table.rows, strict=True):
        at, cells = f"{section} / {table.name} / {called}", dict(zip(columns, row, strict=True))
        for name, cell in cells.items():
            if name in BOUNDS:
                continue
            if isinstance(cell, Estimate):
                yield Given(f"{at} / {name}", cell.interval, cell.value, cell.method)
            elif name.endswith(LOW):
                band = name.removesuffix(LOW)
                low, high = cell, cells[band + HIGH]
                if _is_number(low) and _is_number(high):
                    yield Given(f"{at} / {band}", (low, high), None, "")
                else:
                    assert low is high is None, f"half an interval stands at {at} / {band}"


FOUND = frozenset({"against", "told", "tipping"})
"""Columns of words that a report finds; they do not say what a row is about."""
BOUNDS = frozenset({"lowest", "highest"})
"""Columns whose intervals are about grades that nobody gave; the proof `missing-grades` examines them."""


def _called(table: ReportTable) -> list[str]:
    """What each row is called."""
    counted = {at for at, column in enumerate(table.columns) if column.form == "count"}
    named = [at for at, column in enumerate(table.columns) if column.name not in FOUND]
    words = [", ".join(str(row[at]) for at in named if isinstance(row[at], str)) for row in table.rows]
    times = Counter(words)
    called = []
    for word, row in zip(words, table.rows, strict=True):
        numbers = [f"{cell:.6g}" for at, cell in enumerate(row) if at not in counted and _is_number(cell)]
        called.append(", ".join([word, *numbers[:1]]) if times[word] > 1 else word)
    return called


def _is_number(cell: CellValue) -> TypeGuard[int | float]:
    return isinstance(cell, int | float)


def _drawn(part: Any) -> Iterator[tuple[float | None, tuple[float, float] | None]]:
    """Value and interval of every estimate in a plot."""
    if isinstance(part, Mapping):
        if "estimand" in part:
            yield part["value"], part["interval"]
        for one in part.values():
            yield from _drawn(one)
    elif isinstance(part, list | tuple):
        for one in part:
            yield from _drawn(one)
