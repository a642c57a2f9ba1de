"""Pictures: the coded pixels stay; EXIF, XMP, C2PA, texts, times, thumbnails, tails and the words of profiles go.

Work is on the container (chunks, segments, blocks), never on the coded picture, so nothing is compressed anew.
A turned photograph keeps the one EXIF entry that turns it. JPEG 2000 is here as PDF files hold it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from guildhall.documents.scrub.names import ScrubContext, ScrubLedger
from guildhall.errors import CannotScrub

_PNG_KEPT = frozenset(
    b"IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP mDCV cLLI sBIT bKGD hIST pHYs sPLT acTL fcTL fdAT".split()
)


def scrub_png(data: bytes, ledger: ScrubLedger, _context: ScrubContext | None = None) -> bytes:
    """Only the chunks that say how the picture looks; what follows the last chunk is dropped."""
    out = [data[:8]]
    offset = 8
    while offset + 12 <= len(data):
        length = int.from_bytes(data[offset : offset + 4], "big")
        name, body = data[offset + 4 : offset + 8], data[offset + 8 : offset + 8 + length]
        offset += 12 + length
        if name == b"iCCP":
            out.append(_png_chunk(name, _plain_png_profile(body)))
            ledger.clean("colour profile texts", "blanked")
        elif name in _PNG_KEPT:
            out.append(_png_chunk(name, body))
        else:
            ledger.clean(f"PNG {name.decode('latin-1')} chunk", "removed")
        if name == b"IEND":
            break
    else:
        raise CannotScrub("PNG", "it ends before its last chunk")
    if offset < len(data):
        ledger.clean("bytes after the picture", "removed")
    return b"".join(out)


def _png_chunk(name: bytes, body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")


def _plain_png_profile(body: bytes) -> bytes:
    _, _, rest = body.partition(b"\0")
    profile = zlib.decompressobj().decompress(rest[1:], 1 << 24)
    return b"icc\0\0" + zlib.compress(blank_profile(profile), 9)


def scrub_jpeg(data: bytes, ledger: ScrubLedger, _context: ScrubContext | None = None) -> bytes:
    """Segments before and between the scans are sifted; the scans are copied as they are."""
    out = [data[:2]]
    for marker, body in _jpeg_segments(data):
        kept = _jpeg_segment(marker, body, ledger)
        if kept is not None:
            out.append(kept)
    out.append(b"\xff\xd9")
    return b"".join(out)


def _jpeg_segments(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(marker, body) up to the end of the image; for a scan the body holds its coded data too."""
    offset = 2
    while offset + 4 <= len(data):
        if data[offset] != 0xFF:
            raise CannotScrub("JPEG", "its segments are damaged")
        marker = data[offset + 1]
        if marker == 0xFF:
            offset += 1
            continue
        if marker == 0xD9:
            return
        length = int.from_bytes(data[offset + 2 : offset + 4], "big")
        end = offset + 2 + length
        if marker == 0xDA:
            end = _end_of_scan(data, end)
        yield marker, data[offset + 4 : end] if marker != 0xDA else data[offset + 2 : end]
        offset = end
    if data[offset : offset + 2] != b"\xff\xd9":
        raise CannotScrub("JPEG", "it ends before its end marker")


def _end_of_scan(data: bytes, offset: int) -> int:
    while True:
        offset = data.find(b"\xff", offset)
        if offset < 0 or offset + 1 >= len(data):
            raise CannotScrub("JPEG", "its picture data is cut off")
        following = data[offset + 1]
        if following != 0 and not 0xD0 <= following <= 0xD7 and following != 0xFF:
            return offset
        offset += 1 if following == 0xFF else 2


def _jpeg_segment(marker: int, body: bytes, ledger: ScrubLedger) -> bytes | None:
    if marker == 0xDA:
        return b"\xff\xda" + body
    if marker == 0xE0 and body.startswith(b"JFIF\0") and len(body) >= 14:
        return _segment(marker, body[:12] + b"\0\0")  # version and density; a thumbnail would follow
    if marker == 0xE1 and body.startswith(b"Exif\0\0"):
        ledger.clean("EXIF", "removed")
        turn = orientation(body[6:])
        return _segment(marker, b"Exif\0\0" + turned_exif(turn)) if turn != 1 else None
    if marker == 0xE2 and body.startswith(b"ICC_PROFILE\0"):
        ledger.clean("colour profile texts", "blanked")
        # A profile over several segments has its header and texts in the first one, save for huge ones.
        return _segment(marker, body[:14] + blank_profile(body[14:]))
    if 0xE0 <= marker <= 0xEF and not (marker == 0xEE and body.startswith(b"Adobe")):
        ledger.clean(f"JPEG APP{marker - 0xE0} segment", "removed")
        return None
    if marker == 0xFE:
        ledger.clean("JPEG comment", "removed")
        return None
    return _segment(marker, body)


