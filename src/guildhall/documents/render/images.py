"""Pictures as pages: opened within a pixel limit, turned upright, re-encoded so that nothing else travels along."""

from __future__ import annotations

import io
import re
from pathlib import Path

import vl_convert
from PIL import Image, ImageCms, ImageOps, ImageSequence, UnidentifiedImageError

from guildhall.documents.kinds import Kind
from guildhall.documents.values import Omission, PageImage, Rendered
from guildhall.errors import UnreadableFile

RENDERER = "pillow"
OPEN_PIXELS = 60_000_000
"""A picture with more is not opened: decoding it would take hundreds of megabytes."""
SHOWN_SIDE = 4096
_LINKED = re.compile(
    r"<(?:image|use|feImage|script|audio|video)\b[^>]*\bhref\s*=\s*[\"'](?!#|data:)|@import\b", re.IGNORECASE
)
FRAMES = 24


def draw_picture(file: Path, out: Path, *, kind: str) -> Rendered:
    """Every frame up to a limit as one page; larger pictures are shown reduced, which is said."""
    if kind == Kind.SVG:
        return _draw_vector(file, out)
    Image.MAX_IMAGE_PIXELS = None  # our own limit, with our own words, comes first
    pages, warnings = [], []
    try:
        with Image.open(file) as picture:
            if picture.width * picture.height > OPEN_PIXELS:
                size = f"{picture.width} x {picture.height} pixels"
                raise UnreadableFile(file, f"has {size}; at most {OPEN_PIXELS // 10**6} million are opened")
            count = getattr(picture, "n_frames", 1)
            for number, frame in enumerate(ImageSequence.Iterator(picture), 1):
                if number > FRAMES:
                    break
                pages.append(save_page(upright(frame), out, number, label=f"frame {number}" if count > 1 else ""))
            if max(picture.size) > SHOWN_SIDE:
                warnings.append(f"shown reduced from {picture.width} x {picture.height} pixels")
    except UnidentifiedImageError as error:
        raise UnreadableFile(file, "cannot be opened as a picture") from error
    left = [Omission(what="frames", reason=f"only the first {FRAMES} are shown", count=count - FRAMES)]
    return Rendered(
        kind=Kind(kind),
        renderer=RENDERER,
        pages=tuple(pages),
        warnings=tuple(warnings),
        omitted=tuple(left) if count > FRAMES else (),
    )


def upright(picture: Image.Image) -> Image.Image:
    """As a viewer would show it on white, at most `SHOWN_SIDE` wide."""
    seen = as_seen(picture)
    seen.thumbnail((SHOWN_SIDE, SHOWN_SIDE))
    if seen.mode == "RGBA":
        return Image.alpha_composite(Image.new("RGBA", seen.size, "white"), seen).convert("RGB")
    return seen


def as_seen(picture: Image.Image) -> Image.Image:
    """Pixels and nothing else, in colours or with transparency: turned as EXIF says, its colour profile applied."""
    turned = ImageOps.exif_transpose(picture) or picture
    if turned.mode.startswith(("I", "F")):
        turned = _stretched(turned)
    mode = "RGBA" if turned.has_transparency_data else "RGB"
    seen = _in_srgb(turned, mode) or turned.convert(mode)
    if mode == "RGBA" and seen.getchannel("A").getextrema()[0] == 255:
        seen, mode = seen.convert("RGB"), "RGB"  # a channel that nobody sees
    return Image.frombytes(mode, seen.size, seen.tobytes())  # what was told beside the pixels stays behind


def _in_srgb(picture: Image.Image, mode: str) -> Image.Image | None:
    """The colours its profile means; None where it has none, or one that does not fit."""
    profile = picture.info.get("icc_profile")
    if not profile or picture.mode not in ("RGB", "RGBA", "L", "CMYK"):
        return None
    if picture.mode != mode and mode == "RGBA":
        return None
    try:
        told = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        return ImageCms.profileToProfile(picture, told, ImageCms.createProfile("sRGB"), outputMode=mode)
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return None


def _stretched(picture: Image.Image) -> Image.Image:
    """16- and 32-bit grey reduced to 8 bits over the range it uses; clipping would show it all white."""
    import numpy as np  # here, because a room draws many pictures and few of them need it

    levels = np.asarray(picture, dtype=float)
    low, high = float(levels.min()), float(levels.max())
    return Image.fromarray(((levels - low) * (255 / ((high - low) or 1))).astype("uint8"))


def _draw_vector(file: Path, out: Path) -> Rendered:
    """An SVG as one page; what it would load from elsewhere is counted, and never fetched."""
    svg = file.read_text(encoding="utf-8", errors="replace")
    page = save_page(upright(svg_picture(svg)), out, 1)
    linked = len(_LINKED.findall(svg))
    reason = "files and addresses that a drawing loads are not fetched"
    side = _longer_side(svg)
    return Rendered(
        kind=Kind.SVG,
        renderer="resvg",
        pages=(page,),
        warnings=(f"shown reduced: it asks for a side of {side:g}",) if side > OPEN_PIXELS else (),
        omitted=(Omission(what="linked resources", reason=reason, count=linked),) if linked else (),
    )


def svg_picture(svg: str, *, side: int = 1600) -> Image.Image:
    """Rasterise an SVG so that its longer side has about `side` pixels."""
    return Image.open(io.BytesIO(vl_convert.svg_to_png(svg, scale=side / _longer_side(svg))))


_CSS_PIXELS = {"": 1.0, "px": 1.0, "pt": 96 / 72, "pc": 16.0, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0}


def _longer_side(svg: str) -> float:
    """In pixels at scale 1, from the size the drawing states or its view box; 1000 when it states neither."""
    tag = re.search(r"<svg\b[^>]*>", svg)
    opening = tag[0] if tag else ""
    size = r"\b(?:width|height)\s*=\s*[\"']\s*(\d*\.?\d+(?:[eE]\d+)?)\s*([a-z]*)\s*[\"']"
    stated = [float(number) * _CSS_PIXELS.get(unit, 0) for number, unit in re.findall(size, opening)]
    if len(stated) < 2 or not all(stated):
        box = re.search(r"viewBox\s*=\s*[\"']\s*\S+[\s,]+\S+[\s,]+(\d*\.?\d+)[\s,]+(\d*\.?\d+)", opening)
        stated = [float(side) for side in box.groups()] if box else []
    return max(stated, default=0) or 1000


def save_page(picture: Image.Image, out: Path, number: int, *, label: str = "") -> PageImage:
    """Keep a picture as page `number`."""
    path = out / f"page-{number:03}.png"
    picture.save(path, compress_level=1)
    return PageImage(number=number, image=path, width=picture.width, height=picture.height, label=label)
