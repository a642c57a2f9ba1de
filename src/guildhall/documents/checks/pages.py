"""Pages of a rendered PDF as the checks see them: letters with boxes, things drawn, and the picture of it all.

Boxes are left, top, right, bottom in points from the page's top left corner, after any rotation.
"""

from __future__ import annotations

import ctypes
import itertools
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2
from pypdfium2 import raw

from guildhall.errors import UnreadableFile

Rect = tuple[float, float, float, float]
_MOST_PIXELS = 4_000_000
_MOST_LETTERS = 20_000
_MOST_OBJECTS = 20_000


@dataclass(frozen=True)
class PageLetter:
    """One visible character: where it is, how large, in what colour (red, green, blue, opacity) and which object."""

    char: str
    box: Rect
    size: float
    colour: tuple[int, int, int, int]
    drawn: int
    font: str


@dataclass(frozen=True)
class Drawn:
    """One thing drawn on the page; `order` grows from the back to the front."""

    kind: str
    box: Rect
    order: int
    clip: Rect | None = None
    opaque_fill: bool = False
    invisible: bool = False


@dataclass
class PageView:
    """One page, read once for all checks."""

    number: int
    width: float
    height: float
    letters: tuple[PageLetter, ...]
    drawn: tuple[Drawn, ...]
    picture: npt.NDArray[np.uint8] = field(repr=False)

    @property
    def scale(self) -> float:
        return float(self.picture.shape[1] / self.width)

    @cached_property
    def text(self) -> str:
        return "".join(letter.char for letter in self.letters)

    @cached_property
    def content_edge(self) -> float:
        """How far to the right anything visible is drawn."""
        edges = (min(item.box[2], item.clip[2] if item.clip else item.box[2]) for item in self.drawn)
        return max(edges, default=self.width)

    @cached_property
    def words(self) -> tuple[tuple[PageLetter, ...], ...]:
        """Runs of letters without a blank, in reading order."""
        words: list[tuple[PageLetter, ...]] = []
        run: list[PageLetter] = []
        for letter in self.letters:
            if letter.char.isspace() or (run and _far(run[-1], letter)):
                words += _untangled(run)
                run = [] if letter.char.isspace() else [letter]
            else:
                run.append(letter)
        return (*words, *_untangled(run))

    def pixels(self, box: Rect, *, margin: float = 0.0) -> npt.NDArray[np.uint8]:
        """The part of the picture under a box."""
        left, top, right, bottom = (edge * self.scale for edge in box)
        grow = margin * self.scale
        rows = slice(max(0, int(top - grow)), max(0, int(np.ceil(bottom + grow))))
        columns = slice(max(0, int(left - grow)), max(0, int(np.ceil(right + grow))))
        return self.picture[rows, columns]


def _untangled(run: list[PageLetter]) -> list[tuple[PageLetter, ...]]:
    """A run as one word, or as the words that were drawn one after the other and lie on one another.

    Text is read from left to right, so letters of two words at one place come mixed; the order of drawing parts them.
    """
    orders = sorted({letter.drawn for letter in run})
    breaks = [after for before, after in itertools.pairwise(orders) if after - before > 1]
    going_back = sum(after.drawn < before.drawn for before, after in itertools.pairwise(run))
    if not run or not breaks or going_back < 2:
        return [tuple(run)] if run else []
    parts: dict[int, list[PageLetter]] = {}
    for letter in run:
        parts.setdefault(bisect_right(breaks, letter.drawn), []).append(letter)
    return [tuple(part) for part in parts.values()]


def _far(before: PageLetter, after: PageLetter) -> bool:
    """Whether two letters that follow each other in the file stand on different lines or far apart."""
    gap = max(before.size, after.size, 4.0)
    return (
        abs(after.box[3] - before.box[3]) > gap
        or after.box[0] - before.box[2] > gap
        or before.box[0] - after.box[2] > gap
    )


def hull(letters: tuple[PageLetter, ...]) -> Rect:
    """The smallest box around some letters."""
    boxes = [letter.box for letter in letters]
    return min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes)