def _segment(marker: int, body: bytes) -> bytes:
    return bytes((0xFF, marker)) + (len(body) + 2).to_bytes(2, "big") + body


def orientation(tiff: bytes) -> int:
    """How a photograph must be turned (EXIF tag 274), 1 when it says nothing."""
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    if order is None or len(tiff) < 14:
        return 1
    (start,) = struct.unpack_from(order + "I", tiff, 4)
    if start + 2 > len(tiff):
        return 1
    (count,) = struct.unpack_from(order + "H", tiff, start)
    for entry in range(start + 2, min(start + 2 + 12 * count, len(tiff) - 11), 12):
        tag, kind, _, value = struct.unpack_from(order + "HHIH", tiff, entry)
        if tag == 274 and kind == 3 and 1 <= value <= 8:
            return int(value)
    return 1


def turned_exif(turn: int) -> bytes:
    return struct.pack("<2sHIHHHIHHI", b"II", 42, 8, 1, 274, 3, 1, turn, 0, 0)


def scrub_gif(data: bytes, ledger: ScrubLedger, _context: ScrubContext | None = None) -> bytes:
    """Frames, their timing and the number of loops stay; comments and application blocks go."""
    offset = 13 + _palette_size(data[10])
    out = [data[:offset]]
    while offset < len(data):
        start, block = offset, data[offset]
        if block == 0x3B:
            return b"".join([*out, b";"])
        if block == 0x2C:
            offset = _after_blocks(data, offset + 10 + _palette_size(data[offset + 9]) + 1)
            out.append(data[start:offset])
            continue
        if block != 0x21:
            break
        label = data[offset + 1]
        offset = _after_blocks(data, offset + 2)
        loops = label == 0xFF and data[start + 3 : start + 14] in (b"NETSCAPE2.0", b"ANIMEXTS1.0")
        if label in (0xF9, 0x01) or loops:
            out.append(data[start:offset])
        else:
            ledger.clean("GIF comment or application block", "removed")
    raise CannotScrub("GIF", "its blocks are damaged")


