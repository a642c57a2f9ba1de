"""What a grader is handed of a file to keep: written by us from what is seen in it, never its maker's own bytes.

Each kind's row in `guildhall.documents.kinds` names one of these functions. The same file gives the same bytes.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from guildhall.confine.limits import MIB
from guildhall.documents.confined import LIMITS, confined
from guildhall.documents.kinds import Kind, copied_name
from guildhall.documents.packages import write_members
from guildhall.documents.render.archives import unpack
from guildhall.documents.render.printing import PrintedPage, printed_pdf
from guildhall.documents.render.recoding import FILM_S, recode_picture, recode_recording, rewrite_text
from guildhall.documents.values import Copied
from guildhall.documents.workbook_copy.copying import copy_workbook
from guildhall.errors import UnreadableFile

if TYPE_CHECKING:
    from guildhall.documents.looking import Documents

RECORDING_LIMITS = LIMITS.but(wall_s=FILM_S, cpu_s=FILM_S, memory_bytes=2048 * MIB)
"""Encoding a film takes its time; all else is made within the limits of every file."""
DEEPEST = 2
"""Archives in archives are copied this far, as they are shown."""
MOST_BYTES = 512 * MIB
"""Of all members of an archive together."""


@dataclass(frozen=True)
class CopyMeans:
    """What copies are made with; `depth` counts archives around."""

    looking: Documents
    depth: int = 0


def copy_pages(file: Path, _kind: Kind, out: Path, means: CopyMeans) -> Copied:
    """A PDF printed from the pages shown, with the words that stand on them."""
    rendered = means.looking.renderer.render(file)
    if not rendered.pages:
        raise UnreadableFile(file, rendered.omitted[0].reason)
    words = means.looking.layer(file, rendered).pages
    pages = [PrintedPage(page.image, words.get(place, ())) for place, page in enumerate(rendered.pages, 1)]
    target = out / "copy.pdf"
    target.write_bytes(printed_pdf(pages, dpi=means.looking.renderer.dpi))
    return Copied(kind=Kind.PDF, out=target)


def copy_picture(file: Path, kind: Kind, out: Path, means: CopyMeans) -> Copied:
    """Its pixels."""
    return means.looking.rooms.call(recode_picture, file, out=out, kind=kind.value, to=kind.copied.value)


def copy_recording(file: Path, kind: Kind, out: Path, _means: CopyMeans) -> Copied:
    """Its sound and its moving picture."""
    return confined(recode_recording, file, out=out, limits=RECORDING_LIMITS, kind=kind.value, to=kind.copied.value)


def copy_text(file: Path, kind: Kind, out: Path, means: CopyMeans) -> Copied:
    """Its letters."""
    return means.looking.rooms.call(rewrite_text, file, out=out, to=kind.copied.value)


def copy_book(file: Path, kind: Kind, out: Path, means: CopyMeans) -> Copied:
    """A workbook by one writer of ours, to compute with; what it lacks is told."""
    made = copy_workbook(file, out / "copy.xlsx", office=means.looking.office, rooms=means.looking.rooms)
    if made.withheld or made.out is None:
        return Copied(kind=kind, not_copied=(made.withheld or "it left no copy",))
    return Copied(kind=Kind.XLSX, out=made.out, not_copied=made.not_copied)


def copy_archive(file: Path, kind: Kind, out: Path, means: CopyMeans) -> Copied:
    """The same tree, packed by us, with a copy in the place of each file; what has none is counted by name."""
    if means.depth >= DEEPEST:
        raise UnreadableFile(file, f"lies more than {DEEPEST} archives deep")
    within, kept, left = replace(means, depth=means.depth + 1), dict[str, bytes](), MOST_BYTES
    with tempfile.TemporaryDirectory(prefix="guildhall-copy-") as folder:
        unpacked = means.looking.rooms.call(unpack, file, out=Path(folder) / "members", kind=kind.value)
        lost = [f"{one.what}: {one.reason}" for one in unpacked.omitted]
        for number, member in enumerate(unpacked.members):
            if member.file is None:
                continue
            copied = means.looking.copied(member.file, out=Path(folder) / f"copy-{number}", means=within)
            lost += [f"{member.name}: {one}" for one in copied.not_copied]
            if copied.out is None:
                continue
            if copied.out.stat().st_size > left:
                lost.append(f"{member.name}: an archive holds at most {MOST_BYTES // MIB} MiB")
                continue
            left -= copied.out.stat().st_size
            kept[copied_name(member.name, copied.kind)] = copied.out.read_bytes()
    target = out / "copy.zip"
    target.write_bytes(write_members(kept))
    return Copied(kind=Kind.ZIP, out=target, not_copied=tuple(lost))
