"""Archives unpacked for showing: within limits, into plain numbered files, whatever their members are called."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path, PurePosixPath

from guildhall.documents.detection import detect
from guildhall.documents.extract.writing import visible
from guildhall.documents.kinds import Kind
from guildhall.documents.packages import read_members
from guildhall.documents.render.rendering import Means, show
from guildhall.documents.scrub.archives import gunzipped, plain_names, tar_members
from guildhall.documents.values import Omission, PageImage, Rendered
from guildhall.domain.values import Value
from guildhall.errors import UnreadableFile

MOST_SHOWN = 40


class UnpackedFile(Value):
    """One file of an archive: the name it bears there, where it was unpacked to, and its size."""

    name: str
    size: int
    file: Path | None = None


class Unpacked(Value):
    """Every file of an archive by name; those past the limit are listed but not unpacked."""

    members: tuple[UnpackedFile, ...]
    omitted: tuple[Omission, ...] = ()


def show_archive(file: Path, kind: Kind, out: Path, means: Means) -> Rendered:
    """The table of contents, then the pages of each member that can be shown; the others are counted by name.

    Page numbers run on through the whole archive.
    """
    within = replace(means, depth=means.depth + 1)
    pages: list[PageImage] = []
    with tempfile.TemporaryDirectory(prefix="guildhall-archive-") as folder:
        unpacked = means.rooms.call(unpack, file, out=Path(folder), kind=kind.value)
        contents = Path(folder) / "contents.txt"
        contents.write_text(listing(unpacked), encoding="utf-8")
        omitted = list(unpacked.omitted)
        for name, member in [("contents", contents), *((one.name, one.file) for one in unpacked.members)]:
            if member is None:
                continue
            if len(pages) >= means.max_pages:
                omitted.append(Omission(what=name, reason=f"only {means.max_pages} pages of an archive are drawn"))
                continue
            try:
                drawn = show(member, detect(member), out / f"{member.stem}", within)
            except UnreadableFile as refusal:
                omitted.append(Omission(what=name, reason=refusal.why))
                continue
            pages += [
                page.but(number=len(pages) + place, label=f"{name} {page.label or place}".strip())
                for place, page in enumerate(drawn.pages, 1)
            ]
            omitted += [one.but(what=f"{name}: {one.what}") for one in drawn.omitted]
    return Rendered(kind=kind, renderer="archive", pages=tuple(pages), omitted=tuple(omitted))


def unpack(file: Path, out: Path, *, kind: str) -> Unpacked:
    """Unpack the first files; names inside never become paths, only their extension is kept."""
    contents = {visible(name): data for name, data in plain_names(_contents(file, Kind(kind))).items()}
    members = []
    for number, (name, data) in enumerate(sorted(contents.items()), 1):
        target = out / f"{number:03}{_extension(name)}" if number <= MOST_SHOWN else None
        if target is not None:
            target.write_bytes(data)
        members.append(UnpackedFile(name=name, size=len(data), file=target))
    left = len(members) - MOST_SHOWN
    reason = f"only the first {MOST_SHOWN} files of an archive are shown"
    return Unpacked(
        members=tuple(members), omitted=(Omission(what="members", reason=reason, count=left),) if left > 0 else ()
    )


def _contents(file: Path, kind: Kind) -> dict[str, bytes]:
    match kind:
        case Kind.ZIP:
            return read_members(file)
        case Kind.TAR:
            return tar_members(file.read_bytes(), file.name)
        case Kind.GZIP:
            inner = gunzipped(file.read_bytes(), file.name)
            if inner[257:262] == b"ustar":
                return tar_members(inner, file.name)
            return {file.name.removesuffix(".gz"): inner}
        case _:
            raise UnreadableFile(file, f"no unpacker for {kind.value} is at hand")


def _extension(name: str) -> str:
    suffix = PurePosixPath(name).suffix.lower()
    return suffix if suffix[1:].isalnum() and len(suffix) < 8 else ""


def listing(unpacked: Unpacked) -> str:
    """The archive's table of contents as text."""
    lines = [f"{member.size:>12,}  {member.name}" for member in unpacked.members]
    return "\n".join([f"{len(unpacked.members)} files (bytes, name)", "", *lines, ""])