def _palette_size(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _after_blocks(data: bytes, offset: int) -> int:
    while offset < len(data) and data[offset]:
        offset += data[offset] + 1
    return offset + 1


_WEBP_KEPT = frozenset({b"VP8X", b"VP8 ", b"VP8L", b"ALPH", b"ANIM", b"ANMF", b"ICCP"})


def scrub_webp(data: bytes, ledger: ScrubLedger, _context: ScrubContext | None = None) -> bytes:
    """Picture, alpha and animation chunks stay; EXIF (save a turn), XMP and unknown chunks go."""
    kept, offset, turn = [], 12, 1
    while offset + 8 <= len(data):
        name, size = data[offset : offset + 4], int.from_bytes(data[offset + 4 : offset + 8], "little")
        body = data[offset + 8 : offset + 8 + size]
        offset += 8 + size + size % 2
        if name == b"EXIF":
            turn = orientation(body.removeprefix(b"Exif\0\0"))
        if name not in _WEBP_KEPT:
            ledger.clean(f"WebP {name.decode('latin-1').strip()} chunk", "removed")
            continue
        kept.append((name, blank_profile(body) if name == b"ICCP" else body))
    if turn != 1 and kept and kept[0][0] == b"VP8X":
        kept.append((b"EXIF", turned_exif(turn)))
    chunks = b"".join(_riff_chunk(name, _webp_flags(body, turn) if name == b"VP8X" else body) for name, body in kept)
    return b"RIFF" + (len(chunks) + 4).to_bytes(4, "little") + b"WEBP" + chunks


def _webp_flags(header: bytes, turn: int) -> bytes:
    """The extended header with its "has XMP" flag off and "has EXIF" on only for a turned photograph."""
    return bytes((header[0] & ~0x0C | (0x08 if turn != 1 else 0),)) + header[1:]


def _riff_chunk(name: bytes, body: bytes) -> bytes:
    return name + len(body).to_bytes(4, "little") + body + b"\0" * (len(body) % 2)


def scrub_bmp(data: bytes, ledger: ScrubLedger, _context: ScrubContext | None = None) -> bytes:
    """A bitmap has no room for metadata but its reserved bytes, the gap before its pixels and its tail."""
    size, pixels = int.from_bytes(data[2:6], "little"), int.from_bytes(data[10:14], "little")
    if not 26 <= size <= len(data) or pixels > size:
        raise CannotScrub("BMP", "its stated size does not fit the file")
    head = min(pixels, 14 + _bitmap_header(data))
    if any(data[head:pixels]) or any(data[6:10]) or len(data) > size:
        ledger.clean("bytes that show nothing", "blanked")
    return data[:6] + bytes(4) + data[10:head] + bytes(pixels - head) + data[pixels:size]


def _bitmap_header(data: bytes) -> int:
    """Length of the header with its colour masks and palette."""
    header, depth = int.from_bytes(data[14:18], "little"), int.from_bytes(data[28:30], "little")
    if header < 40:
        return header + (3 << depth if depth <= 8 else 0)
    masks = 16 if header == 40 and int.from_bytes(data[30:34], "little") in (3, 6) else 0
    colours = int.from_bytes(data[46:50], "little") or (1 << depth if depth <= 8 else 0)
    return header + masks + 4 * colours


_TEXT_TAGS = frozenset(
    {b"desc", b"cprt", b"dmnd", b"dmdd", b"vued", b"targ", b"scrn", b"psd1", b"psd2", b"psd3", b"psd0"}
)
_TEXT_TYPES = frozenset({b"desc", b"mluc", b"text", b"data", b"dict", b"ZXML", b"utf8"})
_HEADER_TRACES = ((24, 36), (48, 64), (80, 100))
"""Date; manufacturer, model and attributes; creator and profile id."""

_SRGB, _SRGB_AT = b"sRGB IEC61966-2.1", 0x190
"""Readers know the commonest profile of all by this name in this place, and then compute colours in another way."""


def blank_profile(profile: bytes) -> bytes:
    """The same profile, byte for byte as long, in which every text and maker's mark is zeros, save sRGB's own name."""
    if len(profile) < 132 or profile[36:40] != b"acsp":
        return profile
    blanked = bytearray(profile)
    for start, end in _HEADER_TRACES:
        blanked[start:end] = bytes(end - start)
    count = min(int.from_bytes(profile[128:132], "big"), 200)
    for entry in range(132, 132 + 12 * count, 12):
        name, offset, size = profile[entry : entry + 4], *_pair(profile[entry + 4 : entry + 12])
        body = profile[offset : offset + size]
        if name in _TEXT_TAGS or body[:4] in _TEXT_TYPES:
            _blank_text(blanked, offset, body)
    if profile[_SRGB_AT : _SRGB_AT + len(_SRGB)] == _SRGB:
        blanked[_SRGB_AT : _SRGB_AT + len(_SRGB)] = _SRGB
    return bytes(blanked)


def _pair(data: bytes) -> tuple[int, int]:
    return int.from_bytes(data[:4], "big"), int.from_bytes(data[4:], "big")


def _blank_text(profile: bytearray, offset: int, body: bytes) -> None:
    """Counts and offsets inside the tag stay, so that strict readers still accept it; the characters go."""
    keep = 8
    if body[:4] == b"desc":
        keep = 12
    elif body[:4] == b"mluc":
        keep = 16 + 12 * min(int.from_bytes(body[8:12], "big"), 50)
    profile[offset + keep : offset + len(body)] = bytes(max(0, len(body) - keep))


_KEPT_BOXES = frozenset({b"jP  ", b"ftyp", b"rreq", b"jp2h", b"jpch", b"jplh", b"jp2c", b"cgrp", b"ftbl"})
_START, _REMARK, _FIRST_TILE = b"\xff\x4f", b"\xff\x64", b"\xff\x90"


def scrub_jpeg_2000(data: bytes, ledger: ScrubLedger) -> bytes:
    """A file of boxes or a bare picture; each box that neither draws nor describes the drawing is left out."""
    if data.startswith(_START):
        return _without_remarks(data, ledger)
    out = []
    for name, body in _boxes(data):
        if name not in _KEPT_BOXES:
            ledger.clean("JPEG 2000 box", "removed")
            continue
        kept = _without_remarks(body, ledger) if name == b"jp2c" else body
        out.append((len(kept) + 8).to_bytes(4, "big") + name + kept)
    return b"".join(out)


def _boxes(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 0
    while at + 8 <= len(data):
        length, name, head = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8], 8
        if length == 1:
            length, head = int.from_bytes(data[at + 8 : at + 16], "big"), 16
        end = at + length if length else len(data)
        if end < at + head or end > len(data):
            raise CannotScrub("JPEG 2000", "its boxes are damaged")
        yield name, data[at + head : end]
        at = end


def _without_remarks(picture: bytes, ledger: ScrubLedger) -> bytes:
    """The coded picture without the remarks in its head, where encoders leave their name."""
    out, at = [picture[:2]], 2
    while picture[at : at + 2] != _FIRST_TILE:
        length = int.from_bytes(picture[at + 2 : at + 4], "big")
        end = at + 2 + length
        if length < 2 or end > len(picture):
            raise CannotScrub("JPEG 2000", "its head is damaged")
        if picture[at : at + 2] == _REMARK:
            ledger.clean("JPEG 2000 remark", "removed")
        else:
            out.append(picture[at:end])
        at = end
    return b"".join([*out, picture[at:]])
