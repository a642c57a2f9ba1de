"""Cells whose words end under the next cell: a converter may leave the hidden rest out, so only the source tells."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from guildhall.documents.checks.findings import FindingMaker
from guildhall.documents.checks.pages import PageView, hull
from guildhall.documents.extract.workbooks import Cell, Sheet, Workbook
from guildhall.documents.opc import Opc
from guildhall.documents.values import Finding, Gravity

_MOST_TEXTS = 3_000
_SHORTEST = 8
_SEEN_LETTERS = 4
"""So much of a cell must be seen before it counts as cut; what is not shown at all is no matter of width."""
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class _Neighbours:
    """The words of a cell and how the cell to its right begins, without blanks; "" where that is a number."""

    place: str
    value: str
    words: str
    then: str

    @property
    def starts(self) -> frozenset[int]:
        """After how many letters of the cell a word ends."""
        return frozenset(itertools.accumulate(map(len, self.value.split())))


class CoveredCells:
    """One finding a page for all texts that stop short of their end where the next cell begins.

    `spelt` are the words of all pages, what frames hide included: a text that is whole there is not meant.
    """

    def __init__(self, package: Opc, *, spelt: str) -> None:
        wrapping = _wrapping_styles(package)
        found: dict[tuple[str, str], _Neighbours] = {}
        for sheet in Workbook(package).sheets:
            for _, cells in sheet.rows() if sheet.holds_cells and not sheet.hidden else ():
                for pair in _neighbours(sheet, cells, wrapping):
                    found.setdefault((pair.words, pair.then), pair)
        shown = _BLANKS.sub("", spelt)
        self._pairs = [pair for pair in itertools.islice(found.values(), _MOST_TEXTS) if pair.words not in shown]

    def on_page(self, page: PageView, make: FindingMaker) -> Iterator[Finding]:
        places = [place for place, letter in enumerate(page.letters) if not letter.char.isspace()]
        text = "".join(page.letters[place].char for place in places)
        covered = {pair: seen for pair in self._pairs if (seen := _cut_at(pair, text)) is not None}
        if covered:
            self._pairs = [pair for pair in self._pairs if pair not in covered]
            first, (start, end) = next(iter(covered.items()))
            box = hull(tuple(page.letters[place] for place in places[start:end]))
            told = (
                f"Words on page {page.number} end under the next cell "
                f"({len(covered)} different texts, first at {first.place}: {first.value[:60]!r})."
            )
            yield make.on_page(page, "cut-off", Gravity.MINOR, told, box)


def _neighbours(sheet: Sheet, cells: list[Cell], wrapping: set[str]) -> Iterator[_Neighbours]:
    from openpyxl.utils import column_index_from_string

    for cell, after in itertools.pairwise(cells):
        if cell.kind == "n" or cell.style in wrapping or after.value is None:
            continue
        if column_index_from_string(after.column) != column_index_from_string(cell.column) + 1:
            continue
        value = sheet.value(cell) or ""
        words = _BLANKS.sub("", value)
        if len(words) >= _SHORTEST and "\n" not in value:
            then = "" if after.kind == "n" else _BLANKS.sub("", sheet.value(after) or "")
            yield _Neighbours(cell.place, value, words, then[:_SEEN_LETTERS])


def _cut_at(pair: _Neighbours, text: str) -> tuple[int, int] | None:
    """Where the words begin on the page and where they break off; None where they do not.

    Only a break inside a word counts: other cells may well begin with the same words.
    """
    start = text.find(pair.words[:_SEEN_LETTERS])
    while start >= 0:
        end = start
        while end < len(text) and end - start < len(pair.words) and text[end] == pair.words[end - start]:
            end += 1
        if end - start not in pair.starts and _follows(pair.then, text, end):
            return start, end
        start = text.find(pair.words[:_SEEN_LETTERS], start + 1)
    return None


def _follows(then: str, text: str, end: int) -> bool:
    return text.startswith(then, end) if then else re.match(r"[-+(]?[$€£]?\d", text[end : end + 4]) is not None


def _wrapping_styles(package: Opc) -> set[str]:
    """Numbers of the cell styles that break words into lines or shrink them until they fit."""
    styles = package.tree("xl/styles.xml")
    forms = styles.iterfind("{*}cellXfs/{*}xf") if styles is not None else ()
    return {
        str(number)
        for number, form in enumerate(forms)
        for alignment in form.iterfind("{*}alignment")
        if {alignment.get("wrapText"), alignment.get("shrinkToFit")} & {"1", "true"}
    }
