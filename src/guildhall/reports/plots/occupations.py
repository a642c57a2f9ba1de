"""Occupations as pictures: the chosen ones by pay, and the digital share against the task-content scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from guildhall.domain.occupations import Selection, Shift, Validation
from guildhall.reports.plots.frame import (
    EDGE,
    FAINT,
    INK,
    MARK,
    WIDTH,
    Canvas,
    Ruler,
    cut_to,
    per_cent,
    plain,
    round_step,
    width_of,
)

DIGITAL, OTHER = "#2563a8", "#b4532a"
"""Blue and rust: told apart by most who see colours otherwise, and by lightness in print."""
OTHERS = "#c9b458"


def pay_bars(selection: Selection) -> str:
    """The chosen occupations by total pay, sector by sector."""
    rows = [(cut_to(one.title, 330), (one.total_wages_usd or 0) / 1e9) for one in selection.chosen]
    canvas, left = Canvas(), EDGE + 12 + max((width_of(name) for name, _ in rows), default=0.0)
    scale, bottom = _upwards([pay for _, pay in rows], left, WIDTH - EDGE - 40), 17.0 * max(1, len(rows)) + 10
    canvas.along(scale, bottom, scale.ticks(6), plain, title="total pay, billion dollars a year", top=0.1)
    for row, (name, pay) in enumerate(rows):
        middle = 5 + 17 * (row + 0.5)
        canvas.text(left - 12, middle, name, anchor="end")
        canvas.box(left, middle - 5.5, scale(pay) - left, 11, fill=MARK)
        canvas.text(scale(pay) + 4, middle, f"{pay:.1f}", size=10, fill=FAINT)
    title = f"The {len(rows)} chosen occupations, sector by sector"
    return canvas.svg(title, (), width=WIDTH, height=bottom + 40)


def shift_plot(shifts: tuple[Shift, ...], base: Selection) -> str:
    """How many of the chosen stay, and how many come in, as the digital threshold moves."""
    kept = len(base.chosen)
    moved = [one for one in shifts if one.thresholds.digital_share != base.thresholds.digital_share]
    points = [(one.thresholds.digital_share, kept - len(one.goes), len(one.comes)) for one in moved]
    points = sorted([*points, (base.thresholds.digital_share, kept, 0)])
    canvas, left, right = Canvas(), EDGE + 62, WIDTH - EDGE
    top = canvas.legend(left, 4, [("chosen as now", MARK), ("others", OTHERS)], columns=2, round_=False) + 4
    scale, wide = _upwards([stay + come for _, stay, come in points], top + 220, top), (right - left) / len(points)
    canvas.beside(scale, left, scale.ticks(5), plain, title="occupations", right=right)
    canvas.along(Ruler(0, len(points), left, right), top + 220, (), plain, title="least digital share")
    for column, (threshold, stay, come) in enumerate(points):
        middle = left + wide * (column + 0.5)
        canvas.text(middle, top + 234, plain(threshold), anchor="middle")
        canvas.box(middle - 19, scale(stay), 38, scale(0) - scale(stay), fill=MARK)
        canvas.box(middle - 19, scale(stay + come), 38, scale(0) - scale(come), fill=OTHERS)
    return canvas.svg("What another digital threshold would choose", (), width=WIDTH, height=top + 260)


def _upwards(values: Sequence[float], start: float, end: float) -> Ruler:
    """From nothing to a round number above all values."""
    most = max(values, default=1.0) or 1.0
    step = round_step(most, 5)
    return Ruler(0.0, step * math.ceil(most / step - 1e-9), start, end)


class _Score(NamedTuple):
    share: float
    value: float
    digital: bool
    spread: float
    """From 0 to 1 by the golden ratio: even, and the same in every drawing."""


def content_scatter(validation: Validation) -> str:
    """Each score against the digital share, one panel a score, with the line through it."""

    def panel(canvas: Canvas, rows: list[_Score], left: float, top: float, wide: float) -> None:
        x, values = Ruler(0, 1, left, left + wide), [row.value for row in rows]
        y = Ruler(min(values), max(values), top + 150, top)
        canvas.beside(y, left, y.ticks(4), plain, right=left + wide)
        canvas.along(x, top + 150, (0, 0.5, 1), per_cent)
        for row in rows:
            canvas.dot(x(row.share), y(row.value), hue=MARK, radius=1.8, opacity=0.35)
        if line := _through(rows):
            slope, height = line
            canvas.line([(x(at), y(height + slope * at)) for at in _ends(rows)], stroke=INK, width=1.5)

    return _by_score(validation, panel, title="Task contents by digital share", height=150)


def content_strips(validation: Validation) -> str:
    """Each occupation's scores, digital occupations apart from the others."""
    values = [value for one in validation.occupations for value in one.scores.values() if value is not None]
    ends = (min(values, default=0.0), max(values, default=1.0))

    def panel(canvas: Canvas, rows: list[_Score], left: float, top: float, wide: float) -> None:
        x = Ruler(*ends, left, left + wide)
        canvas.along(x, top + 130, x.ticks(3), plain, top=top)
        for row in rows:
            side = top + (0 if row.digital else 65)
            canvas.dot(
                x(row.value), side + 5 + 55 * row.spread, hue=DIGITAL if row.digital else OTHER, radius=1.7, opacity=0.5
            )
        for name, middle in (("digital", top + 32), ("other", top + 97)):
            canvas.text(left - 9, middle, name, anchor="end")

    return _by_score(validation, panel, title="Task contents of digital and other occupations", height=130)


def _ends(rows: Sequence[_Score]) -> tuple[float, float]:
    return min(row.share for row in rows), max(row.share for row in rows)


def _through(rows: Sequence[_Score]) -> tuple[float, float] | None:
    """Slope and height of the least-squares line; None where shares do not differ."""
    mean_x, mean_y = (sum(column) / len(rows) for column in ([row.share for row in rows], [row.value for row in rows]))
    spread = sum((row.share - mean_x) ** 2 for row in rows)
    if not spread:
        return None
    slope = sum((row.share - mean_x) * (row.value - mean_y) for row in rows) / spread
    return slope, mean_y - slope * mean_x


class _Panel(Protocol):
    def __call__(self, canvas: Canvas, rows: list[_Score], left: float, top: float, wide: float, /) -> None: ...


def _by_score(validation: Validation, panel: _Panel, *, title: str, height: float) -> str:
    """A panel for each score, three a row."""
    scores = [one.score for one in validation.correlations]
    canvas, wide, tall = Canvas(), (WIDTH - EDGE) / 3, height + 62
    for number, score in enumerate(scores):
        row, column = divmod(number, 3)
        left, top = EDGE + 48 + wide * column, 20 + tall * row
        rows = [
            _Score(one.digital_share, value, one.is_digital, (place * 0.6180339887) % 1)
            for place, one in enumerate(validation.occupations)
            if (value := one.scores[score]) is not None
        ]
        canvas.text(left + (wide - 72) / 2, top - 12, cut_to(score, wide), size=11, anchor="middle")
        if rows:
            panel(canvas, rows, left, top, wide - 72)
    return canvas.svg(title, (), width=WIDTH, height=tall * math.ceil(len(scores) / 3))
