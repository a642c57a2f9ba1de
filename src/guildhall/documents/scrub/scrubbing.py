"""The one door to scrubbing: a file in, a copy without its makers' traces out, or a refusal with its reason.

Content is never altered and never dropped in silence. Where something cannot be looked into (macros, OLE
objects, formats without a scrubber) the whole file is refused: its rendered pages can still be shown.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

from guildhall.documents.detection import detect_bytes
from guildhall.documents.kinds import Family, Kind
from guildhall.documents.opc import Opc
from guildhall.documents.scrub import (
    archives,
    cad,
    images,
    markup,
    media,
    notebooks,
    opendocument,
    pdf,
    rtf,
    sheets,
    slides,
    tiff,
    word,
)
from guildhall.documents.scrub.ledger import Ledger
from guildhall.documents.scrub.ooxml import scrub_common
from guildhall.documents.scrub.vectors import scrub_emf
from guildhall.documents.values import Omission, Scrubbed
from guildhall.errors import CannotScrub, GuildhallError

DEEPEST = 4
"""Files inside files (an archive in an archive, a workbook in a slide) are followed this far."""
MOST_INPUT_BYTES = 512 << 20
DAMAGE = (ValueError, TypeError, AttributeError, LookupError, RecursionError, OSError, struct.error, zlib.error)
"""What reading broken bytes raises, whichever library reads them."""

ByteScrub = Callable[[bytes, Ledger], bytes]
Scrubber = Callable[[bytes, Ledger, archives.MemberScrub, str], bytes]
"""Data, ledger, how to scrub a file inside it, its name."""
_OPEN_DOCUMENTS = (Kind.ODT, Kind.ODS, Kind.ODP)
_FREEZERS: dict[Kind, Callable[[Opc, Ledger], None]] = {
    Kind.DOCX: word.freeze_word,
    Kind.XLSX: sheets.freeze_sheets,
    Kind.PPTX: slides.freeze_slides,
}
_APPLICATIONS = {Kind.DOCX: word.APPLICATION, Kind.XLSX: sheets.APPLICATION, Kind.PPTX: slides.APPLICATION}
_INERT_PARTS = (".odttf", ".fntdata", ".ttf", ".otf", ".wmf")


def scrub_file(path: Path, out: Path, *, kind: Kind) -> Scrubbed:
    """Write a scrubbed copy to `out`; the same bytes every time. A refusal writes nothing and says why."""
    return _with_ledger(path, out, kind, lambda data, ledger: scrub_bytes(data, kind, ledger, name=path.name))


def freeze_file(path: Path, out: Path, *, kind: Kind) -> Scrubbed:
    """Write a copy in which only volatile content is frozen: the fair picture of a file before its scrub."""
    return _with_ledger(path, out, kind, lambda data, ledger: _frozen(data, kind, ledger, name=path.name))


def _with_ledger(path: Path, out: Path, kind: Kind, work: ByteScrub) -> Scrubbed:
    ledger = Ledger()
    try:
        if path.stat().st_size > MOST_INPUT_BYTES:
            raise CannotScrub(kind.value, f"it is larger than {MOST_INPUT_BYTES >> 20} MiB")
        scrubbed = work(path.read_bytes(), ledger)
    except GuildhallError as error:
        return _refused(kind, str(error))
    except DAMAGE as error:
        return _refused(kind, f"it is damaged ({type(error).__name__}: {error})")
    out.write_bytes(scrubbed)
    return Scrubbed(kind=kind, out=out, cleaned=ledger.cleaned(), omitted=ledger.omitted())


def _refused(kind: Kind, reason: str) -> Scrubbed:
    return Scrubbed(kind=kind, omitted=(Omission(what="file not scrubbed", reason=reason[:500]),))


def scrub_bytes(data: bytes, kind: Kind, ledger: Ledger, *, name: str, depth: int = 0) -> bytes:
    """One file's bytes, scrubbed as its kind demands; raises `CannotScrub` when that cannot be done."""
    if depth > DEEPEST:
        raise CannotScrub(name, f"it lies more than {DEEPEST} files deep")

    def member(inner_name: str, inner: bytes) -> bytes:
        found = detect_bytes(inner[:65536], inner[-(1 << 20) :], name=inner_name, size=len(inner))
        return scrub_bytes(inner, found.kind, ledger, name=inner_name, depth=depth + 1)

    scrubber = _SCRUBBERS.get(kind)
    if scrubber is not None:
        return scrubber(data, ledger, member, name)
    if kind.family is Family.TEXT or kind is Kind.EMPTY:
        return data
    raise CannotScrub(name, f"no scrubber knows the inside of {_a(kind)}")


