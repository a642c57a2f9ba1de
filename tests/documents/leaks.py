"""The leak test: a search of every byte a grader could be served, also where bytes are packed."""

from __future__ import annotations

import base64
import gzip
import io
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

CANARY = "CanaryQ7"


def leaks(data: bytes, canary: str = CANARY) -> list[str]:
    """Where a canary is found in these bytes: plain, in UTF-16, in hex, in base64, in zips, tars, gzips and PDFs."""
    return sorted(set(_search(data, canary, "file", 0)))


def _search(data: bytes, canary: str, place: str, depth: int) -> Iterator[str]:
    if depth > 6:
        return
    lowered = data.lower()
    for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
        if canary.lower().encode(encoding) in lowered:
            yield f"{place} ({encoding})"
    if canary.encode().hex().encode() in lowered:
        yield f"{place} (hex)"
    for name, inner in inside(data):
        yield from _search(inner, canary, f"{place}/{name}", depth + 1)


def inside(data: bytes) -> Iterator[tuple[str, bytes]]:
    """What is packed in these bytes, one layer deep."""
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                yield name, archive.read(name) + name.encode()
    elif data.startswith(b"\x1f\x8b"):
        yield "gzip", gzip.decompress(data)
    elif data[257:262] == b"ustar":
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for entry in archive:
                stream = archive.extractfile(entry)
                yield entry.name, stream.read() if stream else b""
    elif data.startswith(b"%PDF"):
        yield from _inside_pdf(data)
    elif data.startswith(b"\x89PNG"):
        for chunk in re.finditer(rb"(?:zTXt|iTXt|iCCP)", data):
            yield "png text", _inflated(data[chunk.end() : chunk.end() + 65536])
    for number, found in enumerate(re.findall(rb"[A-Za-z0-9+/]{64,}={0,2}", data[:2_000_000])[:50]):
        yield f"base64 {number}", _decoded(found)


def _inflated(data: bytes) -> bytes:
    start = data.find(b"\x78")
    try:
        return zlib.decompressobj().decompress(data[max(0, start) :], 1 << 20)
    except zlib.error:
        return b""


def _decoded(found: bytes) -> bytes:
    try:
        return base64.b64decode(found[: len(found) // 4 * 4])
    except ValueError:
        return b""


def _inside_pdf(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Every string and every unpacked stream; the trailer too, which no object holds."""
    import pikepdf

    with pikepdf.open(io.BytesIO(data)) as pdf:
        for number, item in enumerate([*pdf.objects, pdf.trailer]):
            yield f"object {number}", _pdf_bytes(item, 0)
            if isinstance(item, pikepdf.Stream):
                try:
                    yield f"stream {number}", item.read_bytes()
                except pikepdf.PdfError:
                    yield f"stream {number}", _unpacked_once(pdf, item)


def _unpacked_once(pdf: Any, stream: Any) -> bytes:
    """A coded picture as it is stored in the file, freed of whatever it was packed in besides."""
    import pikepdf

    chain = stream.get("/Filter")
    raw: bytes = stream.read_raw_bytes()
    if not isinstance(chain, pikepdf.Array) or len(chain) < 2:
        return raw
    packed = pdf.make_stream(b"")
    packed.write(raw, filter=pikepdf.Array(list(chain)[:-1]))
    unpacked: bytes = packed.read_bytes()
    return unpacked


def _pdf_bytes(item: Any, depth: int) -> bytes:
    import pikepdf

    if depth > 20 or (depth and isinstance(item, pikepdf.Object) and item.is_indirect):
        return b""
    if isinstance(item, pikepdf.String):
        return bytes(item) + str(item).encode()
    if isinstance(item, (pikepdf.Dictionary, pikepdf.Stream)):
        return b" ".join(key.encode() + b" " + _pdf_bytes(value, depth + 1) for key, value in item.items())
    if isinstance(item, pikepdf.Array):
        return b" ".join(_pdf_bytes(value, depth + 1) for value in item)
    return str(item).encode()
