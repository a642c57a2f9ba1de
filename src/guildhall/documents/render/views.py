"""Four views of a shape (from a corner, front, top, right), drawn without a graphics card."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from guildhall.documents.render.images import save_page
from guildhall.documents.values import PageImage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from PIL.Image import Image

    Points = NDArray[np.float64]

SIDE, MARGIN, SHARPER = 900, 40, 2
_ROOT = 0.5**0.5
VIEWS: dict[str, tuple[tuple[float, float, float], tuple[float, float, float]]] = {
    "corner": ((_ROOT, _ROOT, 0.0), (-(6**-0.5), 6**-0.5, 2 * 6**-0.5)),
    "front": ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
    "top": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    "right": ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
}
"""For each view the directions that point right and up on the page."""
_LIGHT = np.array((0.3, 0.5, 0.81))


def draw_triangles(triangles: Points, out: Path) -> list[PageImage]:
    """Shaded views of an (n, 3, 3) array, the nearer triangles painted over the farther ones."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0)
    sheets = []
    for right, up in VIEWS.values():
        flat, depth = _projected(triangles.reshape(-1, 3), right, up)
        order = np.argsort(depth.reshape(-1, 3).mean(axis=1))
        frame = np.array((right, up, np.cross(right, up)))
        shades = (70 + 170 * np.abs((normals @ frame.T) @ _LIGHT)).clip(0, 255).astype(int)
        sheets.append(_painted(flat.reshape(-1, 3, 2), order, shades))
    return _saved(sheets, out)


def draw_lines(lines: Sequence[Points], out: Path) -> list[PageImage]:
    """Views of polylines, each an (n, 3) array."""
    everything = np.concatenate(lines)
    sheets = []
    for right, up in VIEWS.values():
        flat, _ = _projected(everything, right, up)
        sheets.append(_traced(np.split(flat, np.cumsum([len(line) for line in lines])[:-1])))
    return _saved(sheets, out)


def _projected(points: Points, right: Sequence[float], up: Sequence[float]) -> tuple[Points, Points]:
    """Positions on a square sheet, and how near each point is to the eye."""
    x, y = points @ np.array(right), points @ np.array(up)
    span = max(float(np.ptp(x)), float(np.ptp(y))) or 1.0
    scale = (SIDE - 2 * MARGIN) * SHARPER / span
    centre = SIDE * SHARPER / 2
    across = centre + (x - (x.max() + x.min()) / 2) * scale
    down = centre - (y - (y.max() + y.min()) / 2) * scale
    return np.stack((across, down), axis=1), points @ np.cross(right, up)


def _painted(corners: Points, order: NDArray[np.intp], shades: NDArray[np.int_]) -> Image:
    from PIL import Image, ImageDraw

    sheet = Image.new("L", (SIDE * SHARPER, SIDE * SHARPER), 255)
    brush = ImageDraw.Draw(sheet)
    flat, tones = corners.reshape(-1, 6).tolist(), shades.tolist()
    for index in order:
        brush.polygon(flat[index], fill=tones[index])
    return sheet


def _traced(lines: Sequence[Points]) -> Image:
    from PIL import Image, ImageDraw

    sheet = Image.new("L", (SIDE * SHARPER, SIDE * SHARPER), 255)
    brush = ImageDraw.Draw(sheet)
    for line in lines:
        brush.line(line.ravel().tolist(), fill=40, width=SHARPER)
    return sheet


def _saved(sheets: Sequence[Image], out: Path) -> list[PageImage]:
    return [
        save_page(sheet.resize((SIDE, SIDE)).convert("RGB"), out, number, label=f"{name} view")
        for number, (name, sheet) in enumerate(zip(VIEWS, sheets, strict=True), 1)
    ]