def read_pages(path: Path, *, most_pages: int) -> Iterator[PageView]:
    """The pages of a PDF one by one, each freed before the next is read."""
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        raise UnreadableFile(path.name, f"cannot be opened as a PDF ({error})") from error
    for index in range(min(len(document), most_pages)):
        try:
            page = document[index]
            yield _view(page, index + 1)
            page.close()
        except pypdfium2.PdfiumError as error:
            raise UnreadableFile(path.name, f"its page {index + 1} cannot be read ({error})") from error
    document.close()


def spelt(path: Path, *, most_pages: int) -> str:
    """The words of a PDF's pages, also those that a frame hides."""
    with pypdfium2.PdfDocument(path) as document:
        return "\n".join(
            document[index].get_textpage().get_text_range() for index in range(min(len(document), most_pages))
        )


def page_count(path: Path) -> int:
    try:
        with pypdfium2.PdfDocument(path) as document:
            return len(document)
    except pypdfium2.PdfiumError as error:
        raise UnreadableFile(path.name, f"cannot be opened as a PDF ({error})") from error


def _view(page: Any, number: int) -> PageView:
    width, height = page.get_size()
    scale = min(2.0, (_MOST_PIXELS / max(1.0, width * height)) ** 0.5)
    picture = np.array(page.render(scale=scale).to_pil().convert("RGB"))
    to_page = _Mapping(page, width, height)
    drawn, positions = _drawn(page, to_page)
    return PageView(number, width, height, tuple(_letters(page, to_page, drawn, positions)), tuple(drawn), picture)


class _Mapping:
    """From the file's own coordinates to points from the top left, whatever the page's rotation and origin."""

    def __init__(self, page: Any, width: float, height: float) -> None:
        fine = 1000
        size = (int(width * fine), int(height * fine))
        x, y = ctypes.c_int(), ctypes.c_int()
        corners = []
        for point in ((0.0, 0.0), (100.0, 0.0), (0.0, 100.0)):
            raw.FPDF_PageToDevice(page.raw, 0, 0, *size, 0, *point, x, y)
            corners.append((x.value / fine, y.value / fine))
        (self.x0, self.y0), (ax, ay), (bx, by) = corners
        self.xx, self.yx = (ax - self.x0) / 100, (ay - self.y0) / 100
        self.xy, self.yy = (bx - self.x0) / 100, (by - self.y0) / 100

    def box(self, left: float, bottom: float, right: float, top: float) -> Rect:
        points = [self._point(x, y) for x in (left, right) for y in (bottom, top)]
        xs, ys = [point[0] for point in points], [point[1] for point in points]
        return min(xs), min(ys), max(xs), max(ys)

    def _point(self, x: float, y: float) -> tuple[float, float]:
        return self.x0 + self.xx * x + self.xy * y, self.y0 + self.yx * x + self.yy * y


def _drawn(page: Any, to_page: _Mapping) -> tuple[list[Drawn], dict[int, int]]:
    """Everything drawn, back to front, and each object's place in that order by its address."""
    kinds = {raw.FPDF_PAGEOBJ_TEXT: "text", raw.FPDF_PAGEOBJ_IMAGE: "image", raw.FPDF_PAGEOBJ_PATH: "path"}
    found: list[Drawn] = []
    positions: dict[int, int] = {}
    for item in page.get_objects(max_depth=8):
        kind = kinds.get(item.type)
        if kind is None or len(found) >= _MOST_OBJECTS:
            continue
        positions[ctypes.addressof(item.raw.contents)] = len(found)
        in_form = item.level > 0
        box = to_page.box(*item.get_bounds())
        clip = None if in_form else _clip(item, to_page)
        invisible = kind == "text" and raw.FPDFTextObj_GetTextRenderMode(item.raw) == raw.FPDF_TEXTRENDERMODE_INVISIBLE
        # A picture behind all text covers none of it, and drawing it alone to find out would cost much.
        opaque = any(one.kind == "text" for one in found) and _opaque(item, kind)
        found.append(Drawn("form " + kind if in_form else kind, box, len(found), clip, opaque, invisible))
    return found, positions


