"""Occupations with their pay: detailed ones only, catch-alls dropped, total wages as employment times pay."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from guildhall.domain.values import Value
from guildhall.occupations.sources import SOURCES, Row, number, read_rows

HOURS_A_YEAR = 2080
CATCH_ALL = "All Other"
"""The phrase itself: `Dentists, All Other Specialists` is one too."""


class PaidOccupation(Value):
    """A detailed occupation of OEWS. Total wages are absent where BLS publishes neither salary nor hourly pay."""

    code: str
    title: str
    employment: int | None
    total_wages_usd: float | None
    paid_by: str
    median_hourly_usd: float | None = None


@dataclass(frozen=True)
class Occupations:
    """All detailed occupations, and those that stay once the catch-alls are dropped."""

    detailed: tuple[PaidOccupation, ...]
    kept: tuple[PaidOccupation, ...]

    @property
    def catch_alls(self) -> tuple[PaidOccupation, ...]:
        return tuple(one for one in self.detailed if is_catch_all(one.title))


def read_occupations(path: Path) -> Occupations:
    detailed = tuple(_occupation(row) for row in _detailed(read_rows(path, columns=SOURCES["national"].columns)))
    return Occupations(detailed, tuple(one for one in detailed if not is_catch_all(one.title)))


def is_catch_all(title: str) -> bool:
    return CATCH_ALL in title


def _detailed(rows: Iterable[Row]) -> Iterable[Row]:
    return (row for row in rows if row["O_GROUP"] == "detailed")


def _occupation(row: Row) -> PaidOccupation:
    employment = number(row["TOT_EMP"])
    annual, hourly = number(row["A_MEAN"]), number(row["H_MEAN"])
    # The annual mean where there is one; hourly pay times a full year only where BLS publishes nothing else.
    pay = annual if annual is not None else None if hourly is None else hourly * HOURS_A_YEAR
    total = None if employment is None or pay is None else employment * pay
    return PaidOccupation(
        code=str(row["OCC_CODE"]),
        title=str(row["OCC_TITLE"]).strip(),
        employment=None if employment is None else int(employment),
        total_wages_usd=total,
        paid_by="annual" if annual is not None else "hourly" if hourly is not None else "not published",
        median_hourly_usd=number(row.get("H_MEDIAN")),
    )
