"""Vega-Lite specifications drawn to SVG and PNG without a browser, here or in a process of its own.

    python -m guildhall.reports.svg FOLDER

reads a figure a line, as a JSON list of name and specification, and tells the name when its SVG is written; once no
more come it makes the PNGs. It ends with its standard input, so nothing is left behind by whoever is killed.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def to_svg(specification: Mapping[str, Any]) -> str:
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(json.dumps(specification))
    # The renderer numbers its ids through a process's life; ours begin anew with each figure.
    numbers: dict[str, str] = {}
    return re.sub(r"(gradient_|clip)\d+", lambda found: numbers.setdefault(found[0], f"{found[1]}{len(numbers)}"), svg)


def to_png(specification: Mapping[str, Any], *, scale: float = 2.0) -> bytes:
    return svg_to_png(to_svg(specification), scale=scale)


def svg_to_png(svg: str, *, scale: float = 2.0) -> bytes:
    import vl_convert

    png: bytes = vl_convert.svg_to_png(svg, scale=scale)
    return png


def write_svg(folder: Path, name: str, figure: Mapping[str, Any]) -> None:
    """Whole or not at all: the other process may look for it."""
    part = folder / f"{name}.svg.part"
    part.write_text(to_svg(figure), encoding="utf-8")
    part.rename(folder / f"{name}.svg")


def write_png(folder: Path, name: str) -> None:
    """Unless somebody else has begun it."""
    try:
        out = (folder / f"{name}.png").open("xb")
    except FileExistsError:
        return
    with out:
        out.write(svg_to_png((folder / f"{name}.svg").read_text(encoding="utf-8")))


def main(folder: Path) -> None:
    to_svg({"mark": "point"})  # the program takes long to start
    names = []
    for line in sys.stdin:
        name, figure = json.loads(line)
        write_svg(folder, name, figure)
        names.append(name)
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()
    for name in names:
        write_png(folder, name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
