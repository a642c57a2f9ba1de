"""What all figures share: colours, type, frame."""

from __future__ import annotations

import textwrap
from typing import Any

Specification = dict[str, Any]
"""A Vega-Lite specification."""
INK, FAINT, GRID, GROUND = "#1d2422", "#57625e", "#dfe3de", "#ffffff"
ON_LIGHT = "#111111"
"""Text on a light mark: it stays dark when the page does not."""
MARK = "#0f766e"
HUES = ("#00846b", "#d55e00", "#3b7fc4", "#c25e97", "#8f7d00", "#7a6fd0", "#1f93a5", "#7d7d7d")
"""Models apart: as many as one can tell apart, on light ground and on dark, also by those who see colours otherwise."""
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
WIDTH = 760
"""Of a whole figure with its labels, so that letters have one size in all figures of a page."""
WIDEST_LABEL = 40
"""Letters in a line beside an axis; longer names take two lines."""
NAMES: dict[str, Any] = {
    "labelExpr": "split(datum.label, '\\n')",
    "labelOffset": {"condition": {"test": "indexof(datum.label, '\\n') >= 0", "value": -7}, "value": 0},
    "grid": False,
}
"""The axis of names that `in_lines` broke, each in the middle of its row."""
CONFIG: dict[str, Any] = {
    "background": GROUND,
    "font": "Noto Sans, Liberation Sans, DejaVu Sans, sans-serif",
    "view": {"stroke": None},
    # The usual minus sign is missing from some fonts, and a figure is drawn with the fonts that are there.
    "locale": {"number": {"decimal": ".", "thousands": ",", "grouping": [3], "currency": ["$", ""], "minus": "-"}},
    "axis": {
        "labelColor": INK,
        "titleColor": FAINT,
        "gridColor": GRID,
        "domainColor": GRID,
        "tickColor": GRID,
        "labelLimit": 320,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    "axisX": {"labelFlush": False},
    "axisY": {"labelPadding": 9},
    "title": {"anchor": "start", "color": INK, "fontSize": 14, "offset": 12, "subtitleColor": FAINT},
    "legend": {"labelColor": INK, "titleColor": FAINT, "orient": "top", "labelFontSize": 12, "titleFontSize": 12},
}


def framed(body: dict[str, Any], *, title: str, height: int) -> Specification:
    """A body with the house frame around it."""
    fitted = {"type": "fit-x", "contains": "padding"}
    frame = {"$schema": SCHEMA, "config": CONFIG, "width": WIDTH, "height": height, "autosize": fitted}
    return {**frame, "title": title, **body}


def subtitled(specification: Specification, words: str) -> Specification:
    """The same figure with a line below its title, after those it has."""
    title = specification["title"]
    known = title if isinstance(title, dict) else {"text": title}
    lines = known.get("subtitle", [])
    return specification | {"title": {**known, "subtitle": [*([lines] if isinstance(lines, str) else lines), words]}}


def in_lines(name: str) -> str:
    """A long name broken where words end."""
    return "\n".join(textwrap.wrap(name, WIDEST_LABEL, break_long_words=False, break_on_hyphens=False)) or name
