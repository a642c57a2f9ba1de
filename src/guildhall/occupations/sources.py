"""The official files as published: OEWS and the employment matrix (xlsx), O*NET (xlsx or tab-separated text)."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from guildhall.errors import UnreadableFile

Row = Mapping[str, Any]


@dataclass(frozen=True)
class OfficialFile:
    """One official file: names it goes under, the columns that tell it, and where it comes from."""

    what: str
    patterns: tuple[str, ...]
    columns: tuple[str, ...]
    origin: str


SOURCES = {
    "national": OfficialFile(
        "OEWS national estimates",
        ("*national_M*dl.xlsx",),
        ("OCC_CODE", "OCC_TITLE", "O_GROUP", "TOT_EMP", "A_MEAN", "H_MEAN"),
        "BLS, Occupational Employment and Wage Statistics, national file of May 2024",
    ),
    "by_sector": OfficialFile(
        "OEWS estimates by sector",
        ("*natsector_M*dl.xlsx",),
        ("NAICS", "NAICS_TITLE", "OCC_CODE", "O_GROUP", "TOT_EMP"),
        "BLS, Occupational Employment and Wage Statistics, national sector file of May 2024",
    ),
    "matrix": OfficialFile(
        "National Employment Matrix",
        ("*[Mm]atrix*.xlsx", "*[Mm]atrix*.csv", "*[Mm]atrix*.txt"),
        ("Occupation Type", "Occupation Code", "Industry Type", "Industry Code", "2023 Employment"),
        "BLS, Employment Projections, National Employment Matrix of 2023",
    ),
    "statements": OfficialFile(
        "O*NET Task Statements",
        ("*[Tt]ask*[Ss]tatements*.xlsx", "*[Tt]ask*[Ss]tatements*.txt"),
        ("O*NET-SOC Code", "Task ID", "Task"),
        "O*NET database, Task Statements",
    ),
    "ratings": OfficialFile(
        "O*NET Task Ratings",
        ("Task Ratings*.txt", "Task Ratings*.xlsx", "*task_ratings*.txt", "*task_ratings*.csv"),
        (),
        "O*NET database, Task Ratings",
    ),
    "later_ratings": OfficialFile(
        "O*NET Task Ratings of a later release",
        ("*[Tt]ask*[Rr]atings*29[._]0*", "*29[._]0*[Tt]ask*[Rr]atings*"),
        (),
        "O*NET database 29.0, Task Ratings",
    ),
    "activities": OfficialFile(
        "O*NET Work Activities",
        ("Work Activities*.txt", "Work Activities*.xlsx", "*work_activities*.txt", "*work_activities*.xlsx"),
        ("O*NET-SOC Code", "Element ID", "Scale ID", "Data Value"),
        "O*NET database, Work Activities",
    ),
    "context": OfficialFile(
        "O*NET Work Context",
        ("Work Context.txt", "Work Context.xlsx", "*work_context.txt", "*work_context.xlsx"),
        ("O*NET-SOC Code", "Element ID", "Scale ID", "Data Value"),
        "O*NET database, Work Context",
    ),
    "abilities": OfficialFile(
        "O*NET Abilities",
        ("Abilities.txt", "Abilities.xlsx", "*abilities.txt", "*abilities.xlsx"),
        ("O*NET-SOC Code", "Element ID", "Scale ID", "Data Value"),
        "O*NET database, Abilities",
    ),
}


def find_source(folder: Path, name: str) -> Path | None:
    """The file of a folder that is a given source, where there is one."""
    for pattern in SOURCES[name].patterns:
        found = [path for path in sorted(folder.glob(pattern)) if (name == "later_ratings") or not _is_later(path)]
        if found:
            return found[0]
    return None


def _is_later(path: Path) -> bool:
    return "ratings" in path.name.casefold() and ("29.0" in path.name or "29_0" in path.name)


def require_source(folder: Path, *names: str) -> Path:
    """The file that is the first of these sources to be had; when none is, all are named with where to get them."""
    for name in names:
        found = find_source(folder, name)
        if found is not None:
            return found
    wanted = [SOURCES[name] for name in names]
    places = " or ".join(f"{one.origin} (looked for {', '.join(one.patterns)})" for one in wanted)
    raise UnreadableFile(folder, f"holds no {' or '.join(one.what for one in wanted)}", fix=f"put it there: {places}")


def read_rows(path: Path, *, columns: Sequence[str] = ()) -> Iterator[Row]:
    """Rows of an xlsx, csv or tab-separated file by its header; a missing column is named."""
    rows = _xlsx(path) if path.suffix == ".xlsx" else _text(path)
    header = next(rows, None)
    if header is None:
        raise UnreadableFile(path, "is empty")
    names = ["" if cell is None else str(cell).strip() for cell in header]
    missing = [column for column in columns if column not in names]
    if missing:
        raise UnreadableFile(path, f"has no column {', '.join(missing)}", fix="give the file as it is published")
    for row in rows:
        yield dict(zip(names, row, strict=False))


def _xlsx(path: Path) -> Iterator[Sequence[Any]]:
    # Here, because commands that only list would wait a tenth of a second for it.
    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (InvalidFileException, KeyError, OSError, ValueError) as error:
        raise UnreadableFile(path, f"is not a workbook ({error})") from error
    try:
        yield from book.worksheets[0].iter_rows(values_only=True)
    finally:
        book.close()


def _text(path: Path) -> Iterator[Sequence[Any]]:
    with path.open(encoding="utf-8-sig", newline="") as lines:
        delimiter = "," if path.suffix == ".csv" else "\t"
        yield from csv.reader(lines, delimiter=delimiter)


def number(cell: Any) -> float | None:
    """A published figure; BLS writes `*`, `**` and `#` where it gives none."""
    if cell is None or (isinstance(cell, str) and cell.strip() in {"", "*", "**", "#", "n/a"}):
        return None
    return float(str(cell).replace(",", ""))


_ELSEWHERE = {"Government": "99"}
"""Sectors that OEWS keeps under a designation of its own."""


@dataclass(frozen=True)
class Wages:
    """Median hourly wages of OEWS: by sector where they are published, else over all industries."""

    national: Mapping[str, tuple[str, float]]
    by_sector: Mapping[tuple[str, str], tuple[str, float]]
    files: Mapping[str, str]

    def of(self, occupation: str, sector: str) -> tuple[float, str] | None:
        """The wage of an occupation by its exact title, and its source in words; None where none is published."""
        own = self.by_sector.get((occupation, _ELSEWHERE.get(sector, sector)))
        found = own or self.national.get(occupation)
        if found is None:
            return None
        where, file = (f"sector {sector}", "by_sector") if own else ("all industries", "national")
        return found[1], f"BLS OEWS median hourly wage, SOC {found[0]}, {where[:120]} ({self.files[file]})"


def published_wages(folder: Path) -> Wages:
    """The wages of the official files in a folder; the file by sector may be missing."""
    columns = ("OCC_CODE", "OCC_TITLE", "O_GROUP", "H_MEDIAN", "NAICS", "NAICS_TITLE")
    national, by_sector = require_source(folder, "national"), find_source(folder, "by_sector")
    everywhere = {str(row["OCC_TITLE"]): paid for row in read_rows(national, columns=columns) if (paid := _paid(row))}
    within = {
        (str(row["OCC_TITLE"]), name): paid
        for row in (read_rows(by_sector, columns=columns) if by_sector else ())
        if (paid := _paid(row))
        for name in (str(row["NAICS_TITLE"]), str(row["NAICS"]))
    }
    files = {"national": national.name} | ({"by_sector": by_sector.name} if by_sector else {})
    return Wages(everywhere, within, files)


def _paid(row: Row) -> tuple[str, float] | None:
    """The code and the wage of a detailed occupation; one above the published scale is unknown."""
    wage = number(row["H_MEDIAN"]) if row["O_GROUP"] == "detailed" else None
    return None if wage is None else (str(row["OCC_CODE"]), wage)
