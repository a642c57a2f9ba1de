"""What a file is, told by its content; its name is only a claim, and a wrong claim is reported.

Only a bounded head and tail are read, nothing is unpacked and no XML is parsed, so a hostile file costs no
more than a sound one.
"""

from __future__ import annotations

import re
from pathlib import Path

from guildhall.documents.handing import require_regular
from guildhall.documents.kinds import Family, Kind, claimed_kind
from guildhall.documents.zip_contents import entries
from guildhall.domain.values import Value
from guildhall.errors import UnreadableFile

HEAD_BYTES = 1 << 16
TAIL_BYTES = 1 << 20
"""The tail holds a zip's table of contents: 1 MiB lists some ten thousand members."""


class Detected(Value):
    """What a file is, how that was told ("content", or "content and name" where only the name can tell
    apart two kinds of text), and whether its name claims something else; `unpacked` is what a zip says it holds."""

    kind: Kind
    by: str
    claimed: Kind | None = None
    mismatch: bool = False
    macros: bool = False
    encrypted: bool = False
    size: int = 0
    unpacked: int = 0


def detect(path: Path) -> Detected:
    """The kind of the file at `path`; what cannot be told is `Kind.UNKNOWN`, never a guess from the name."""
    size = require_regular(path)
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
            stream.seek(max(0, size - TAIL_BYTES))
            tail = stream.read(TAIL_BYTES)
    except OSError as error:
        raise UnreadableFile(path, f"cannot be opened ({error.strerror})") from error
    return detect_bytes(head, tail, name=path.name, size=size)


def detect_bytes(head: bytes, tail: bytes, *, name: str, size: int) -> Detected:
    """As `detect`, for bytes already at hand (a member of an archive)."""
    claimed = claimed_kind(name)
    listed = entries(head, tail) if head.startswith((b"PK\x03\x04", b"PK\x05\x06")) else ()
    members = frozenset(entry.name for entry in listed)
    kind = _kind(head, tail, members, size)
    by = "content"
    if kind is Kind.TEXT and claimed is not None and claimed.family is Family.TEXT:
        kind, by = claimed, "content and name"
    return Detected(
        kind=kind,
        by=by,
        claimed=claimed,
        mismatch=claimed is not None and claimed is not kind and not _compatible(claimed, kind),
        macros=any(member.lower().endswith("vbaproject.bin") or member.startswith("Basic/") for member in members)
        or (kind.row.stream != "" and kind.family is Family.OFFICE and b"V\0B\0A\0" in head + tail)
        or (kind is Kind.PDF and _PDF_ACTION.search(head + tail) is not None),
        encrypted=kind is Kind.ENCRYPTED or (kind is Kind.PDF and b"/Encrypt" in head + tail),
        size=size,
        unpacked=sum(entry.unpacked for entry in listed),
    )


_PDF_ACTION = re.compile(rb"/S\s*/(JavaScript|Launch)\b")


def _compatible(claimed: Kind, kind: Kind) -> bool:
    both_text = claimed.family is Family.TEXT and kind.family is Family.TEXT
    return both_text or (kind.row.like != "" and kind.row.like == claimed.row.like)


def _kind(head: bytes, tail: bytes, members: frozenset[str], size: int) -> Kind:
    if size == 0:
        return Kind.EMPTY
    if head.startswith(b"PK"):
        return _zip_kind(head, members)
    if head.startswith(_OLE):
        return _ole_kind(head, tail)
    return _by_signature(head, size) or _text_kind(head, tail)


_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def _zip_kind(head: bytes, members: frozenset[str]) -> Kind:
    for mimetype, kind in _OPEN_DOCUMENT.items():
        if head[30:].startswith(b"mimetype" + mimetype):
            return kind
    if "[Content_Types].xml" in members:
        lower = {member.lower() for member in members}
        for start, kind in _PACKAGE_PARTS:
            if any(member.startswith(start) for member in lower):
                return kind
    return Kind.ZIP


_OPEN_DOCUMENT = {kind.row.media_type.encode(): kind for kind in Kind if ".opendocument." in kind.row.media_type}
_PACKAGE_PARTS = [(kind.row.parts[place], kind) for place in (0, 1) for kind in Kind if kind.is_package]
"""Main parts first: a workbook may keep a stray folder that another program would."""


