"""Run in a judge's sandbox: add up every column above a row called "Total" and say where a workbook is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import openpyxl

_ROUNDING = 0.005


def recount(path: Path) -> tuple[int, int]:
    """How many totals a workbook states, and how many of them are not the sum of what stands above."""
    stated = wrong = 0
    for sheet in openpyxl.load_workbook(path, data_only=True).worksheets:
        sums: dict[int, float] = {}
        for row in sheet.iter_rows(values_only=True):
            numbers = {place: cell for place, cell in enumerate(row) if isinstance(cell, int | float)}
            if str(row[0]).strip().casefold() != "total":
                sums = {place: sums.get(place, 0.0) + numbers.get(place, 0.0) for place in {*sums, *numbers}}
                continue
            stated += len(numbers)
            wrong += sum(abs(value - sums.get(place, 0.0)) > _ROUNDING for place, value in numbers.items())
            sums = {}
    return stated, wrong


def main() -> None:
    """Print, for every side, its totals and how many are wrong."""
    found: dict[str, list[int]] = {}
    for path in sorted(Path().glob("[A-Z]-*.xlsx")):
        stated, wrong = recount(path)
        before = found.get(path.name[0], [0, 0])
        found[path.name[0]] = [before[0] + stated, before[1] + wrong]
    print(json.dumps(found))  # noqa: T201 - read by the judge that runs this


if __name__ == "__main__":
    main()
