"""What all figures share: colours, type, frame; and drawing them to SVG and PNG without a browser."""

from __future__ import annotations

import json
import re
from typing import Any

Specification = dict[str, Any]
"""A Vega-Lite specification."""
INK, FAINT, GRID, GROUND = "#1d2422", "#57625e", "#dfe3de", "#ffffff"
ON_LIGHT = "#111111"
"""Text on a light mark: it stays dark when the page does not."""
MARK = "#0f766e"
WIDTH = 660
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
        "labelLimit": 260,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    "title": {"anchor": "start", "color": INK, "fontSize": 14, "offset": 12, "subtitleColor": FAINT},
    "legend": {"labelColor": INK, "titleColor": FAINT, "orient": "top", "labelFontSize": 12, "titleFontSize": 12},
}


def framed(body: dict[str, Any], *, title: str, height: int) -> Specification:
    """A body with the house frame around it."""
    schema = "https://vega.github.io/schema/vega-lite/v5.json"
    return {"$schema": schema, "config": CONFIG, "title": title, "width": WIDTH, "height": height, **body}


def subtitled(specification: Specification, words: str) -> Specification:
    """The same figure with a line below its title."""
    return specification | {"title": {"text": specification["title"], "subtitle": words}}


def to_svg(specification: Specification) -> str:
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(json.dumps(specification))
    # The renderer numbers its ids through a process's life; ours begin anew with each figure.
    numbers: dict[str, str] = {}
    return re.sub(r"(gradient_|clip)\d+", lambda found: numbers.setdefault(found[0], f"{found[1]}{len(numbers)}"), svg)


def to_png(specification: Specification, *, scale: float = 2.0) -> bytes:
    return svg_to_png(to_svg(specification), scale=scale)


def svg_to_png(svg: str, *, scale: float = 2.0) -> bytes:
    import vl_convert

    png: bytes = vl_convert.svg_to_png(svg, scale=scale)
    return png
