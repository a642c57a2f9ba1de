"""Windows metafiles by an allow-list of records: what draws stays, comments, escapes and descriptions go."""

from __future__ import annotations

import struct

from guildhall.errors import CannotScrub

_EMF_DRAWS = frozenset({*range(1, 70), *range(71, 105), 108, *range(111, 116), 118, 119})
"""All but comments (70), and but what asks printers and colour systems for something."""
_WMF_DRAWS = frozenset(
    int(code, 16)
    for code in """1E 35 37 F7 102 103 104 105 106 107 108 127 12A 12C 12D 12E 139 142 149 1F0 1F9 201 209 20A 20B 20C
    20D 20E 20F 211 213 214 220 228 231 234 2FA 2FB 2FC 324 325 410 412 415 416 418 419 41B 41F 436 521 538 548 61C 61D
    6FF 817 81A 830 922 940 A32 B23 B41 D33 F43""".split()  # noqa: SIM905 - a list to be read
)
"""All but escapes (626)."""
_FONTS = {82: 12 + 28, 0x02FB: 6 + 18}
"""Records that hold a font, and where its name begins: what follows the name's end is blanked."""


def scrub_metafile(data: bytes) -> bytes:
    try:
        return _enhanced(data) if data[40:44] == b" EMF" else _old(data)
    except struct.error as error:
        raise CannotScrub("metafile", "its records are damaged") from error


def _enhanced(data: bytes) -> bytes:
    (size,) = struct.unpack_from("<I", data, 4)
    head = data[8:40] + b" EMF" + data[44:48]
    kept, at, drawn = [], size, 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if size < 8 or size % 4 or at + size > len(data):
            raise CannotScrub("metafile", "its records are damaged")
        if kind == 70 and data[at + 12 : at + 16] == b"EMF+":
            drawn += 1
        elif kind == 14:
            break
        elif kind in _EMF_DRAWS:
            record = data[at : at + size]
            kept.append(_without_tail(record, _FONTS[82], 2) if kind == 82 else record)
        at += size
    if drawn and not kept:
        raise CannotScrub("metafile", "it is drawn in records that cannot be looked into")
    body = b"".join(kept) + struct.pack("<IIIII", 14, 20, 0, 16, 20)
    counted = struct.pack("<IIHHIII", 88 + len(body), len(kept) + 2, *struct.unpack_from("<H", data, 56), 0, 0, 0, 0)
    return struct.pack("<II", 1, 88) + head + counted + data[72:88] + body


def _old(data: bytes) -> bytes:
    place = 22 if data.startswith(b"\xd7\xcd\xc6\x9a") else 0
    front, at = data[:place], place + 18
    kept = []
    while True:
        words, kind = struct.unpack_from("<IH", data, at)
        if words < 3 or at + 2 * words > len(data):
            raise CannotScrub("metafile", "its records are damaged")
        record = data[at : at + 2 * words]
        at += 2 * words
        if kind == 0:
            break
        if kind in _WMF_DRAWS:
            kept.append(_without_tail(record, _FONTS[0x02FB], 1) if kind == 0x02FB else record)
    body = b"".join(kept) + b"\x03\0\0\0\0\0"
    widest = max((len(record) // 2 for record in kept), default=3)
    (version, objects) = struct.unpack_from("<H", data, place + 4) + struct.unpack_from("<H", data, place + 10)
    return front + struct.pack("<HHHIHIH", 1, 9, version, (18 + len(body)) // 2, objects, widest, 0) + body


def _without_tail(record: bytes, start: int, width: int) -> bytes:
    """A font's record with nothing behind the end of its name."""
    end = start
    while end + width <= len(record) and any(record[end : end + width]):
        end += width
    return record[:end] + bytes(len(record) - end)
