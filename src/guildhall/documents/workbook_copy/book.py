"""What a copied workbook holds: sheets, cells and looks, with nothing of the file they came from."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from openpyxl.utils.cell import column_index_from_string, get_column_letter

from guildhall.documents.workbook_copy.looks import PLAIN, Look

MOST_CELLS = 600_000
MOST_BLANKS = 300_000
"""Cells without content that show a fill or a line; those beyond are told."""
LAST_ROW, LAST_COLUMN, LONGEST_TEXT = 1_048_576, 16_384, 32_767
MOST_MERGED, MOST_SHEETS = 20_000, 300
_LIKE_NONE_CHOSEN = (8, 9)
_PLACE = re.compile(r"^\$?([A-Za-z]{1,3})\$?([0-9]{1,7})$")

Place = tuple[int, int]
Box = tuple[int, int, int, int]
"""First row, first column, last row, last column."""


@dataclass(frozen=True, slots=True)
class ErrorValue:
    """A cell that says `#N/A` and the like."""

    code: str


CellContent = str | float | bool | ErrorValue


@dataclass(slots=True)
class CopiedCell:
    """One cell: what it says, the formula behind it, how it looks."""

    value: CellContent | None = None
    formula: str = ""
    array: Box | None = None
    volatile: bool = False
    look: Look = PLAIN
    style: int = 0


@dataclass
class CopiedSheet:
    """One sheet with everything its copy will have."""

    name: str
    hidden: str = ""
    cells: dict[Place, CopiedCell] = field(default_factory=dict)
    merged: list[Box] = field(default_factory=list)
    widths: dict[int, int] = field(default_factory=dict)
    heights: dict[int, int] = field(default_factory=dict)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    rows_start_hidden: bool = False
    frozen: Place | None = None
    notes: dict[Place, list[str]] = field(default_factory=dict)
    tab: str = ""
    gridlines: bool = True
    from_right: bool = False


@dataclass
class CopiedBook:
    """The values of a workbook, with nothing of the file they came from."""

    sheets: list[CopiedSheet]
    names: list[tuple[str, str]] = field(default_factory=list)
    since_1904: bool = False


def words(text: str) -> str:
    """Text in which a line ends in one way."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def rounded(number: float) -> float | str:
    """To the fifteen digits that spreadsheets show: programs store the rest differently."""
    return float(f"{number:.15g}") if math.isfinite(number) else str(number)


def number_of(text: str | None, otherwise: float) -> float:
    found = float(text) if text else otherwise
    return found if math.isfinite(found) else otherwise


def width_of(width: float) -> int:
    """Whole characters, so that a width survives being measured in another program's unit."""
    return min(max(math.floor(width + 0.15), 1), 255)


def is_chosen_width(width: float, usual: float) -> bool:
    """Whether somebody chose it: not the program's own, nor so near to the usual one that programs take it for that."""
    return abs(width - usual) > 0.01 and width_of(width) not in _LIKE_NONE_CHOSEN


def height_of(height: float) -> int:
    return min(max(math.floor(height + 0.375), 1), 409)


def place_of(place: str) -> Place | None:
    found = _PLACE.match(place)
    if found is None or int(found[2]) not in range(1, LAST_ROW + 1):
        return None
    column = column_index_from_string(found[1])
    return (int(found[2]), column) if column <= LAST_COLUMN else None


def box_of(reference: str) -> Box | None:
    first, _, last = reference.partition(":")
    one, other = place_of(first), place_of(last or first)
    if one is None or other is None:
        return None
    return (min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1]))


def name_of(at: Place) -> str:
    return f"{get_column_letter(at[1])}{at[0]}"
