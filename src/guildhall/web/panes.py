"""The comparing page's panes: files of all sides paired in rows of tabs, one open a side, workbooks by windows of rows.

Where one is in every pane is told in one word, `2-3.1.200.0`: the row of each side, and of a workbook the sheet and the
first row and column of the window. So a page without scripts opens any file and keeps the others where they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from guildhall.domain.prepared import GridSheet
from guildhall.grading.queue import Seat
from guildhall.web.guard import whole_in
from guildhall.web.showing import FileShown, SideShown, ViewShown, opened_file, shown_view, whole_file
from guildhall.web.site import Site

MOST_TABS = 16
"""Beyond this a side's files are a list to choose from."""
MOST_COLUMNS, MOST_CELLS, LEAST_ROWS = 16, 320, 20
"""A window of a sheet holds about so many cells, so that a page stays light however wide and long the sheet is."""


class Spot(NamedTuple):
    """Where one is in a pane; rows and sheets count from 1, the rows and columns of a window from 0."""

    row: int = 0
    sheet: int = 1
    top: int = 0
    left: int = 0

    def __str__(self) -> str:
        return ".".join(map(str, self)) if self[1:] != (1, 0, 0) else str(self.row)


class Tab(NamedTuple):
    row: int
    kind: str
    file: FileShown | None


@dataclass(frozen=True)
class SheetWindow:
    """Some rows and columns of a sheet, and where they stand among all."""

    sheet: GridSheet
    number: int
    top: int
    left: int
    size: int
    columns: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]

    @property
    def end(self) -> int:
        return self.top + len(self.rows)

    @property
    def right(self) -> int:
        return self.left + len(self.columns)


class Hit(NamedTuple):
    """One place where words stand: on a page, or in a row of a sheet."""

    where: str
    number: int
    row: int | None
    words: str
    times: int = 1


class Hits(NamedTuple):
    side: str
    name: str
    what: str
    places: tuple[Hit, ...]


@dataclass(frozen=True)
class Pane:
    """One side: its tabs, the file that is open in it, and the words that lead to any other place in it."""

    place: str
    message: str | None
    tabs: tuple[Tab, ...]
    spot: Spot
    file: FileShown | None
    window: SheetWindow | None
    before: str
    after: str

    @property
    def files(self) -> int:
        return sum(tab.file is not None for tab in self.tabs)

    def at(self, row: int, sheet: int = 1, top: int = 0, left: int = 0) -> str:
        return f"{self.before}{Spot(row, sheet, top, left)}{self.after}"


