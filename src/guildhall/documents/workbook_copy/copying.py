"""Copy a workbook: read and write it in a room, let LibreOffice calculate the copy, write it again with these values.

What programs store for a formula differs (XlsxWriter 0, openpyxl nothing), so every copy stores what LibreOffice makes
of it. LibreOffice is given our copy and never the original, but for kinds that only it can read.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from guildhall.documents.confined import Rooms
from guildhall.documents.detection import detect
from guildhall.documents.kinds import Kind, function
from guildhall.documents.render.office import LoadAs, OfficePool
from guildhall.documents.values import CopiedWorkbook
from guildhall.errors import MissingTool, UnreadableFile

CONVERTED = {
    Kind.XLS: LoadAs("xls", ("MS Excel 97", "")),
    Kind.ODS: LoadAs("ods", ("calc8", "")),
}
"""Kinds that LibreOffice turns into a package first, each by its own filter: left to guess it reads noise as words."""
_BY_LIBREOFFICE = "what LibreOffice does not read of this kind of file"
_NOT_CALCULATED = "stored values of formulas (they are computed when the copy is opened)"
COPIED = frozenset({*CONVERTED, Kind.XLSX, Kind.CSV, Kind.TSV})


def copy_workbook(source: Path, out: Path, *, office: OfficePool, rooms: Rooms) -> CopiedWorkbook:
    """A copy of the workbook as the file `out`, and what it lacks; `withheld` says why there is none."""
    try:
        return _copied(source, out, office, rooms)
    except UnreadableFile as refusal:
        return CopiedWorkbook(withheld=refusal.why)


def _copied(source: Path, out: Path, office: OfficePool, rooms: Rooms) -> CopiedWorkbook:
    known = detect(source)
    kind, read = known.kind, source
    if kind not in COPIED:
        raise UnreadableFile(source, f"is no workbook that can be copied ({kind.value})")
    lost: tuple[str, ...] = ()
    with tempfile.TemporaryDirectory(prefix="guildhall-copy-") as name:
        folder = Path(name)
        if kind in CONVERTED:
            read = folder / "converted.xlsx"
            read.write_bytes(office.workbook(source, source.read_bytes(), CONVERTED[kind]))
            lost = ("macros",) * known.macros + (_BY_LIBREOFFICE,)
            kind = Kind.XLSX
        write = function("workbook_copy.writing:write_copy")  # by name: only rooms load the writer and its library
        made: CopiedWorkbook = rooms.call(write, read, out=folder / "draft", kind=kind.value)
        if made.formulas and made.out is not None:
            calculated = _calculated(made.out, folder / "calculated.xlsx", office)
            lost += () if calculated else (_NOT_CALCULATED,)
            # Without LibreOffice the draft stands in for its result: it stores no value for any formula.
            also = {"calculated": calculated or made.out}
            made = rooms.call(write, read, out=folder / "final", also=also, kind=kind.value)
        if made.out is None:
            raise UnreadableFile(source, "left no copy")
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(made.out, out)
    return made.but(out=out, not_copied=(*lost, *made.not_copied))


def _calculated(draft: Path, target: Path, office: OfficePool) -> Path | None:
    """The draft with every formula computed anew; None where LibreOffice is missing or gives up."""
    try:
        target.write_bytes(office.workbook(draft, draft.read_bytes(), LoadAs("xlsx"), calculate=True))
    except (UnreadableFile, MissingTool):
        return None
    return target
