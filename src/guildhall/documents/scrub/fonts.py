"""Fonts inside documents by allow-lists: outlines, widths and codes stay, names and everything else go."""

from __future__ import annotations

import io
import re
import struct

from fontTools.cffLib import CFFFontSet  # type: ignore[import-untyped]

from guildhall.errors import CannotScrub

_TABLES = frozenset(
    """head hhea hmtx maxp loca glyf cvt fpgm prep gasp cmap CFF OS/2 post vhea vmtx VORG kern GPOS GSUB GDEF COLR CPAL
    hdmx VDMX LTSH CFF2""".split()  # noqa: SIM905 - a list to be read
)
FONT_KEY = "{00000000-0000-4000-8000-000000000001}"
"""With which an embedded font is scrambled; the same in every file."""
_MIXED = 32


def plain_font(data: bytes) -> bytes:
    """A TrueType or OpenType font with the tables that are drawn from, each as it was but for dates and makers."""
    try:
        (count,) = struct.unpack_from(">H", data, 4)
        tables: dict[bytes, bytes] = {}
        for entry in range(12, 12 + 16 * count, 16):
            tag, _, offset, length = struct.unpack_from(">4sIII", data, entry)
            if tag.decode("latin-1").strip() in _TABLES:
                tables[tag] = _plain_table(tag, data[offset : offset + length])
    except struct.error as error:
        raise CannotScrub("font", "its tables are damaged") from error
    power = max(len(tables), 1).bit_length() - 1
    head = struct.pack(">4sHHHH", data[:4], len(tables), 16 << power, power, 16 * len(tables) - (16 << power))
    listed, body, at = b"", b"", 12 + 16 * len(tables)
    for tag, table in sorted(tables.items()):
        padded = table + bytes(-len(table) % 4)
        total = sum(struct.unpack(f">{len(padded) // 4}I", padded)) & 0xFFFFFFFF
        listed += struct.pack(">4sIII", tag, total, at + len(body), len(table))
        body += padded
    return head + listed + body


def _plain_table(tag: bytes, table: bytes) -> bytes:
    if tag == b"head" and len(table) >= 54:
        return table[:20] + bytes(16) + table[36:54]
    if tag == b"OS/2":
        return table[:58] + b"    " + table[62:100]
    if tag == b"post":
        return b"\0\3\0\0" + table[4:32]
    return plain_cff(table) if tag == b"CFF " else table


def plain_cff(data: bytes) -> bytes:
    """The outlines of a compact font, written anew without the words about it."""
    try:
        fonts = CFFFontSet()
        fonts.decompile(io.BytesIO(data), None)
        font = fonts[0]
        for words in (
            "version",
            "Notice",
            "Copyright",
            "FullName",
            "FamilyName",
            "Weight",
            "PostScript",
            "BaseFontName",
        ):
            font.rawDict.pop(words, None)
            font.__dict__.pop(words, None)
        fonts.fontNames = ["Font"]
        out = io.BytesIO()
        fonts.compile(out, None)
    except Exception as error:
        raise CannotScrub("font", f"it is damaged ({type(error).__name__})") from error
    return out.getvalue()


def plain_type_1(data: bytes, clear: int, coded: int) -> tuple[bytes, tuple[int, int, int]]:
    """An old font under a head of ours: its coding, matrix and box are taken over, its outlines stay as they are."""
    head, outlines = data[:clear], data[clear : clear + coded]
    found = [
        re.search(rb"/FontMatrix\s*\[[-+\d.eE\s]*\]", head),
        re.search(rb"/FontBBox\s*[\[{][-+\d.eE\s]*[\]}]", head),
        re.search(rb"/Encoding\s+StandardEncoding", head),
    ]
    kinds = [one[0] + b" readonly def\n" for one in found if one]
    codes = re.findall(rb"dup\s+(\d+)\s*(/[A-Za-z0-9._]{1,30})\s+put", head)
    if codes:
        kinds.append(b"/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\n")
        kinds += [b"dup " + code + b" " + name + b" put\n" for code, name in codes] + [b"readonly def\n"]
    if found[0] is None or not outlines:
        raise CannotScrub("font", "its head is damaged")
    front = b"%!PS-AdobeFont-1.0: Font\n11 dict begin\n/FontType 1 def\n/PaintType 0 def\n/FontName /Font def\n"
    made = front + b"".join(kinds) + b"currentdict end\ncurrentfile eexec\n"
    tail = b"\n" + (b"0" * 64 + b"\n") * 8 + b"cleartomark\n"
    return made + outlines + tail, (len(made), len(outlines), len(tail))


def plain_odttf(data: bytes, key: str) -> bytes:
    """A font as word processing packages keep it: its first bytes mixed with a key that stands beside it."""
    return _mixed(plain_font(_mixed(data, key)), FONT_KEY)


def _mixed(data: bytes, key: str) -> bytes:
    digits = re.sub(r"[^0-9A-Fa-f]", "", key)
    if len(digits) != _MIXED:
        raise CannotScrub("font", "it is scrambled with a key that is not told")
    mask = bytes.fromhex(digits)[::-1] * 2
    return bytes(one ^ other for one, other in zip(data[:_MIXED], mask, strict=False)) + data[_MIXED:]
