"""Bars, cells and forests: shares of a whole, values as colours, estimates with their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from guildhall.domain.estimates import Estimate
from guildhall.domain.report import BarPanel, BarPanels, Bars, Forest, HeatMap
from guildhall.reports.number_format import shown
from guildhall.reports.plots.frame import (
    EDGE,
    FAINT,
    GROUND,
    INK,
    MARK,
    ON_LIGHT,
    WIDTH,
    Canvas,
    Ruler,
    cut_to,
    hues_of,
    in_lines,
    per_cent,
    plain,
    round_step,
    width_of,
)

PARTS = ("#0d746c", "#9fccc5", "#d2d7d4")
"""Of a whole: won, tied, lost. The first is so dark that white letters read better."""
NARROWEST_LABELLED = 0.055
"""A part narrower than this share has no room for its number."""
MOST_WHOSE = 4
"""So many bars for a label can be told apart."""
GAP = 12.0
"""Between names and what they stand beside."""


def _beside(names: Iterable[str]) -> float:
    """Where marks begin to the right of names."""
    return EDGE + GAP + max((width_of(line) for name in names for line in in_lines(name)), default=0.0)


def _two_lines(names: Iterable[str]) -> bool:
    return any(len(in_lines(name)) > 1 for name in names)


def bars(plot: Bars) -> str:
    """Each row a bar in parts, each part from where the last one ends."""
    names, canvas = [name for name, _ in plot.rows], Canvas()
    left, each = _beside(names), 34 if _two_lines(names) else 30
    share = Ruler(0.0, 1.0, left, WIDTH - EDGE - 16)
    top = canvas.legend(left, 4, list(zip(plot.parts, PARTS, strict=False)), columns=len(plot.parts), round_=False) + 4
    bottom = top + each * max(1, len(names)) + 6
    canvas.along(share, bottom, (0, 0.25, 0.5, 0.75, 1), per_cent, title="share of judgments", top=top)
    for row, (name, counts) in enumerate(plot.rows):
        middle, begun, total = top + 3 + each * (row + 0.5), 0, max(1, sum(counts))
        canvas.name(left - GAP, middle, name)
        for number, count in enumerate(counts):
            start, wide = share(begun / total), share(count / total) - share(0)
            begun += count
            canvas.box(start, middle - 10, wide, 20, fill=PARTS[number])
            if count / total >= NARROWEST_LABELLED:
                words, fill = f"{100 * count / total:.0f} %", ON_LIGHT if number else "white"
                canvas.text(start + wide / 2, middle, words, size=11.5, fill=fill, anchor="middle", bold=True)
    return canvas.svg(plot.title, plot.subtitle, width=WIDTH, height=bottom + 40)


def bar_panels(plot: BarPanels, models: Sequence[str] = ()) -> str:
    """A bar for each label and whose it is; the commonest label stands on top in all panels."""
    found = list(dict.fromkeys(who for panel in plot.panels for _, who, _ in panel.bars))[:MOST_WHOSE]
    whose = hues_of(found, models)
    order, canvas = _order(plot), Canvas()
    left, each = _beside(order), (12 if len(whose) > 1 else 20) * len(whose) + 5
    wide, bottom = (WIDTH - EDGE - left) / max(1, len(plot.panels)), 20.0 + each * len(order)
    for row, label in enumerate(order):
        canvas.name(left - GAP, 20 + each * (row + 0.5), label)
    for number, panel in enumerate(plot.panels):
        start = left + wide * number
        canvas.text(start + (wide - 30) / 2, 4, panel.title, bold=True, anchor="middle")
        _panel(canvas, panel, order, whose, (start, start + wide - 30, bottom))
    end = bottom + 34
    if len(whose) > 1:
        end = canvas.legend(left, bottom + 54, list(whose.items()), columns=len(whose), round_=False)
    return canvas.svg(plot.title, plot.subtitle, width=WIDTH, height=end + 6)


def _order(plot: BarPanels) -> list[str]:
    """Labels by how often they are given in all panels together, so that the panels can be read across."""
    total: dict[str, float] = {}
    for panel in plot.panels:
        for label, _, share in panel.bars:
            total[label] = total.get(label, 0.0) + (share.value or 0.0)
    return sorted(total, key=lambda label: (-total[label], label))


def _panel(
    canvas: Canvas, panel: BarPanel, order: Sequence[str], whose: Mapping[str, str], at: tuple[float, float, float]
) -> None:
    start, stop, bottom = at
    shown = [(label, who, share) for label, who, share in panel.bars if who in whose]
    most = max((end for _, _, one in shown for end in (one.value or 0.0, *(one.interval or ()))), default=1.0) or 1.0
    step = round_step(most, 5)
    scale = Ruler(0.0, step * math.ceil(most / step - 1e-9), start, stop)
    canvas.along(scale, bottom, scale.ticks(5), per_cent, title="share of justifications", top=20)
    each, bar = (bottom - 20) / max(1, len(order)), 12 if len(whose) > 1 else 20
    for label, who, share in shown:
        y = 20 + each * order.index(label) + 2.5 + bar * list(whose).index(who)
        canvas.box(scale(0), y, scale(share.value or 0.0) - scale(0), bar - 1, fill=whose[who], opacity=0.85)
        if share.interval is not None:
            middle = y + (bar - 1) / 2
            canvas.line([(scale(end), middle) for end in share.interval], stroke=INK, width=1.3)


LONGEST_NAME = 130
"""Pixels of a leaning name; the tables hold it whole."""
DARK_FROM = 0.72
"""Above this rate a cell is so dark that white letters read better."""
LIGHTEST, DARKEST = (0xF4, 0xF1, 0xE6), (0x0B, 0x5F, 0x58)


def heat_map(plot: HeatMap) -> str:
    """Rows and columns stand in the order given; what a cell says stands in it."""
    canvas, left, tall = Canvas(), _beside(plot.rows), 34 if _two_lines(plot.rows) else 26
    fits = max(map(width_of, plot.columns), default=0.0) + 6 < (WIDTH - EDGE - left) / max(1, len(plot.columns))
    names = [name if fits else cut_to(name, LONGEST_NAME) for name in plot.columns]
    lean = 0.0 if fits else 40.0
    top = 18.0 if fits else 16 + 0.66 * max(map(width_of, names))
    right = WIDTH - EDGE - (0 if fits else 70)  # the last name leans over the edge
    wide = (right - left) / max(1, len(names))
    for column, name in enumerate(names):
        middle = left + wide * (column + 0.5)
        canvas.text(middle, top - 11, name, anchor="middle" if fits else "start", turn=-lean)
    for row, name in enumerate(plot.rows):
        canvas.name(left - GAP, top + tall * (row + 0.5), name)
    across, down = ({name: at for at, name in enumerate(names)} for names in (plot.columns, plot.rows))
    for level, model, value, label in plot.cells:
        x, y = left + wide * across[model], top + tall * down[level]
        if value is not None:
            canvas.box(x, y, wide, tall, fill=_shade(value), edge=GROUND)
        fill = "white" if (value or 0.0) > DARK_FROM else ON_LIGHT if value is not None else INK
        canvas.text(x + wide / 2, y + tall / 2, label, size=11.5, fill=fill, anchor="middle")
    return canvas.svg(plot.title, plot.subtitle, width=WIDTH, height=top + tall * len(plot.rows) + 4)


def _shade(value: float) -> str:
    share = min(1.0, max(0.0, value))
    mixed = (round(low + share * (high - low)) for low, high in zip(LIGHTEST, DARKEST, strict=True))
    return "#" + "".join(f"{one:02x}" for one in mixed)


BETTER, UNSURE, WORSE = MARK, "#7c8783", "#b4471c"
SAYS = {"better": BETTER, "too close to say": UNSURE, "worse": WORSE}


def forest(plot: Forest) -> str:
    """Points with their intervals and their numbers beside them.

    An estimate without an interval is a hollow point, never a line of no width.
    """
    if plot.form == "points":
        return _signed(plot)
    entries = [(name, one) for name, one in plot.entries if one.value is not None]
    names, canvas, share = [name for name, _ in entries], Canvas(), plot.form == "percent"
    numbers = [_numbers(one, share=share) for _, one in entries]
    left, each = _beside(names), 36 if _two_lines(names) else 25
    right = WIDTH - EDGE - GAP - max((width_of(words, 11.5) for words in numbers), default=0.0)
    scale = Ruler(*_ends([one for _, one in entries], plot.reference, share=share), left, right)
    bottom = each * max(1, len(names)) + 10.0
    canvas.along(scale, bottom, scale.ticks(6), per_cent if share else plain, top=0.1)
    if plot.reference is not None:
        canvas.line([(scale(plot.reference), 0), (scale(plot.reference), bottom)], stroke=FAINT, dashed=True)
    for row, ((name, one), words) in enumerate(zip(entries, numbers, strict=True)):
        middle = 5 + each * (row + 0.5)
        canvas.name(left - GAP, middle, name)
        if one.interval is not None:
            canvas.line([(scale(end), middle) for end in one.interval], stroke=MARK, width=2)
        canvas.dot(scale(one.value or 0.0), middle, hue=MARK, hollow=one.interval is None)
        canvas.text(right + GAP, middle, words, size=11.5)
    return canvas.svg(plot.title, plot.subtitle, width=WIDTH, height=bottom + 22)


def _numbers(estimate: Estimate, *, share: bool) -> str:
    """The numbers of a row, as the table beneath writes them."""
    words = shown(estimate, "percent" if share else "number")
    return words.line if estimate.interval is not None else words.value


def _ends(estimates: Sequence[Estimate], reference: float | None, *, share: bool) -> tuple[float, float]:
    """The axis, to the next whole step on either side; shares stay between 0 and 1."""
    points = [end for one in estimates for end in (one.value, *(one.interval or ())) if end is not None]
    points += [] if reference is None else [reference]
    low, high = min(points, default=0.0), max(points, default=1.0)
    if not share and high - low < 1e-6:
        low, high = low - 0.5, high + 0.5
    step = 0.1 if share else 10.0 ** math.floor(math.log10(high - low))
    ends = (step * math.floor(low / step + 1e-9), step * math.ceil(high / step - 1e-9))
    return (max(0.0, ends[0]), min(1.0, ends[1])) if share else ends


def _signed(plot: Forest) -> str:
    """Differences in percentage points: better, worse, or too close to say; without an interval a hollow point."""
    entries = [(name, one) for name, one in plot.entries if one.value is not None]
    names, canvas = [name for name, _ in entries], Canvas()
    ends = [100 * abs(end) for _, one in entries for end in (one.value or 0.0, *(one.interval or ()))]
    step = round_step(2.1 * max([5.0, *ends]), 9)
    reach = step * math.ceil(1.05 * max([5.0, *ends]) / step)
    left = _beside(names)
    scale = Ruler(-reach, reach, left, WIDTH - EDGE - 16)
    top = canvas.legend(left, 4, list(SAYS.items()), columns=len(SAYS)) + 4
    bottom = top + 38 * max(1, len(names)) + 10
    canvas.along(scale, bottom, scale.ticks(9), _with_sign, title="percentage points", top=top)
    canvas.line([(scale(0), top), (scale(0), bottom)], stroke=FAINT)
    for row, (name, one) in enumerate(entries):
        middle, value = top + 5 + 38 * (row + 0.5), 100 * (one.value or 0.0)
        hue = SAYS[_says(one)]
        canvas.name(left - GAP, middle, name)
        if one.interval is not None:
            canvas.line([(scale(100 * end), middle) for end in one.interval], stroke=hue, width=2.5)
        canvas.dot(scale(value), middle, hue=hue, hollow=one.interval is None)
        canvas.text(scale(value), middle - 12, shown(value / 100, "points").value, size=11, anchor="middle")
    return canvas.svg(plot.title, plot.subtitle, width=WIDTH, height=bottom + 40)


def _says(estimate: Estimate) -> str:
    low, high = estimate.interval or (0.0, 0.0)
    return "better" if low > 0 else "worse" if high < 0 else "too close to say"


def _with_sign(value: float) -> str:
    return ("+" if value > 1e-9 else "") + plain(value)
