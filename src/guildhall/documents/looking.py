"""What the command line and the other packages ask of files: each wish for each file ends in one outcome."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from guildhall.documents import inside
from guildhall.documents.confined import Rooms
from guildhall.documents.copies import CopyMeans
from guildhall.documents.detection import Detected, detect
from guildhall.documents.kinds import Kind, function
from guildhall.documents.render.cache import RenderCache
from guildhall.documents.render.office import OfficePool
from guildhall.documents.render.pdf_pages import MAX_PAGES
from guildhall.documents.render.rendering import Renderer
from guildhall.documents.scrub.names import blind_names
from guildhall.documents.values import (
    Copied,
    FileOutcome,
    Finding,
    Rendered,
    achieved,
    noted,
    noticed,
    omitted,
    proof,
)
from guildhall.domain.prepared import Grid, TextLayer
from guildhall.errors import MissingTool, UnreadableFile

IN_FLIGHT = 4


class Documents:
    """The package's abilities over one cache and one pool of LibreOffices; safe to use from many threads.

    No method raises for what is wrong with a file: that is an outcome "omitted", with its reason.
    """

    def __init__(self, renderer: Renderer, rooms: Rooms, office: OfficePool) -> None:
        self.renderer, self.rooms, self.office = renderer, rooms, office

    def show(self, file: Path) -> FileOutcome:
        """What the file is, and what is odd about that."""
        return _looked_at(file, lambda known: achieved(file, known.kind, findings=noticed(known)))

    def text(self, file: Path, *, out: Path | None = None, copy: Path | None = None) -> tuple[FileOutcome, str]:
        """The file's words with their structure; kept as `out/text.md` when a folder is given.

        With our `copy` of it at hand, what programs store each in their way is read there.
        """
        text = ""

        def read(known: Detected) -> FileOutcome:
            nonlocal text
            with _folder(None) as folder:
                also = {"copy": copy} if copy else {}
                extracted = self.rooms.call(inside.read, file, out=folder, also=also, kind=known.kind.value)
            text = extracted.text
            findings = (*noticed(known), *extracted.findings, *noted(extracted.omitted))
            if not text and extracted.omitted:
                return omitted(file, known.kind, extracted.omitted[0].reason, findings=findings)
            kept = [_keep_text(text, out)] if out else []
            return achieved(file, known.kind, pages=extracted.pages, findings=findings, out=kept)

        return _looked_at(file, read), text

    def render(self, file: Path, *, out: Path | None = None) -> FileOutcome:
        """The file's pages as pictures and, for Office files and text, a PDF; copied to `out` when given."""
        rendered = self.renderer.render(file)
        if not rendered.pages:
            return omitted(file, rendered.kind, rendered.omitted[0].reason, findings=proof(rendered))
        made = {f"page-{page.number:03}.png": page.image for page in rendered.pages}
        made |= {path.name: path for path in (rendered.pdf, *rendered.also) if path}
        kept = [_copy(path, out / name) for name, path in made.items()] if out else list(made.values())
        return achieved(file, rendered.kind, pages=len(rendered.pages), findings=proof(rendered), out=kept)

    def check(self, file: Path, *, out: Path | None = None, page_limit: int | None = None) -> FileOutcome:
        """The faults a careful reader would see; pictures of the places go to `out` when given."""

        def checked(known: Detected) -> FileOutcome:
            rendered = self.renderer.render(file)
            pdf = {"pdf": rendered.pdf} if rendered.pdf else {}
            with _folder(out) as folder:
                found = self.rooms.call(
                    inside.check, file, out=folder, also=pdf, kind=known.kind.value, pages=page_limit
                ).findings
            if out is None:
                found = tuple(one.but(picture=None) for one in found)
            pictures = [one.picture for one in found if one.picture]
            findings = (*proof(rendered), *found)
            return achieved(file, known.kind, pages=len(rendered.pages) or None, findings=findings, out=pictures)

        return _looked_at(file, checked)

    def copied(self, file: Path, *, out: Path, means: CopyMeans | None = None) -> Copied:
        """What a grader is handed of the file to keep, in the folder `out`; or the reason why it is nothing."""
        kind = Kind.UNKNOWN
        try:
            kind = detect(file).kind
            if kind.row.copier is None:
                raise UnreadableFile(file, f"a file of kind {kind.value!r} is not handed out")
            out.mkdir(parents=True, exist_ok=True)
            made: Copied = function(kind.row.copier)(file, kind, out, means or CopyMeans(self))
        except (UnreadableFile, MissingTool) as refusal:
            reason = refusal.why if isinstance(refusal, UnreadableFile) else str(refusal)
            return Copied(kind=kind, not_copied=(reason,))
        return made

    def freeze(self, file: Path, *, out: Path) -> Path:
        """The file with what a program would compute anew frozen; itself where that cannot be done."""
        try:
            made = self.rooms.call(inside.freeze, file, out=out, kind=detect(file).kind.value, shown=file.name)
        except UnreadableFile:
            return file
        return made.out or file

    def cleaned(self, file: Path, *, out: Path, shown: str | None = None) -> FileOutcome:
        """The file by allow-lists, as `out/shown`; sound and film are encoded again, as the kind they are."""
        made = self.scrub(file, out=out, shown=shown)
        if made.kind.row.scrubber is None and made.kind.copied is made.kind and made.kind.row.muxer:
            copied = self.copied(file, out=out)
            if copied.out is not None:
                return achieved(
                    file, made.kind, findings=made.findings, out=[copied.out.rename(out / (shown or file.name))]
                )
        return made

    def scrub(self, file: Path, *, out: Path, shown: str | None = None) -> FileOutcome:
        """A copy by allow-lists, as `out/shown`."""

        def scrubbed(known: Detected) -> FileOutcome:
            made = self.rooms.call(inside.scrub, file, out=out, kind=known.kind.value, shown=shown or file.name)
            findings = (*noticed(known), *made.findings, *noted(made.omitted))
            if made.out is None:
                return omitted(file, known.kind, made.omitted[0].reason, findings=findings)
            return achieved(file, known.kind, findings=findings, out=[made.out])

        return _looked_at(file, scrubbed)

    def grid(self, workbook: Path) -> Grid | None:
        """A workbook's sheets as tables; None where they cannot be read."""
        try:
            with _folder(None) as folder:
                return self.rooms.call(inside.grid, workbook, out=folder)
        except UnreadableFile:
            return None

    def layer(self, file: Path, rendered: Rendered) -> TextLayer:
        """The words over the pages shown, from the very PDF they were drawn from; none where that was no PDF."""
        pdf = file if rendered.kind is Kind.PDF else rendered.pdf
        if pdf is None:
            return TextLayer()
        try:
            with _folder(None) as folder:
                found = self.rooms.call(inside.layer, pdf, out=folder, max_pages=MAX_PAGES)
        except UnreadableFile:
            return TextLayer()
        # A page that could not be drawn is not among the pages shown: those behind it move up.
        shown = enumerate((page.number for page in rendered.pages), 1)
        return TextLayer(pages={place: found.pages[number] for place, number in shown if number in found.pages})

    def tells(self, file: Path, *, identities: Iterable[str] = ()) -> FileOutcome:
        """What in the visible words may still say who made it; `identities` are names to look for besides."""

        def told(known: Detected) -> FileOutcome:
            with _folder(None) as folder:
                found = self.rooms.call(
                    inside.tells, file, out=folder, kind=known.kind.value, identities=sorted(identities)
                )
            findings = (*noticed(known), *found.findings, *noted(found.omitted))
            if not found.read and found.omitted:
                return omitted(file, known.kind, found.omitted[0].reason, findings=findings)
            return achieved(file, known.kind, findings=findings)

        return _looked_at(file, told)


