"""CAD files as pictures: solids in four views without a graphics card, flat drawings as one SVG and its picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw

from guildhall.documents.extract.drawings import stl_triangles
from guildhall.documents.kinds import Kind
from guildhall.documents.render.images import save_page, svg_picture, upright
from guildhall.documents.render.step import polylines, read_step
from guildhall.documents.values import Omission, PageImage, Rendered
from guildhall.errors import UnreadableFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Points = NDArray[np.float64]

MOST_TRIANGLES = 120_000
FARTHEST = 1e30
"""Beyond this, squares of distances would no longer be numbers."""


def draw_model(file: Path, out: Path, *, kind: str) -> Rendered:
    """An STL shaded, a STEP as its edges, a DXF as a drawing; other CAD formats cannot be read here."""
    match Kind(kind):
        case Kind.STL:
            return _draw_stl(file, out)
        case Kind.STEP:
            return _draw_step(file, out)
        case Kind.DXF:
            return _draw_dxf(file, out)
        case _:
            raise UnreadableFile(file, f"no reader for {kind} is at hand")


def _draw_stl(file: Path, out: Path) -> Rendered:
    triangles = stl_triangles(file.read_bytes())
    drawable = triangles[(np.abs(triangles) < FARTHEST).all(axis=(1, 2))]
    if not len(drawable):
        raise UnreadableFile(file, "holds no drawable triangles")
    reason = "their corners are not at finite numbers"
    lost = len(triangles) - len(drawable)
    omitted = (Omission(what="triangles", reason=reason, count=lost),) if lost else ()
    shown, too_small = _largest(drawable)
    return _rendered(Kind.STL, draw_triangles(shown, out), omitted=(*omitted, *too_small))


def _largest(triangles: NDArray[np.float64]) -> tuple[NDArray[np.float64], tuple[Omission, ...]]:
    left_out = len(triangles) - MOST_TRIANGLES
    if left_out <= 0:
        return triangles, ()
    areas = np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1)
    reason = f"only the {MOST_TRIANGLES} largest are drawn"
    return triangles[np.argsort(-areas)[:MOST_TRIANGLES]], (Omission(what="triangles", reason=reason, count=left_out),)


def _draw_step(file: Path, out: Path) -> Rendered:
    step = read_step(file.read_text(encoding="latin-1"))
    lines = polylines(step)
    if not lines:
        raise UnreadableFile(file, "holds no edges that can be drawn")
    warnings = ["surfaces are shown by their edges only"]
    if step.straightened:
        warnings.append(f"drawn as straight lines: {', '.join(sorted(step.straightened))[:120]}")
    return _rendered(Kind.STEP, draw_lines(lines, out), warnings=tuple(warnings))


def _draw_dxf(file: Path, out: Path) -> Rendered:
    # Here, because it takes a fifth of a second and few files are drawings.
    from ezdxf import recover
    from ezdxf.addons.drawing import layout, svg
    from ezdxf.addons.drawing.config import BackgroundPolicy, ColorPolicy, Configuration
    from ezdxf.addons.drawing.frontend import Frontend
    from ezdxf.addons.drawing.properties import RenderContext
    from ezdxf.lldxf.const import DXFError

    try:
        document, auditor = recover.readfile(file)
        backend = svg.SVGBackend()
        on_paper = Configuration(background_policy=BackgroundPolicy.WHITE, color_policy=ColorPolicy.COLOR_SWAP_BW)
        Frontend(RenderContext(document), backend, config=on_paper).draw_layout(document.modelspace())
        drawing = backend.get_string(
            layout.Page(0, 0, layout.Units.mm, layout.Margins.all(5), max_width=400, max_height=300)
        )
    except (DXFError, OSError) as error:
        raise UnreadableFile(file, f"cannot be read as DXF ({error})") from error
    (out / "drawing.svg").write_text(drawing, encoding="utf-8")
    page = save_page(upright(svg_picture(drawing)), out, 1, label="model space")
    warnings = (f"{len(auditor.fixes)} faults were mended to open it",) if auditor.fixes else ()
    return _rendered(Kind.DXF, [page], warnings=warnings, also=(out / "drawing.svg",))


def _rendered(
    kind: Kind,
    pages: list[PageImage],
    *,
    warnings: tuple[str, ...] = (),
    omitted: tuple[Omission, ...] = (),
    also: tuple[Path, ...] = (),
) -> Rendered:
    return Rendered(kind=kind, renderer="own views", pages=tuple(pages), warnings=warnings, omitted=omitted, also=also)


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


def _painted(corners: Points, order: NDArray[np.intp], shades: NDArray[np.int_]) -> Image.Image:
    sheet = Image.new("L", (SIDE * SHARPER, SIDE * SHARPER), 255)
    brush = ImageDraw.Draw(sheet)
    flat, tones = corners.reshape(-1, 6).tolist(), shades.tolist()
    for index in order:
        brush.polygon(flat[index], fill=tones[index])
    return sheet


def _traced(lines: Sequence[Points]) -> Image.Image:
    sheet = Image.new("L", (SIDE * SHARPER, SIDE * SHARPER), 255)
    brush = ImageDraw.Draw(sheet)
    for line in lines:
        brush.line(line.ravel().tolist(), fill=40, width=SHARPER)
    return sheet


def _saved(sheets: Sequence[Image.Image], out: Path) -> list[PageImage]:
    return [
        save_page(sheet.resize((SIDE, SIDE)).convert("RGB"), out, number, label=f"{name} view")
        for number, (name, sheet) in enumerate(zip(VIEWS, sheets, strict=True), 1)
    ]
