"""Layout faults: pages blank, cut off, overlapping, figures too small, words that end under the next cell.

openpyxl is imported where it is used: it takes a tenth of a second, and rooms look at few workbooks.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from guildhall.documents.checks.findings import FindingMaker
from guildhall.documents.checks.pages import Drawn, PageLetter, PageView, Rect, hull
from guildhall.documents.extract.workbooks import Sheet, SheetCell, Workbook
from guildhall.documents.opc import Opc
from guildhall.documents.values import Finding, Gravity

_EDGE_PT = 1.0
_CLIP_PT = 0.75
_FURNITURE = 0.09
"""Share of the height at top and bottom where page numbers, headers and footers stand."""
_INK_DISTANCE = 24


def check_blank(page: PageView, make: FindingMaker) -> Iterator[Finding]:
    """A page without ink, or with nothing but its header and footer."""
    ink = _ink_rows(page)
    if not ink.any():
        yield make.on_page(page, "blank-page", Gravity.MAJOR, f"Page {page.number} is blank.")
        return
    rows = len(ink)
    body = ink[int(rows * _FURNITURE) : int(rows * (1 - _FURNITURE))]
    # What stands at the top of the first page may be all there is: a short note, a sheet of one row.
    if not body.any() and page.number > 1 and len(page.text.strip()) < 200:
        words = f"Page {page.number} holds nothing but its header or footer."
        yield make.on_page(page, "blank-page", Gravity.MINOR, words)


def _ink_rows(page: PageView) -> np.ndarray:
    """For each row of pixels, whether it differs anywhere from the page's ground."""
    flat = page.picture.reshape(-1, 3)
    ground = np.median(flat[:: max(1, len(flat) // 50_000)], axis=0)
    sample = page.picture[:, ::3].astype(np.int16) - ground.astype(np.int16)
    return np.asarray((np.abs(sample).reshape(len(sample), -1) > _INK_DISTANCE).any(axis=1))


def check_cut_off(page: PageView, make: FindingMaker) -> Iterator[Finding]:
    """Letters over the edge of the page or of their cell, numbers shown as ###, pictures over the edge.

    One finding for each way of being cut off, at its first place, with the number of places.
    """
    words = [(hull(word), "".join(letter.char for letter in word)) for word in page.words]
    over = [(box, text) for box, text in words if _outside(box, page, _EDGE_PT) and any(map(str.isalnum, text))]
    if over:
        told = f"Text runs over the edge of page {page.number} ({len(over)} words, first {over[0][1][:40]!r})."
        yield make.on_page(page, "cut-off", Gravity.MAJOR, told, over[0][0])
    hashes = [box for box, text in words if len(text) >= 3 and set(text) == {"#"}]
    if hashes:
        told = f"Numbers on page {page.number} do not fit their cells and show as ### ({len(hashes)} cells)."
        yield make.on_page(page, "cut-off", Gravity.MAJOR, told, hashes[0])
    clipped = [item for item in page.drawn if _clipped(item, page)]
    if clipped:
        told = f"Text on page {page.number} is cut off at the edge of its cell or frame ({len(clipped)} places)."
        yield make.on_page(page, "cut-off", Gravity.MINOR, told, clipped[0].box)
    for item in page.drawn:
        if item.kind == "image" and _picture_cut(item, page):
            told = f"A picture runs over the edge of page {page.number}."
            yield make.on_page(page, "cut-off", Gravity.MAJOR, told, item.box)


def _outside(box: Rect, page: PageView, slack: float) -> bool:
    return box[0] < -slack or box[1] < -slack or box[2] > page.width + slack or box[3] > page.height + slack


def _clipped(item: Drawn, page: PageView) -> bool:
    """Text drawn wider or taller than the frame it is clipped to.

    Where the frame ends with the page's own content, the text goes on on the next page of a wide sheet.
    """
    clip = item.clip
    if item.kind != "text" or item.invisible or clip is None or _common(item.box, clip) is None:
        return False
    if _outside(item.box, page, _EDGE_PT):
        return False
    last = page.content_edge
    over_side = (item.box[2] - clip[2] > _CLIP_PT and clip[2] < last - 1) or clip[0] - item.box[0] > _CLIP_PT
    height = item.box[3] - item.box[1]
    return over_side or item.box[3] - clip[3] > 0.35 * height or clip[1] - item.box[1] > 0.35 * height


def _picture_cut(item: Drawn, page: PageView) -> bool:
    """More than a tenth of what a picture should show lies off the page, and it is no ground that fills the page."""
    meant = _common(item.box, _crop(item, page))
    seen = _common(meant, (0.0, 0.0, page.width, page.height)) if meant else None
    if meant is None or seen is None or _area(seen) > 0.7 * page.width * page.height:
        return False
    return _outside(meant, page, 0.02 * page.width) and _area(seen) < 0.9 * _area(meant)


def _crop(item: Drawn, page: PageView) -> Rect:
    """The frame a picture is cropped to; sides of it that lie on the page's edge crop nothing on purpose."""
    left, top, right, bottom = item.clip or item.box
    far = 10 * (page.width + page.height)
    return (
        left if left > 2 else -far,
        top if top > 2 else -far,
        right if right < page.width - 2 else far,
        bottom if bottom < page.height - 2 else far,
    )


def check_overlap(page: PageView, make: FindingMaker) -> Iterator[Finding]:
    """Words on words, pictures or filled shapes on words, pictures on pictures."""
    words = [(word, hull(word)) for word in page.words if any(letter.char.isalnum() for letter in word)]
    words = [(word, box) for word, box in words if not _outside(box, page, _EDGE_PT)]
    crossing = list(_crossing_words(words))
    if crossing:
        first, second = crossing[0]
        text = " / ".join("".join(letter.char for letter in word)[:25] for word in (first[0], second[0]))
        told = f"Words lie on top of each other on page {page.number} ({len(crossing)} places, first {text!r})."
        yield make.on_page(page, "overlap", Gravity.MAJOR, told, first[1])
    for word, box in words:
        cover = next((item for item in page.drawn if _covers(item, word, box, page)), None)
        if cover is not None:
            text = "".join(letter.char for letter in word)
            thing = "picture" if cover.kind == "image" else "shape"
            yield make.on_page(
                page, "overlap", Gravity.MAJOR, f"A {thing} covers text on page {page.number}: {text[:40]!r}.", box
            )
            break
    yield from _crossing_pictures(page, make)


Placed = tuple[tuple[PageLetter, ...], Rect]


def _crossing_words(words: list[Placed]) -> Iterator[tuple[Placed, Placed]]:
    """Pairs of words whose letters lie on one another; each word is compared with those near it in height."""
    ordered = sorted(words, key=lambda placed: placed[1][1])
    for index, first in enumerate(ordered):
        for second in ordered[index + 1 : index + 400]:
            if second[1][1] >= first[1][3]:
                break
            if _letters_cross(first, second):
                yield first, second
                break


def _letters_cross(first: Placed, second: Placed) -> bool:
    """A quarter of the smaller word's letters lie on letters of the other; a shadow or fake bold does not count."""
    if _common(first[1], second[1]) is None:
        return False
    texts = ["".join(letter.char for letter in word) for word, _ in (first, second)]
    if texts[0] == texts[1] and abs(first[1][0] - second[1][0]) < 3 and abs(first[1][1] - second[1][1]) < 3:
        return False
    crossing = 0
    for letter in first[0]:
        for other in second[0]:
            common = _common(letter.box, other.box)
            if common is not None and _area(common) > 0.2 * max(0.1, min(_area(letter.box), _area(other.box))):
                crossing += 1
                break
    return crossing >= max(2, 0.25 * min(len(first[0]), len(second[0])))


def _covers(item: Drawn, word: tuple[PageLetter, ...], box: Rect, page: PageView) -> bool:
    """Something opaque in front of at least half a word."""
    if item.kind not in ("image", "path") or not item.opaque_fill or item.order <= word[0].drawn or word[0].drawn < 0:
        return False
    common = _common(_common(item.box, item.clip or item.box) or item.box, box)
    if common is None or _area(common) < 0.5 * _area(box):
        return False
    if item.kind == "image":
        return True
    # The box of a shape says little of its outline: where the word's colour still shows, nothing covers it.
    colour = np.array(word[0].colour[:3], dtype=np.int16)
    pixels = page.pixels(box).reshape(-1, 3).astype(np.int16)
    return bool(len(pixels)) and not bool((np.abs(pixels - colour).max(axis=1) < 60).any())


def _crossing_pictures(page: PageView, make: FindingMaker) -> Iterator[Finding]:
    whole = page.width * page.height
    pictures = [item for item in page.drawn if item.kind == "image" and 0.01 * whole < _area(item.box) < 0.7 * whole]
    for index, first in enumerate(pictures[:40]):
        for second in pictures[index + 1 : 40]:
            common = _common(first.box, second.box)
            share = _area(common) / min(_area(first.box), _area(second.box)) if common else 0.0
            if common is not None and 0.1 < share < 0.9:
                words = f"Two pictures lie on top of each other on page {page.number}."
                yield make.on_page(page, "overlap", Gravity.MAJOR, words, common)
    for item in pictures:
        straddling = next((box for word in page.words if _straddles(box := hull(word), item)), None)
        if straddling is not None:
            words = f"Text runs into a picture on page {page.number}."
            yield make.on_page(page, "overlap", Gravity.MAJOR, words, straddling)


def _straddles(box: Rect, picture: Drawn) -> bool:
    """A word that begins beside a picture and ends on it."""
    common = _common(box, picture.box)
    if common is None or _area(box) <= 0:
        return False
    width, height = box[2] - box[0], box[3] - box[1]
    inside, tall = (common[2] - common[0]) / max(width, 0.1), (common[3] - common[1]) / max(height, 0.1)
    return 0.15 < inside < 0.85 and tall > 0.6


def check_figures(page: PageView, make: FindingMaker) -> Iterator[Finding]:
    """A figure narrower than half the page, unless others stand beside it and together they fill half."""
    figures = [item.box for item in page.drawn if item.kind.endswith("image") and _is_figure(item.box, page)]
    for box in figures:
        row = [other for other in figures if min(box[3], other[3]) - max(box[1], other[1]) > 0.3 * (box[3] - box[1])]
        width = sum(other[2] - other[0] for other in row)
        if width < 0.5 * page.width * 0.98:
            share = (box[2] - box[0]) / page.width
            words = f"A figure on page {page.number} takes {share:.0%} of the page's width; under half is hard to read."
            yield make.on_page(page, "small-figure", Gravity.MINOR, words, box)


def _is_figure(box: Rect, page: PageView) -> bool:
    """Large enough to carry information, and not a logo in a header or footer."""
    width, height = box[2] - box[0], box[3] - box[1]
    middle = (box[1] + box[3]) / 2 / page.height
    in_body = 0.12 < middle < 0.9
    return in_body and width > 0.14 * page.width and height > 0.07 * page.height and 0.2 < width / max(height, 1) < 6


def _area(box: Rect | None) -> float:
    return 0.0 if box is None else max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def _common(a: Rect, b: Rect) -> Rect | None:
    box = max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])
    return box if box[0] < box[2] and box[1] < box[3] else None


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


def _neighbours(sheet: Sheet, cells: list[SheetCell], wrapping: set[str]) -> Iterator[_Neighbours]:
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
