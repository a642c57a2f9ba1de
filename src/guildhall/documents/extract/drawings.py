"""CAD files as facts: what a drawing or model holds, and the words in it."""

from __future__ import annotations

import re
import struct
from collections import Counter

from guildhall.documents.extract.plain import decode_text
from guildhall.documents.extract.writing import Writer

Facts = dict[str, "str | int | float | bool | None"]
_PRODUCT = re.compile(r"=\s*PRODUCT\s*\(\s*'((?:[^']|'')*)'")
_ENTITY = re.compile(r"^#\d+\s*=\s*\(?\s*([A-Z0-9_]+)", re.MULTILINE)


def extract_step(data: bytes, writer: Writer) -> Facts:
    """Products by name and how many entities of which type the model has."""
    text = decode_text(data)
    products = sorted(set(_PRODUCT.findall(text)))
    entities = Counter(_ENTITY.findall(text))
    for product in products:
        writer.add(f"product: {product}", unit="products")
    for name, count in entities.most_common(30):
        writer.add(f"{count} x {name}", unit="entity types")
    return {"products": len(products), "entities": sum(entities.values())}


def extract_dxf(data: bytes, writer: Writer) -> Facts:
    """Entities by type and layer, and every text in the drawing."""
    lines = decode_text(data).splitlines()
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
    for name, count in sorted((+types).items()):
        writer.add(f"{count} x {name}", unit="entity types")
    return {"entities": sum(types.values()), "layers": len(layers)}


def extract_stl(data: bytes, writer: Writer) -> Facts:
    """How many triangles a solid has and how large it is, in its own units."""
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else -1
    if count >= 0 and len(data) == 84 + 50 * count:
        points = [xyz for index in range(count) for xyz in _triangle(data, 84 + 50 * index)]
    else:
        found = re.findall(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)", data)
        points = [tuple(map(float, point)) for point in found]
    if not points:
        writer.add("a solid without triangles")
        return {"triangles": 0}
    sizes = [max(axis) - min(axis) for axis in zip(*points, strict=True)]
    writer.add(f"{len(points) // 3} triangles, {' x '.join(f'{size:g}' for size in sizes)} units")
    return {"triangles": len(points) // 3, **{f"size {axis}": size for axis, size in zip("xyz", sizes, strict=True)}}


def _triangle(data: bytes, offset: int) -> list[tuple[float, ...]]:
    numbers = struct.unpack_from("<9f", data, offset + 12)
    return [numbers[0:3], numbers[3:6], numbers[6:9]]
