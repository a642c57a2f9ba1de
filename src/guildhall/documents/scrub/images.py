"""Pictures by allow-lists of chunks and segments: the coded pixels stay, and what colours are computed from.

Work is on the container, never on the coded picture, so nothing is compressed anew. Other kinds than PNG and JPEG are
drawn again as PNG. A turned photograph keeps the one EXIF entry that turns it. JPEG 2000 is here as PDF files hold it.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator

from PIL import Image

from guildhall.documents.scrub.names import ScrubContext, ScrubLedger
from guildhall.errors import CannotScrub

_PNG_KEPT = frozenset(
    b"IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP mDCV cLLI sBIT bKGD pHYs acTL fcTL fdAT".split()
)


def plain_picture(data: bytes, ledger: ScrubLedger) -> bytes:
    """A picture inside a document as PNG or JPEG, whatever it was."""
    if data.startswith(b"\x89PNG"):
        return scrub_png(data, ledger)
    if data.startswith(b"\xff\xd8"):
        return scrub_jpeg(data, ledger)
    try:
        with Image.open(io.BytesIO(data)) as picture:
            picture.convert("RGBA" if picture.has_transparency_data else "RGB").save(out := io.BytesIO(), "PNG")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise CannotScrub("picture", f"it is damaged ({type(error).__name__})") from error
    with Image.open(out) as drawn:
        plain = Image.frombytes(drawn.mode, drawn.size, drawn.tobytes())
    plain.save(again := io.BytesIO(), "PNG")
    return again.getvalue()


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
    if marker == 0xEE and body.startswith(b"Adobe"):
        return _segment(marker, body[:12])
    if marker in _JPEG_DRAWS:
        return _segment(marker, body)
    ledger.clean("JPEG segments not known to show anything", "removed")
    return None


_JPEG_DRAWS = frozenset({*range(0xC0, 0xD0), 0xDB, 0xDC, 0xDD}) - {0xC8}
"""Frames, tables of both codings, intervals and heights."""


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


_COLOUR_TAGS = frozenset(
    b"rXYZ gXYZ bXYZ rTRC gTRC bTRC kTRC wtpt bkpt lumi chad A2B0 A2B1 A2B2 B2A0 B2A1 B2A2 D2B0 B2D0 gamt cicp".split()
)
"""Tags of a profile that colours are computed from."""
_NAMED_TAGS = {b"desc": 12, b"cprt": 8}
"""Tags that no profile may lack, and how much of them is no text."""
_HEADER_KEPT = ((0, 24), (36, 48), (64, 80))
"""All but date; manufacturer, model and attributes; creator and profile id."""
_SRGB, _SRGB_AT = b"sRGB IEC61966-2.1", 0x190
"""Readers know the commonest profile of all by this name in this place, and then compute colours in another way."""


def blank_profile(profile: bytes) -> bytes:
    """The same profile, as long and laid out as before, with zeros wherever no colour is computed from."""
    if len(profile) < 132 or profile[36:40] != b"acsp":
        return bytes(len(profile))
    blank = bytearray(len(profile))
    for start, end in _HEADER_KEPT:
        blank[start:end] = profile[start:end]
    count, kept = min(int.from_bytes(profile[128:132], "big"), 200), 0
    for entry in range(132, 132 + 12 * count, 12):
        name, offset, size = profile[entry : entry + 4], *_pair(profile[entry + 4 : entry + 12])
        head = _NAMED_TAGS.get(name, size if name in _COLOUR_TAGS else 0)
        if head:
            blank[132 + 12 * kept : 144 + 12 * kept] = profile[entry : entry + 12]
            blank[offset : offset + min(head, size)] = profile[offset : offset + min(head, size)]
            kept += 1
    blank[128:132] = kept.to_bytes(4, "big")
    if profile[_SRGB_AT : _SRGB_AT + len(_SRGB)] == _SRGB:
        blank[_SRGB_AT : _SRGB_AT + len(_SRGB)] = _SRGB
    return bytes(blank[: len(profile)])


def _pair(data: bytes) -> tuple[int, int]:
    return int.from_bytes(data[:4], "big"), int.from_bytes(data[4:], "big")


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