def _a(kind: Kind) -> str:
    return "a file of unknown kind" if kind is Kind.UNKNOWN else f"this kind of file ({kind.value})"


def _office(kind: Kind) -> Scrubber:
    return lambda data, ledger, member, name: _scrub_office(data, kind, ledger, member, name)


def _flat(scrub: ByteScrub) -> Scrubber:
    """A scrubber of files that hold no other files."""
    return lambda data, ledger, _member, _name: scrub(data, ledger)


def _with_pictures(scrub: Callable[[bytes, Ledger, Callable[[bytes], bytes]], bytes]) -> Scrubber:
    return lambda data, ledger, member, _name: scrub(data, ledger, lambda inner: member("picture", inner))


def _media(kind: Kind) -> Scrubber:
    return lambda data, ledger, _member, _name: media.scrub_media(data, kind, ledger)


def _scrub_office(data: bytes, kind: Kind, ledger: Ledger, member: archives.MemberScrub, name: str) -> bytes:
    package = Opc(data, name=name)
    _FREEZERS[kind](package, ledger)
    if kind is Kind.XLSX:
        sheets.scrub_sheets(package, ledger)
    if kind is Kind.DOCX:
        word.scrub_word(package, ledger)
    scrub_common(package, ledger, application=_APPLICATIONS[kind])
    for part, content in sorted(package.parts.items()):
        if isinstance(content, bytes):
            package.parts[part] = _scrub_part(part, content, ledger, member)
    return package.written()


def _scrub_open_document(data: bytes, ledger: Ledger, member: archives.MemberScrub, name: str) -> bytes:
    parts = opendocument.open_parts(data, name)
    opendocument.freeze_open_document(parts, ledger)
    opendocument.scrub_open_document(parts, ledger, name=name)
    for part, content in sorted(parts.items()):
        if isinstance(content, bytes) and content and part != "mimetype":
            parts[part] = _scrub_part(part, content, ledger, member)
    return opendocument.written_parts(parts)


def _scrub_part(part: str, content: bytes, ledger: Ledger, member: archives.MemberScrub) -> bytes:
    if part.lower().endswith(_INERT_PARTS):
        return content
    if content[40:44] == b" EMF":
        return scrub_emf(content, ledger)
    return member(part, content)


def _frozen(data: bytes, kind: Kind, ledger: Ledger, *, name: str) -> bytes:
    if kind in _FREEZERS:
        package = Opc(data, name=name)
        _FREEZERS[kind](package, ledger)
        return package.written()
    if kind in _OPEN_DOCUMENTS:
        parts = opendocument.open_parts(data, name)
        opendocument.freeze_open_document(parts, ledger)
        return opendocument.written_parts(parts)
    return rtf.freeze_rtf(data, ledger) if kind is Kind.RTF else data


_SCRUBBERS: dict[Kind, Scrubber] = {
    **{kind: _office(kind) for kind in _FREEZERS},
    **dict.fromkeys(_OPEN_DOCUMENTS, _scrub_open_document),
    Kind.RTF: _flat(rtf.scrub_rtf),
    Kind.PDF: _flat(pdf.scrub_pdf),
    Kind.PNG: _flat(images.scrub_png),
    Kind.JPEG: _flat(images.scrub_jpeg),
    Kind.GIF: _flat(images.scrub_gif),
    Kind.WEBP: _flat(images.scrub_webp),
    Kind.BMP: _flat(images.scrub_bmp),
    Kind.TIFF: _flat(tiff.scrub_tiff),
    Kind.SVG: _with_pictures(markup.scrub_svg),
    Kind.HTML: _with_pictures(markup.scrub_html),
    Kind.IPYNB: _with_pictures(notebooks.scrub_notebook),
    Kind.STEP: _flat(cad.scrub_step),
    Kind.DXF: _flat(cad.scrub_dxf),
    Kind.STL: _flat(cad.scrub_stl),
    Kind.ZIP: archives.scrub_zip,
    Kind.TAR: archives.scrub_tar,
    Kind.GZIP: archives.scrub_gzip,
    **{kind: _media(kind) for kind in media.MUXERS},
}
