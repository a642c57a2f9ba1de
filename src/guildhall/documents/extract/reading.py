"""The one door to extraction: a file in, its words with their structure out, and a count of what was left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from guildhall.documents.detection import detect_bytes
from guildhall.documents.extract import drawings, media, opendocument, pdf, pictures, plain, rtf, sheets, slides, word
from guildhall.documents.extract.writing import TextBudget, Writer
from guildhall.documents.kinds import Family, Kind
from guildhall.documents.opc import Opc
from guildhall.documents.packages import read_members
from guildhall.documents.scrub.archives import gunzipped, tar_members
from guildhall.documents.values import Extracted, Omission
from guildhall.errors import GuildhallError

Facts = dict[str, "str | int | float | bool | None"]
_DEEPEST = 3
_MOST_BYTES = 512 << 20


def extract_file(path: Path, *, kind: Kind, budget: TextBudget | None = None) -> Extracted:
    """The text and facts of a file; what cannot be read at all is an omission with its reason."""
    writer = Writer(budget or TextBudget())
    try:
        if path.stat().st_size > _MOST_BYTES:
            return _nothing(kind, f"it is larger than {_MOST_BYTES >> 20} MiB")
        facts = _read(path, kind, writer, name=path.name, depth=0)
    except GuildhallError as error:
        return _nothing(kind, str(error))
    pages = facts.pop("pages", None)
    return Extracted(
        kind=kind,
        text=writer.text(),
        facts=facts,
        pages=int(pages) if pages is not None else None,
        omitted=writer.omitted(),
    )


def _nothing(kind: Kind, reason: str) -> Extracted:
    return Extracted(kind=kind, omitted=(Omission(what="file not read", reason=reason),))


def _read(path: Path, kind: Kind, writer: Writer, *, name: str, depth: int) -> Facts:
    if kind is Kind.PDF:
        return {"pages": pdf.extract_pdf(path, writer)}
    if kind.family in (Family.AUDIO, Family.VIDEO):
        return media.extract_media(path, writer)
    data = path.read_bytes()
    if kind.family is Family.ARCHIVE and kind in (Kind.ZIP, Kind.TAR, Kind.GZIP):
        return _read_archive(data, kind, writer, name=name, depth=depth)
    reader = _READERS.get(kind)
    if reader is not None:
        return reader(data, writer, name)
    if kind.family is Family.TEXT or kind is Kind.SVG:
        plain.extract_text(data, writer)
    elif kind.family is Family.IMAGE:
        return pictures.extract_picture(data, writer)
    elif kind is not Kind.EMPTY:
        writer.omit("text", f"no reader knows the inside of this kind of file ({kind.value})")
    return {}


def _read_archive(data: bytes, kind: Kind, writer: Writer, *, name: str, depth: int) -> Facts:
    """The tree of an archive first, then the text of every member within the same budget."""
    members = _members(data, kind, name)
    found = {
        member: detect_bytes(inner[:65536], inner[-(1 << 20) :], name=member, size=len(inner)).kind
        for member, inner in sorted(members.items())
    }
    for member, inner_kind in found.items():
        writer.add(f"{member} ({inner_kind.value}, {len(members[member])} bytes)", unit="archive members")
    if depth >= _DEEPEST:
        writer.omit("archive members", f"they lie more than {_DEEPEST} archives deep", len(members))
        return {"members": len(members)}
    for member, inner_kind in found.items():
        writer.add(f"\n# File: {member}", unit="files in the archive")
        try:
            _read_member(members[member], inner_kind, writer, name=member, depth=depth + 1)
        except GuildhallError as error:
            writer.omit("file in the archive", f"{member}: {error}")
    return {"members": len(members)}


def _members(data: bytes, kind: Kind, name: str) -> dict[str, bytes]:
    if kind is Kind.ZIP:
        return read_members(data, name=name)
    if kind is Kind.TAR:
        return tar_members(data, name)
    return {name.removesuffix(".gz"): gunzipped(data, name)}


def _read_member(data: bytes, kind: Kind, writer: Writer, *, name: str, depth: int) -> Facts:
    with TemporaryDirectory() as folder:
        path = Path(folder, "member")
        path.write_bytes(data)
        return _read(path, kind, writer, name=name, depth=depth)


def _read_word(data: bytes, writer: Writer, name: str) -> Facts:
    word.extract_word(Opc(data, name=name), writer)
    return {}


def _read_slides(data: bytes, writer: Writer, name: str) -> Facts:
    return {"pages": slides.extract_slides(Opc(data, name=name), writer)}


def _read_notebook(data: bytes, writer: Writer, _name: str) -> Facts:
    return {"cells": plain.extract_notebook(data, writer)}


def _read_html(data: bytes, writer: Writer, _name: str) -> Facts:
    plain.extract_html(data, writer)
    return {}


def _read_rtf(data: bytes, writer: Writer, _name: str) -> Facts:
    rtf.extract_rtf(data, writer)
    return {}


def _read_open_document(data: bytes, writer: Writer, name: str) -> Facts:
    return opendocument.extract_open_document(data, writer, name=name)


_READERS: dict[Kind, Callable[[bytes, Writer, str], Facts]] = {
    Kind.DOCX: _read_word,
    Kind.XLSX: lambda data, writer, name: sheets.extract_sheets(data, writer, name=name),
    Kind.PPTX: _read_slides,
    Kind.ODT: _read_open_document,
    Kind.ODS: _read_open_document,
    Kind.ODP: _read_open_document,
    Kind.RTF: _read_rtf,
    Kind.IPYNB: _read_notebook,
    Kind.HTML: _read_html,
    Kind.STEP: lambda data, writer, _name: drawings.extract_step(data, writer),
    Kind.DXF: lambda data, writer, _name: drawings.extract_dxf(data, writer),
    Kind.STL: lambda data, writer, _name: drawings.extract_stl(data, writer),
}
