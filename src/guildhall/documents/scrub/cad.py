"""CAD: the header of a drawing or model becomes uniform; its geometry is copied as it is."""

from __future__ import annotations

import re

from guildhall.documents.scrub.names import FIXED_STAMP, SIGNATURE, ScrubContext, ScrubLedger
from guildhall.errors import CannotScrub

_STRING = r"'(?:[^']|'')*'"
_STEP_DESCRIPTION = re.compile(rf"FILE_DESCRIPTION\s*\(\s*\((?:[^()']|{_STRING})*\)\s*,\s*({_STRING})\s*\)\s*;")
_STEP_PEOPLE = re.compile(
    r"=\s*(PERSON|ORGANIZATION|ADDRESS|PERSONAL_ADDRESS|ORGANIZATIONAL_ADDRESS)\s*"
    rf"\(((?:[^()']|{_STRING}|\((?:[^()']|{_STRING})*\))*)\)"
)
_STEP_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def scrub_step(data: bytes, ledger: ScrubLedger, _context: ScrubContext | None = None) -> bytes:
    """The model's entities as they are; file name, people, firms, dates and programs become constants."""
    text = data.decode("latin-1")
    names = f"FILE_NAME('model','{FIXED_STAMP[:-1]}',(''),(''),'{SIGNATURE}','{SIGNATURE}','');"
    head, mark, body = text.partition("ENDSEC;")
    if not mark or "FILE_NAME" not in head:
        raise CannotScrub("STEP", "its header is missing or broken")
    head, comments = _STEP_COMMENT.subn("", head)
    start = head.index("FILE_NAME")
    head = head[:start] + names + head[_statement_end(head, start) :]
    head = _STEP_DESCRIPTION.sub(r"FILE_DESCRIPTION((''),\1);", head)
    ledger.clean("STEP header", "made uniform")
    ledger.clean("comments", "removed", comments)

    def blank_strings(found: re.Match[str]) -> str:
        ledger.clean("people and firms", "blanked")
        blanked = re.sub(_STRING, "''", found[2])
        return f"={found[1]}({blanked})"

    return (head + mark + _STEP_PEOPLE.sub(blank_strings, body)).encode("latin-1")


def _statement_end(text: str, start: int) -> int:
    for token in re.finditer(rf"{_STRING}|;", text[start:]):
        if token[0] == ";":
            return start + token.end()
    raise CannotScrub("STEP", "its header is missing or broken")


_DXF_PERSONAL = frozenset(
    [
        "$LASTSAVEDBY",
        "$PROJECTNAME",
        "$HYPERLINKBASE",
        "$STYLESHEET",
        "$CUSTOMPROPERTYTAG",
        "$CUSTOMPROPERTY",
        "$MENU",
        "$FINGERPRINTGUID",
        "$VERSIONGUID",
    ]
)
_DXF_TIMES = frozenset(["$TDCREATE", "$TDUCREATE", "$TDUPDATE", "$TDUUPDATE", "$TDINDWG", "$TDUSRTIMER"])


def scrub_dxf(data: bytes, ledger: ScrubLedger, _context: ScrubContext | None = None) -> bytes:
    """Header variables with names, ids and times become constants, comments go; entities are copied."""
    if data.startswith(b"AutoCAD Binary DXF"):
        raise CannotScrub("DXF", "it is a binary drawing, which is not handled")
    newline = b"\r\n" if b"\r\n" in data[:4096] else b"\n"
    lines = data.split(newline)
    out: list[bytes] = []
    variable = ""
    for index in range(0, len(lines) - 1, 2):
        code, value = lines[index].strip(), lines[index + 1]
        if code == b"999":
            ledger.clean("comments", "removed")
            continue
        if code in (b"9", b"0"):
            variable = value.strip().decode("latin-1") if code == b"9" else ""
        elif variable in _DXF_PERSONAL:
            value = b"{00000000-0000-4000-8000-000000000000}" if variable.endswith("GUID") else b""
            ledger.clean("drawing header", "made uniform")
        elif variable in _DXF_TIMES:
            value = b"2451544.5" if "DATE" in variable or "CREATE" in variable else b"0.0"
            ledger.clean("drawing header", "made uniform")
        out += [lines[index], value]
    return newline.join(out) + newline


def scrub_stl(data: bytes, ledger: ScrubLedger, _context: ScrubContext | None = None) -> bytes:
    """The triangles as they are; the free header or the solid's name becomes a constant."""
    ledger.clean("STL header", "made uniform")
    triangles = int.from_bytes(data[80:84], "little") if len(data) >= 84 else -1
    if len(data) >= 84 + 50 * triangles and triangles >= 0 and not _is_text_stl(data):
        return SIGNATURE.encode().ljust(80, b" ") + data[80 : 84 + 50 * triangles]
    return re.sub(rb"(?m)^(\s*(?:end)?solid)[ \t][^\r\n]*", rb"\1 " + SIGNATURE.encode(), data)


def _is_text_stl(data: bytes) -> bool:
    return data.lstrip()[:5].lower() == b"solid" and b"facet" in data[:2000].lower()