def _ole_kind(head: bytes, tail: bytes) -> Kind:
    """Old Office files name their streams in UTF-16; an encrypted new one keeps its zip in `EncryptedPackage`."""
    for kind in _STREAMS:
        stream = kind.row.stream.encode("utf-16-le")
        if stream in head or stream in tail:
            return kind
    return Kind.UNKNOWN


_STREAMS = (Kind.ENCRYPTED, *(kind for kind in Kind if kind.row.stream and kind is not Kind.ENCRYPTED))
_SIGNATURES = [(signature, kind) for kind in Kind for signature in kind.row.starts]
_RIFF = {kind.row.riff: kind for kind in Kind if kind.row.riff}


def _by_signature(head: bytes, size: int) -> Kind | None:
    for signature, kind in _SIGNATURES:
        if head.startswith(signature) and not (kind is Kind.EXECUTABLE and b"\0" not in head):
            return kind
    if b"%PDF-" in head[:1024]:
        return Kind.PDF
    if head[:2] == b"BM" and int.from_bytes(head[2:6], "little") == size:
        return Kind.BMP
    if head[257:262] == b"ustar":
        return Kind.TAR
    return _riff_kind(head) or _media_kind(head) or _binary_stl(head, size)


def _riff_kind(head: bytes) -> Kind | None:
    if head[:4] != b"RIFF":
        return None
    return _RIFF.get(head[8:12])


def _media_kind(head: bytes) -> Kind | None:
    if head[4:8] == b"ftyp":
        brand = head[8:12]
        return Kind.MOV if brand == b"qt  " else Kind.M4A if brand in (b"M4A ", b"M4B ") else Kind.MP4
    if head.startswith(b"\x1aE\xdf\xa3"):
        return Kind.WEBM if b"webm" in head[:64] else Kind.MKV
    if len(head) > 2 and head[0] == 0xFF and head[1] in (0xFB, 0xF3, 0xF2, 0xFA):
        return Kind.MP3
    return None


def _binary_stl(head: bytes, size: int) -> Kind | None:
    """80 free bytes, the number of triangles, then exactly 50 bytes for each."""
    if len(head) < 84:
        return None
    return Kind.STL if size == 84 + 50 * int.from_bytes(head[80:84], "little") else None


def _text_kind(head: bytes, tail: bytes) -> Kind:
    text = decoded(head)
    if text is None:
        return Kind.UNKNOWN
    start = text.lstrip().lower()
    if start.startswith("iso-10303-21"):
        return Kind.STEP
    if start.startswith("solid") and "facet" in start:
        return Kind.STL
    if re.match(r"(999\s*\n[^\n]*\n\s*)*0\s*\n\s*section\b", start):
        return Kind.DXF
    if start.startswith(("{", "[")):
        return _json_kind(start, tail)
    return _markup_kind(start) or Kind.TEXT


def _json_kind(start: str, tail: bytes) -> Kind:
    if '"nbformat"' in start or ('"cells"' in start and b'"nbformat"' in tail):
        return Kind.IPYNB
    looks_so = re.match(r'\{\s*"|\[\s*[\[{"]', start) and tail.rstrip().endswith((b"}", b"]"))
    return Kind.JSON if looks_so else Kind.TEXT


def _markup_kind(start: str) -> Kind | None:
    if not start.startswith("<"):
        return None
    opening = re.sub(r"<\?.*?\?>|<!--.*?-->|<!doctype[^>\[]*(\[.*?\])?\s*>", "", start, flags=re.DOTALL).lstrip()
    if opening.startswith("<svg"):
        return Kind.SVG
    if start.startswith("<!doctype html") or re.match(r"<(html|head|body|table|div|p|h1)\b", opening):
        return Kind.HTML
    return Kind.XML if start.startswith("<?xml") else None


def decoded(head: bytes) -> str | None:
    """The text these first bytes spell, or None when they are not text in an encoding we know."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if head.startswith(mark):
            return head.decode(encoding, "replace")
    if b"\0" in head:
        return None
    try:
        return head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start > len(head) - 4:  # a character cut in two by the end of the head
            return head[: error.start].decode("utf-8")
    controls = sum(byte < 9 or 13 < byte < 32 for byte in head)
    return head.decode("cp1252", "replace") if controls * 100 < len(head) else None
