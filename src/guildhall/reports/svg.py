"""Figures as PNG, here or in a process of its own: the drawing program holds Python's lock while it works.

    python -m guildhall.reports.svg FOLDER

reads the names of figures, a line each, and makes the PNG of each SVG in the folder. It ends with its standard input,
so nothing is left behind by whoever is killed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import vl_convert


def svg_to_png(svg: str, *, scale: float = 2.0) -> bytes:
    png: bytes = vl_convert.svg_to_png(svg, scale=scale)
    return png


def write_png(folder: Path, name: str) -> None:
    """Unless somebody else has begun it."""
    try:
        out = (folder / f"{name}.png").open("xb")
    except FileExistsError:
        return
    with out:
        out.write(svg_to_png((folder / f"{name}.svg").read_text(encoding="utf-8")))


def main(folder: Path) -> None:
    for line in sys.stdin:
        write_png(folder, line.rstrip("\n"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
