"""The one door to extraction: a file in, its words with their structure out, and a count of what was left out."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from guildhall.documents.detection import detect_bytes
from guildhall.documents.extract.writing import Facts, FileToRead, TextBudget, Writer
from guildhall.documents.kinds import Kind, function
from guildhall.documents.packages import read_members
from guildhall.documents.scrub.archives import gunzipped, tar_members
from guildhall.documents.values import Extracted, Omission
from guildhall.errors import GuildhallError

_DEEPEST = 3
_MOST_BYTES = 512 << 20


def extract_file(
    path: Path, *, kind: Kind, budget: TextBudget | None = None, as_written: bool = False, copy: Path | None = None
) -> Extracted:
    """The text and facts of a file; what cannot be read at all is an omission with its reason."""
    writer = Writer(budget or TextBudget(), as_written=as_written)
    try:
        if path.stat().st_size > _MOST_BYTES:
            return _nothing(kind, f"it is larger than {_MOST_BYTES >> 20} MiB")
        facts = _read(FileToRead(path, kind, path.name, copy=copy), writer)
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


def _read(file: FileToRead, writer: Writer) -> Facts:
    if file.kind.row.reader is None:
        writer.omit("text", f"no reader knows the inside of this kind of file ({file.kind.value})")
        return {}
    facts: Facts = function(file.kind.row.reader)(file, writer)
    return facts


def extract_archive(file: FileToRead, writer: Writer) -> Facts:
    """The tree of an archive first, then the text of every member within the same budget."""
    members = _members(file.data(), file.kind, file.name)
    found = {
        member: detect_bytes(inner[:65536], inner[-(1 << 20) :], name=member, size=len(inner)).kind
        for member, inner in sorted(members.items())
    }
    for member, kind in found.items():
        writer.add(f"{member} ({kind.value})", unit="archive members")
    if file.depth >= _DEEPEST:
        writer.omit("archive members", f"they lie more than {_DEEPEST} archives deep", len(members))
        return {"members": len(members)}
    for member, kind in found.items():
        writer.add(f"\n# File: {member}", unit="files in the archive")
        try:
            _read_member(members[member], kind, writer, name=member, depth=file.depth + 1)
        except GuildhallError as error:
            writer.omit("file in the archive", f"{member}: {error}")
    return {"members": len(members)}


def _members(data: bytes, kind: Kind, name: str) -> dict[str, bytes]:
    if kind is Kind.ZIP:
        return read_members(data, name=name)
    if kind is Kind.TAR:
        return tar_members(data, name)
    return {name.removesuffix(".gz"): gunzipped(data, name)}


def _read_member(data: bytes, kind: Kind, writer: Writer, *, name: str, depth: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "member")
        path.write_bytes(data)
        _read(FileToRead(path, kind, name, depth), writer)
