"""CAD files as pictures: solids in four views, flat drawings as one SVG and its picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from guildhall.documents.kinds import Kind
from guildhall.documents.render.images import save_page, svg_picture, upright
from guildhall.documents.values import Omission, PageImage, Rendered
from guildhall.errors import UnreadableFile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
    import numpy as np

    from guildhall.documents.extract.drawings import stl_triangles
    from guildhall.documents.render.views import draw_triangles

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
    import numpy as np

    left_out = len(triangles) - MOST_TRIANGLES
    if left_out <= 0:
        return triangles, ()
    areas = np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1)
    reason = f"only the {MOST_TRIANGLES} largest are drawn"
    return triangles[np.argsort(-areas)[:MOST_TRIANGLES]], (Omission(what="triangles", reason=reason, count=left_out),)


def _draw_step(file: Path, out: Path) -> Rendered:
    from guildhall.documents.render.step import polylines, read_step
    from guildhall.documents.render.views import draw_lines

    step = read_step(file.read_text(encoding="latin-1"))
    lines = polylines(step)
    if not lines:
        raise UnreadableFile(file, "holds no edges that can be drawn")
    warnings = ["surfaces are shown by their edges only"]
    if step.straightened:
        warnings.append(f"drawn as straight lines: {', '.join(sorted(step.straightened))[:120]}")
    return _rendered(Kind.STEP, draw_lines(lines, out), warnings=tuple(warnings))


def _draw_dxf(file: Path, out: Path) -> Rendered:
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