def window_of(sheets: Sequence[GridSheet], number: int, top: int, left: int) -> SheetWindow | None:
    """The part of a sheet from `top` and `left` on; the nearest there is, where this is not."""
    if not sheets:
        return None
    number = min(max(number, 1), len(sheets))
    sheet = sheets[number - 1]
    left = min(left, max(0, len(sheet.columns) - 1)) // MOST_COLUMNS * MOST_COLUMNS
    columns = sheet.columns[left : left + MOST_COLUMNS]
    size = max(LEAST_ROWS, MOST_CELLS // max(1, len(sheet.columns[:MOST_COLUMNS])))
    top = min(top, max(0, len(sheet.rows) - 1)) // size * size
    rows = tuple((row, cells[left : left + MOST_COLUMNS]) for row, cells in sheet.rows[top : top + size])
    return SheetWindow(sheet, number, top, left, size, columns, rows)


def panes_of(site: Site, seat: Seat, asked: str = "") -> tuple[ViewShown, tuple[Pane, ...]]:
    view = shown_view(site, seat, whole=False)
    rows = paired(view.sides)
    spots = _spots(asked, rows, len(view.sides))
    return view, tuple(_pane(site, seat, rows, spots, index, side) for index, side in enumerate(view.sides))


def hits_in(site: Site, seat: Seat, words: str) -> list[Hits]:
    """Where the words sought stand, file by file, on all sides and in the references; found as one would read them."""
    view, wanted = shown_view(site, seat, whole=False), " ".join(words.casefold().split())
    files = [("R", view.references), *((side.place, side.files) for side in view.sides)]
    found = [] if not wanted else [_hits(site, seat, place, one, wanted) for place, some in files for one in some]
    return [one for one in found if one.places]


def _hits(site: Site, seat: Seat, place: str, outline: FileShown, wanted: str) -> Hits:
    file = whole_file(site, seat, outline.what)
    found = []
    for number, page in enumerate(file.pages, 1):
        text = page.text or " ".join(line.text for line in page.lines)
        found += _hit(f"page {number}", number, None, text, wanted)
    for number, sheet in enumerate(file.sheets, 1):
        for at, (row, cells) in enumerate(sheet.rows):
            for column, cell in zip(sheet.columns, cells, strict=False):
                found += _hit(f"{sheet.name}, {column}{row}", number, at, cell, wanted)
    if not found and file.text:
        found = _hit("text", 1, None, file.text, wanted)
    return Hits(place, file.name, file.what, tuple(found))


def _hit(where: str, number: int, row: int | None, text: str, wanted: str, reach: int = 40) -> list[Hit]:
    plain = " ".join(text.split())
    starts = [one.start() for one in re.finditer(re.escape(wanted), plain, re.IGNORECASE)]
    if not starts:
        return []
    around = plain[max(0, starts[0] - reach) : starts[0] + len(wanted) + reach]
    return [Hit(where, number, row, around, len(starts))]


def paired(sides: Sequence[SideShown]) -> list[tuple[str, tuple[FileShown | None, ...]]]:
    """Rows of tabs: the files of one kind in their order, so that what a side lacks is a hole one can see."""
    most: dict[str, int] = {}
    for side in sides:
        for kind, count in Counter(file.kind for file in side.files).items():
            most[kind] = max(most.get(kind, 0), count)
    by_kind = [{kind: [one for one in side.files if one.kind == kind] for kind in most} for side in sides]
    return [
        (kind, tuple(files[kind][number] if number < len(files[kind]) else None for files in by_kind))
        for kind, count in most.items()
        for number in range(count)
    ]


_SPOT = re.compile(r"(\d{1,4})(?:\.(\d{1,3})\.(\d{1,7})\.(\d{1,5}))?")


def _spots(asked: str, rows: Sequence[tuple[str, tuple[FileShown | None, ...]]], sides: int) -> list[Spot]:
    """Where each pane stands; where nothing sensible is asked for, at its first file."""
    words = asked.split("-")
    found = []
    for index in range(sides):
        match = _SPOT.fullmatch(words[index]) if len(words) == sides else None
        spot = Spot(*(whole_in(part, 9_999_999) or 0 for part in match.groups("0"))) if match else Spot()
        first = next((number for number, (_, files) in enumerate(rows, 1) if files[index]), 0)
        there = 0 < spot.row <= len(rows) and rows[spot.row - 1][1][index] is not None
        found.append(spot._replace(sheet=spot.sheet or 1) if there else Spot(first))
    return found


def _pane(
    site: Site,
    seat: Seat,
    rows: Sequence[tuple[str, tuple[FileShown | None, ...]]],
    spots: Sequence[Spot],
    index: int,
    side: SideShown,
) -> Pane:
    spot = spots[index]
    outline = rows[spot.row - 1][1][index] if spot.row else None
    file = opened_file(site, seat, outline.what) if outline else None
    return Pane(
        place=side.place,
        message=side.message,
        tabs=tuple(Tab(number, kind, files[index]) for number, (kind, files) in enumerate(rows, 1)),
        spot=spot,
        file=file,
        window=window_of(file.sheets, spot.sheet, spot.top, spot.left) if file else None,
        before="".join(f"{one}-" for one in spots[:index]),
        after="".join(f"-{one}" for one in spots[index + 1 :]),
    )
