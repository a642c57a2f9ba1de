"""CAD files as facts: what a drawing or model holds, and the words in it."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from guildhall.documents.extract.plain import decode_text
from guildhall.documents.extract.writing import Facts, FileToRead, Writer

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PRODUCT = re.compile(r"=\s*PRODUCT\s*\(\s*'((?:[^']|'')*)'")
_VERTEX = re.compile(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)")
_ENTITY = re.compile(r"^#\d+\s*=\s*\(?\s*([A-Z0-9_]+)", re.MULTILINE)


def extract_step(file: FileToRead, writer: Writer) -> Facts:
    """Products by name: how they are put together in the file tells programs apart."""
    text = decode_text(file.data())
    products = sorted(set(_PRODUCT.findall(text)))
    entities = Counter(_ENTITY.findall(text))
    for product in products:
        writer.add(f"product: {product}", unit="products")
    return {"products": len(products), "entities": sum(entities.values())}


def extract_dxf(file: FileToRead, writer: Writer) -> Facts:
    """Every text in the drawing."""
    lines = decode_text(file.data()).splitlines()
    pairs = list(zip((code.strip() for code in lines[::2]), lines[1::2], strict=False))
    types: Counter[str] = Counter()
    layers: set[str] = set()
    section = entity = ""
    for code, value in pairs:
        if code == "2" and entity == "SECTION":
            section = value.strip()
        if code == "0":
            entity = value.strip()
            types[entity] += section == "ENTITIES" and entity != "ENDSEC"
        elif code == "8":
            layers.add(value.strip())
        elif code == "1" and entity in ("TEXT", "MTEXT", "ATTRIB", "DIMENSION") and value.strip():
            writer.add(f"text: {value.strip()}", unit="texts")
    return {"entities": sum(types.values()), "layers": len(layers)}


def extract_stl(file: FileToRead, writer: Writer) -> Facts:
    """How many triangles a solid has and how large it is, in its own units; impossible corners are counted."""
    triangles = stl_triangles(file.data())
    sound = triangles[np.isfinite(triangles).all(axis=(1, 2))]
    if len(sound) < len(triangles):
        writer.omit("triangles", "their corners are not at finite numbers", len(triangles) - len(sound))
    if not len(sound):
        writer.add("a solid without triangles")
        return {"triangles": 0}
    sizes = np.ptp(sound.reshape(-1, 3), axis=0).tolist()
    writer.add(f"{len(sound)} triangles, {' x '.join(f'{size:g}' for size in sizes)} units")
    return {"triangles": len(sound), **{f"size {axis}": size for axis, size in zip("xyz", sizes, strict=True)}}


def stl_triangles(data: bytes) -> NDArray[np.float64]:
    """The corners of each triangle (n x 3 x 3), of either form of the format; what is no number is NaN."""
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else -1
    if count >= 0 and len(data) == 84 + 50 * count:
        facets = np.frombuffer(data, dtype=[("normal", "<3f4"), ("corners", "<9f4"), ("free", "<u2")], offset=84)
        return np.asarray(facets["corners"], dtype=float).reshape(-1, 3, 3)
    corners = [[_number(part) for part in point] for point in _VERTEX.findall(data)]
    return np.array(corners[: len(corners) // 3 * 3], dtype=float).reshape(-1, 3, 3)


def _number(word: bytes) -> float:
    try:
        return float(word)
    except ValueError:
        return float("nan")