def _clip(item: Any, to_page: _Mapping) -> Rect | None:
    path = raw.FPDFPageObj_GetClipPath(item.raw)
    count = raw.FPDFClipPath_CountPaths(path) if path else 0
    if count <= 0 or count > 20:
        return None
    x, y = ctypes.c_float(), ctypes.c_float()
    smallest: Rect | None = None
    for index in range(count):
        points = []
        for segment in range(min(raw.FPDFClipPath_CountPathSegments(path, index), 100)):
            raw.FPDFPathSegment_GetPoint(raw.FPDFClipPath_GetPathSegment(path, index, segment), x, y)
            points.append((x.value, y.value))
        if points:
            xs, ys = [point[0] for point in points], [point[1] for point in points]
            box = to_page.box(min(xs), min(ys), max(xs), max(ys))
            smallest = box if smallest is None else _common(smallest, box)
    return smallest


def _common(a: Rect, b: Rect) -> Rect:
    return max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])


def _opaque(item: Any, kind: str) -> bool:
    if kind == "image":
        return _solid_picture(item)
    if kind == "text":
        return False
    mode, stroke = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(item.raw, mode, stroke)
    return mode.value != 0 and _colour(item.raw)[3] == 255


def _solid_picture(item: Any) -> bool:
    """Whether nothing shines through a picture: it is drawn alone, and its opacity is looked at."""
    alone = item.get_bitmap(render=True, scale_to_original=False).to_numpy()
    return alone.shape[2] < 4 or float((alone[..., 3] > 250).mean()) > 0.5


def _colour(item: Any) -> tuple[int, int, int, int]:
    channels = [ctypes.c_uint() for _ in range(4)]
    raw.FPDFPageObj_GetFillColor(item, *channels)
    red, green, blue, alpha = (channel.value for channel in channels)
    return red, green, blue, alpha


def _letters(page: Any, to_page: _Mapping, drawn: list[Drawn], positions: dict[int, int]) -> Iterator[PageLetter]:
    text = page.get_textpage()
    looks: dict[int, tuple[tuple[int, int, int, int], str]] = {}
    edges = [ctypes.c_double() for _ in range(4)]
    for index in range(min(text.count_chars(), _MOST_LETTERS)):
        code = raw.FPDFText_GetUnicode(text.raw, index)
        if code in (0, 2, 0xFFFE) or (code < 32 and code not in (9, 10, 13)) or code > 0x10FFFF:
            continue
        handle = raw.FPDFText_GetTextObject(text.raw, index)
        address = ctypes.addressof(handle.contents) if handle else 0
        order = positions.get(address, -1)
        if order >= 0 and drawn[order].invisible:
            continue
        if address not in looks:
            looks[address] = (_colour(handle), _font_name(handle)) if handle else ((0, 0, 0, 255), "")
        raw.FPDFText_GetCharBox(text.raw, index, edges[0], edges[1], edges[2], edges[3])
        left, right, bottom, top = (edge.value for edge in edges)
        box = to_page.box(left, bottom, right, top)
        if order >= 0 and _hidden_by_frame(box, drawn[order].clip, page.get_size()):
            continue
        size = raw.FPDFText_GetFontSize(text.raw, index)
        yield PageLetter(
            chr(code), to_page.box(left, bottom, right, top), size, looks[address][0], order, looks[address][1]
        )


def _hidden_by_frame(box: Rect, clip: Rect | None, size: tuple[float, float]) -> bool:
    """Whether a letter lies outside the frame it is clipped to; the edge of the page is no frame."""
    if clip is None:
        return False
    width, height = size
    beyond_side = (box[0] >= clip[2] and clip[2] < width - 1) or (box[2] <= clip[0] and clip[0] > 1)
    beyond_end = (box[1] >= clip[3] and clip[3] < height - 1) or (box[3] <= clip[1] and clip[1] > 1)
    return beyond_side or beyond_end


def _font_name(handle: Any) -> str:
    font = raw.FPDFTextObj_GetFont(handle)
    buffer = ctypes.create_string_buffer(128)
    raw.FPDFFont_GetBaseFontName(font, buffer, 128)
    return buffer.value.decode("utf-8", "replace")