@contextmanager
def documents(cache: Path, *, workers: int | None = None) -> Iterator[Documents]:
    """Everything at hand to look at files; LibreOffice is started when the first file needs it."""
    places = workers or min(4, os.cpu_count() or 1)
    with OfficePool(workers=places) as office, Rooms(places=places) as rooms:
        yield Documents(Renderer(RenderCache(cache), office, rooms), rooms, office)


def each(
    files: Iterable[Path], wish: Callable[[Path], FileOutcome], *, in_flight: int = IN_FLIGHT
) -> Iterator[FileOutcome]:
    """The wish for every file, several at a time, in the order given."""
    with ThreadPoolExecutor(in_flight) as pool:
        yield from pool.map(wish, files)


def named_folders(files: Iterable[Path], out: Path) -> dict[Path, Path]:
    """For each file a folder of its own below `out`, called like the file; equal names get a number."""
    folders: dict[Path, Path] = {}
    taken: set[str] = set()
    for file in files:
        name, number = file.name, 2
        while name.casefold() in taken:
            name, number = f"{file.name}-{number}", number + 1
        taken.add(name.casefold())
        folders[file] = out / name
    return folders


def neutral_names(files: Sequence[Path], *, side: str) -> dict[Path, str]:
    """A name for each file that tells nothing but its real kind: `A-1.docx`, `A-2.xlsx`, ..."""
    kinds = [_kind_or_none(file) for file in files]
    names = blind_names([file.name for file in files], side=side, kinds=kinds)
    return {file: name.shown for file, name in zip(files, names, strict=True)}


def _kind_or_none(file: Path) -> Kind | None:
    try:
        return detect(file).kind
    except UnreadableFile:
        return None


def files_below(paths: Iterable[Path]) -> Iterator[Path]:
    """The files named, and those below the folders named, in a fixed order; links in folders are not followed."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        for parent, folders, names in os.walk(path):
            folders.sort()
            yield from (Path(parent) / name for name in sorted(names))


def _looked_at(file: Path, then: Callable[[Detected], FileOutcome]) -> FileOutcome:
    kind = Kind.UNKNOWN
    findings: tuple[Finding, ...] = ()
    try:
        known = detect(file)
        kind, findings = known.kind, noticed(known)
        return then(known)
    except UnreadableFile as refusal:
        return omitted(file, kind, refusal.why, findings=findings)


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """`out`, or a folder that is gone afterwards."""
    if out is not None:
        yield out
        return
    with tempfile.TemporaryDirectory(prefix="guildhall-look-") as folder:
        yield Path(folder)


def _keep_text(text: str, out: Path) -> Path:
    out.mkdir(parents=True, exist_ok=True)
    target = out / "text.md"
    target.write_text(text, encoding="utf-8")
    return target


def _copy(path: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(path, target))
