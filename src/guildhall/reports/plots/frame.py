"""What all figures share: colours, type, scales, and the canvas on which they are drawn as SVG.

Drawn by ourselves: a plotting program that measures every word with the fonts at hand took two thirds of the time of a
report over 100,000 judgments. Widths of words are estimated instead, a little too wide.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from markupsafe import escape

INK, FAINT, GRID, GROUND = "#1d2422", "#57625e", "#dfe3de", "#ffffff"
ON_LIGHT = "#111111"
"""Text on a light mark: it stays dark when the page does not."""
MARK = "#0f766e"
HUES = ("#1f6aa5", "#b8730a", "#14876a", "#bf4f2a", "#3388bd", "#a8628f", "#59635f", "#857812")
"""Models apart, in this order, as many as one can tell apart: those of the pages, which have others for the dark."""


def hues_of(names: Sequence[str], models: Sequence[str]) -> dict[str, str]:
    """A model has the colour of its place among all; what else is told apart takes them in its own order."""
    return {name: HUES[(models.index(name) if name in models else at) % len(HUES)] for at, name in enumerate(names)}


FONTS = "Noto Sans, Liberation Sans, DejaVu Sans, sans-serif"
WIDTH = 760
"""Of a whole figure with its labels, so that letters have one size in all figures of a page."""
EDGE = 5.0
WIDEST_LABEL = 40
"""Letters in a line beside an axis; longer names take two lines."""
SIZE = 12.0
_NARROW, _WIDE = frozenset("iljI.,:;|'!()[]/ ft"), frozenset("mwMW@%")


def width_of(words: str, size: float = SIZE) -> float:
    """Pixels that words take, about."""
    return size * sum(0.34 if one in _NARROW else 0.9 if one in _WIDE else 0.6 for one in words)


def in_lines(name: str) -> list[str]:
    """A long name broken where words end."""
    return textwrap.wrap(name, WIDEST_LABEL, break_long_words=False, break_on_hyphens=False) or [name]


def cut_to(words: str, widest: float) -> str:
    """As much of a name as has room."""
    while width_of(words) > widest and len(words) > 2:
        words = words.rstrip("…")[:-1] + "…"
    return words


class Ruler(NamedTuple):
    """Numbers along a side: `low` stands at pixel `start`, `high` at `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / ((self.high - self.low) or 1.0) * (self.end - self.start)

    def ticks(self, about: int) -> list[float]:
        """Round numbers from end to end."""
        step = round_step(self.high - self.low, about)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def round_step(span: float, about: int) -> float:
    """1, 2 or 5 times a power of ten, of which about so many fill a span."""
    rough = (span or 1.0) / about
    power = 10.0 ** math.floor(math.log10(rough))
    return power * next((by for by, limit in ((1, 2**0.5), (2, 10**0.5), (5, 50**0.5)) if rough / power < limit), 10)


def plain(value: float) -> str:
    """A number beside an axis, without digits that say nothing."""
    return f"{value + 0.0:,.10g}" if abs(value) > 1e-9 else "0"


def per_cent(value: float) -> str:
    return f"{plain(100 * value)}%"


class Canvas:
    """Marks on a ground. Text stands on its middle height; numbers are pixels, y downwards."""

    def __init__(self) -> None:
        self._marks: list[str] = []
        self.right = 0.0
        """Where words end."""

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float = SIZE,
        fill: str = INK,
        anchor: str = "start",
        bold: bool = False,
        turn: float = 0.0,
        halo: bool = False,
    ) -> None:
        shown = escape("".join(one for one in words if one.isprintable()))
        # The middle of the figures' height, by numbers: not every program knows the word for it.
        at = f'x="{_px(x)}" y="{_px(y + 0.35 * size)}"'
        if anchor == "start" and not turn:
            self.right = max(self.right, x + width_of(words, size))
        turned = f' transform="rotate({_px(turn)} {_px(x)} {_px(y)})"' if turn else ""
        look = f' text-anchor="{anchor}"' * (anchor != "start") + ' font-weight="bold"' * bold + turned
        given = f'{at} font-size="{_px(size)}"{look}'
        if halo:
            self._marks.append(f'<text {given} fill="{GROUND}" stroke="{GROUND}" stroke-width="3.5">{shown}</text>')
        self._marks.append(f'<text {given} fill="{fill}">{shown}</text>')

    def name(self, x: float, y: float, words: str, *, anchor: str = "end") -> None:
        """A name beside an axis, in as many lines as it takes."""
        lines = in_lines(words)
        for number, line in enumerate(lines):
            self.text(x, y + 14 * (number - (len(lines) - 1) / 2), line, anchor=anchor)

    def line(
        self,
        points: Iterable[tuple[float, float]],
        *,
        stroke: str,
        width: float = 1.0,
        dashed: bool = False,
        opacity: float = 1.0,
    ) -> None:
        look = ' stroke-dasharray="4 4"' * dashed + _faded(opacity)
        path = " ".join(f"{_px(x)},{_px(y)}" for x, y in points)
        self._marks.append(
            f'<polyline points="{path}" fill="none" stroke="{stroke}" stroke-width="{_px(width)}"{look}/>'
        )

    def area(self, points: Iterable[tuple[float, float]], *, fill: str, opacity: float) -> None:
        path = " ".join(f"{_px(x)},{_px(y)}" for x, y in points)
        self._marks.append(f'<polygon points="{path}" fill="{fill}"{_faded(opacity)}/>')

    def box(
        self, x: float, y: float, width: float, height: float, *, fill: str, edge: str = "", opacity: float = 1.0
    ) -> None:
        look = (f' stroke="{edge}"' if edge else "") + _faded(opacity)
        size = f'width="{_px(width)}" height="{_px(height)}"'
        self._marks.append(f'<rect x="{_px(x)}" y="{_px(y)}" {size} fill="{fill}"{look}/>')

    def dot(
        self, x: float, y: float, *, hue: str, radius: float = 4.7, hollow: bool = False, opacity: float = 1.0
    ) -> None:
        """A point; hollow where there is no interval."""
        look = f'fill="{GROUND}" stroke="{hue}" stroke-width="1.5"' if hollow else f'fill="{hue}"'
        self._marks.append(f'<circle cx="{_px(x)}" cy="{_px(y)}" r="{_px(radius)}" {look}{_faded(opacity)}/>')

    def along(
        self,
        scale: Ruler,
        y: float,
        ticks: Iterable[float],
        label: Callable[[float], str],
        *,
        title: str = "",
        top: float = 0.0,
    ) -> None:
        """The axis below; with lines up to `top` where that is given."""
        for value in ticks:
            x = scale(value)
            self.line([(x, top or y), (x, y + 5)], stroke=GRID)
            self.text(x, y + 14, label(value), anchor="middle")
        self.line([(scale.start, y), (scale.end, y)], stroke=GRID)
        if title:
            self.text((scale.start + scale.end) / 2, y + 31, title, fill=FAINT, anchor="middle")

    def beside(
        self,
        scale: Ruler,
        x: float,
        ticks: Iterable[float],
        label: Callable[[float], str],
        *,
        title: str = "",
        right: float = 0.0,
    ) -> None:
        """The axis on the left; with lines to `right` where that is given."""
        widest = 0.0
        for value in ticks:
            y, words = scale(value), label(value)
            widest = max(widest, width_of(words))
            self.line([(x - 5, y), (right or x, y)], stroke=GRID)
            self.text(x - 9, y, words, anchor="end")
        self.line([(x, scale.start), (x, scale.end)], stroke=GRID)
        if title:
            at = x - widest - 20
            self.text(at, (scale.start + scale.end) / 2, title, fill=FAINT, anchor="middle", turn=-90)

    def legend(
        self, x: float, y: float, entries: Sequence[tuple[str, str]], *, columns: int, round_: bool = True
    ) -> float:
        """Names by their hues, so many a row; where the next thing may stand."""
        wide = [
            max((width_of(cut_to(name, 220)) for name, _ in entries[column::columns]), default=0.0) + 30
            for column in range(columns)
        ]
        for number, (name, hue) in enumerate(entries):
            row, column = divmod(number, columns)
            left, middle = x + sum(wide[:column]), y + 17 * row
            if round_:
                self.dot(left + 5, middle, hue=hue, radius=5)
            else:
                self.box(left, middle - 5, 10, 10, fill=hue)
            self.text(left + 15, middle, cut_to(name, 220))
        return y + 17 * math.ceil(len(entries) / columns)

    def svg(self, title: str, subtitle: Sequence[str], *, width: float, height: float) -> str:
        """The whole figure, with its title above: what was drawn begins at 0 below it."""
        head = Canvas()
        head.text(EDGE, EDGE + 8, title, size=14, bold=True)
        for number, words in enumerate(subtitle):
            head.text(EDGE, EDGE + 25 + 14 * number, words, size=11, fill=FAINT)
        below = head_height(subtitle)
        width = max(width, self.right + EDGE, head.right + EDGE)
        whole, tall = _px(math.ceil(width)), _px(math.ceil(below + height + EDGE))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="{tall}" viewBox="0 0 {whole} {tall}" '
            f'font-family="{FONTS}"><rect width="{whole}" height="{tall}" fill="{GROUND}"/>{"".join(head._marks)}'
            f'<g transform="translate(0 {_px(below)})">{"".join(self._marks)}</g></svg>'
        )


def head_height(subtitle: Sequence[str]) -> float:
    return EDGE + 27 + 14 * len(subtitle)


def _px(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def _faded(opacity: float) -> str:
    return f' opacity="{_px(opacity)}"' if opacity < 1 else ""
