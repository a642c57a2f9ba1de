"""Sectors: which are large enough, and to which each occupation belongs by where most of its people work."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from guildhall.domain.occupations import GdpShare
from guildhall.occupations.sources import SOURCES, number, read_rows

JOINED = {"31": "31-33", "32": "31-33", "33": "31-33", "44": "44-45", "45": "44-45", "48": "48-49", "49": "48-49"}
"""Two NAICS digits that are one sector."""


@dataclass(frozen=True)
class Placement:
    """Where an occupation's people work: the largest sector, and all of them."""

    naics: str
    employment: Mapping[str, int]


def shipped_shares() -> tuple[GdpShare, ...]:
    """Value added as a share of GDP, second quarter of 2024, for the nine sectors of the paper's Table 1."""
    text = files("guildhall.occupations").joinpath("gdp_shares.toml").read_text(encoding="utf-8")
    return tuple(GdpShare(**entry) for entry in tomllib.loads(text)["sectors"])


def read_shares(path: Path | None) -> tuple[GdpShare, ...]:
    """Shares from a file of the same form, or the shipped ones."""
    if path is None:
        return shipped_shares()
    return tuple(GdpShare(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["sectors"])


def read_placements(path: Path) -> dict[str, Placement]:
    """Occupation code -> sector of largest employment, from OEWS by sector or from the National Employment Matrix."""
    employment: dict[str, dict[str, int]] = {}
    counted = _matrix(path) if is_matrix(path) else _by_sector(path)
    for code, naics, count in counted:
        mine = employment.setdefault(code, {})
        mine[naics] = mine.get(naics, 0) + count
    return {
        code: Placement(max(mine, key=lambda naics: (mine[naics], naics)), mine) for code, mine in employment.items()
    }


def is_matrix(path: Path) -> bool:
    return "matrix" in path.name.casefold()


def _by_sector(path: Path) -> Iterator[tuple[str, str, int]]:
    for row in read_rows(path, columns=SOURCES["by_sector"].columns):
        count = number(row["TOT_EMP"])
        if row["O_GROUP"] == "detailed" and count is not None:
            yield str(row["OCC_CODE"]), sector_code(str(row["NAICS"])), int(count)


def _matrix(path: Path) -> Iterator[tuple[str, str, int]]:
    """Line items only, since the others are their sums; the matrix counts people in thousands."""
    for row in read_rows(path, columns=SOURCES["matrix"].columns):
        count = number(row["2023 Employment"])
        lines = row["Occupation Type"] == row["Industry Type"] == "Line Item"
        naics = str(row["Industry Code"]).strip()
        if lines and count is not None and naics[:2].isdigit():
            yield str(row["Occupation Code"]).strip(), sector_code(naics), round(count * 1000)


def sector_code(naics: str) -> str:
    return naics if "-" in naics else JOINED.get(naics[:2], naics[:2])
