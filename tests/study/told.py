"""What a report tells, by the names its tables use."""

from __future__ import annotations

from typing import Any

from guildhall.domain.estimates import Estimate
from guildhall.domain.report import Report, ReportTable, Section


def section(report: Report, name: str) -> Section:
    found = report.section(name)
    assert found is not None, f"the report has no chapter {name!r}"
    return found


def rows(table: ReportTable) -> list[dict[str, Any]]:
    """Rows by the names of their columns."""
    return [dict(zip([column.name for column in table.columns], row, strict=True)) for row in table.rows]


def figures(found: Section | None) -> dict[str, Estimate]:
    """The figures of a chapter of plain figures, by name."""
    assert found is not None
    return {str(name): one for name, one in found.tables[0].rows if isinstance(one, Estimate)}


def records(report: Report) -> dict[str, dict[str, Any]]:
    """Model -> its line of the headline."""
    assert report.headline is not None
    return {row["model"]: row for row in rows(report.headline)}


def outcomes(report: Report) -> dict[str, tuple[int, int, int]]:
    """Model -> wins, ties, losses."""
    return {name: (row["wins"], row["ties"], row["losses"]) for name, row in records(report).items()}


def breakdowns(report: Report) -> dict[str, list[dict[str, Any]]]:
    """Column -> the cells of its breakdown."""
    found = report.section("breakdowns")
    return {} if found is None else {table.columns[0].name: rows(table) for table in found.tables}
