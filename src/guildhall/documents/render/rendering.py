"""Render any file: the one door through which everything visible is made, and how each kind of file is shown."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from guildhall.documents.confined import Rooms
from guildhall.documents.detection import Detected, detect
from guildhall.documents.kinds import Family, Kind, function
from guildhall.documents.opc import repair_namespaces
from guildhall.documents.render import texts
from guildhall.documents.render.cache import RenderCache
from guildhall.documents.render.images import draw_picture
from guildhall.documents.render.media import draw_media
from guildhall.documents.render.models import draw_model
from guildhall.documents.render.office import Converted, LoadAs, OfficePool
from guildhall.documents.render.pdf_pages import MAX_PAGES, draw_pages, finish_office
from guildhall.documents.render.web import browser, printed, unfetched
from guildhall.documents.values import Omission, Rendered, noticed
from guildhall.errors import LookInterrupted, MissingTool, UnreadableFile
from guildhall.observe.spans import Doing, span

UNPACKED_BYTES = 400 << 20
DEEPEST = 2
"""Archives in archives are opened this far."""
_HTML = LoadAs("html", ("HTML (StarWriter)", ""))


@dataclass(frozen=True)
class Means:
    """What files are shown with: rooms, LibreOffice, how finely and how far to draw; `depth` counts archives around."""

    rooms: Rooms
    office: OfficePool
    dpi: int
    max_pages: int
    depth: int = 0

    def convert(self, file: Path, content: bytes, load_as: LoadAs) -> Converted:
        """One page more than will be drawn, so that it is known whether more follow."""
        return self.office.convert(file, content, load_as, max_pages=self.max_pages + 1)


def show(file: Path, detected: Detected, out: Path, means: Means) -> Rendered:
    """Any file made visible in the folder `out`; `UnreadableFile` says why one cannot be."""
    if detected.unpacked > UNPACKED_BYTES:
        raise UnreadableFile(file, f"unpacks to {detected.unpacked >> 20} MiB, more than {UNPACKED_BYTES >> 20}")
    kind = detected.kind
    if kind.row.renderer is None or (kind.family is Family.ARCHIVE and means.depth >= DEEPEST):
        raise UnreadableFile(file, f"a file of kind {kind.value!r} cannot be shown")
    shown: Rendered = function(kind.row.renderer)(file, kind, out, means)
    return shown


def show_pdf(file: Path, _kind: Kind, out: Path, means: Means) -> Rendered:
    """Its pages."""
    return means.rooms.call(draw_pages, file, out=out, dpi=means.dpi, max_pages=means.max_pages)


def show_picture(file: Path, kind: Kind, out: Path, means: Means) -> Rendered:
    """Its frames."""
    return means.rooms.call(draw_picture, file, out=out, kind=kind.value)


def show_media(file: Path, kind: Kind, out: Path, means: Means) -> Rendered:
    """Moments of a film, and sound as a waveform."""
    return means.rooms.call(draw_media, file, out=out, kind=kind.value)


def show_model(file: Path, kind: Kind, out: Path, means: Means) -> Rendered:
    """A solid from four sides, or a drawing."""
    return means.rooms.call(draw_model, file, out=out, kind=kind.value)


def show_office(file: Path, kind: Kind, out: Path, means: Means) -> Rendered:
    """As LibreOffice lays it out; a package that it cannot open is repaired once."""
    try:
        converted = means.convert(file, file.read_bytes(), LoadAs(kind.value))
    except UnreadableFile:
        content = _repaired(file, means) if kind.is_package else None
        if content is None:
            raise
        converted = means.convert(file, content, LoadAs(kind.value))
        rendered = _finished(file, kind, converted, out, means)
        return rendered.but(warnings=(*rendered.warnings, "its package tables were rewritten to open it"))
    return _finished(file, kind, converted, out, means)


def show_csv(file: Path, kind: Kind, out: Path, means: Means) -> Rendered:
    """As a sheet; the separator is whichever the file uses."""
    return _as_it_is(file, kind, out, means, LoadAs("csv", ("Text - txt - csv (StarCalc)", "44/59/9,34,76,1")))


def show_tsv(file: Path, kind: Kind, out: Path, means: Means) -> Rendered:
    """As a sheet."""
    return _as_it_is(file, kind, out, means, LoadAs("csv", ("Text - txt - csv (StarCalc)", "9,34,76,1")))


def show_plain(file: Path, kind: Kind, out: Path, means: Means) -> Rendered:
    """As lines of one width."""
    return _as_it_is(file, kind, out, means, LoadAs("txt", ("Text (encoded)", "UTF8,LF,Liberation Mono,en-US")))


def _as_it_is(file: Path, kind: Kind, out: Path, means: Means, load_as: LoadAs) -> Rendered:
    """Text that LibreOffice lays out well without our help."""
    text, omitted = texts.readable(file.read_bytes())
    converted = means.convert(file, text.encode("utf-8", "replace"), load_as)
    rendered = _finished(file, kind, converted, out, means)
    return rendered.but(omitted=(*omitted, *rendered.omitted))


def show_code(file: Path, kind: Kind, out: Path, means: Means) -> Rendered:
    """In the colours of its language."""
    return _as_web_page(texts.lay_out_code, file, kind, out, means)


def show_json(file: Path, kind: Kind, out: Path, means: Means) -> Rendered:
    """One value a line."""
    return _as_web_page(texts.lay_out_json, file, kind, out, means)


def show_xml(file: Path, kind: Kind, out: Path, means: Means) -> Rendered:
    """With its elements in colour."""
    return _as_web_page(texts.lay_out_xml, file, kind, out, means)


def show_markdown(file: Path, kind: Kind, out: Path, means: Means) -> Rendered:
    """As it is meant to look."""
    return _as_web_page(texts.lay_out_markdown, file, kind, out, means)


def show_notebook(file: Path, kind: Kind, out: Path, means: Means) -> Rendered:
    """Cell by cell with the outputs."""
    return _as_web_page(texts.lay_out_notebook, file, kind, out, means)


def _as_web_page(lay_out: Callable[..., texts.WebPage], file: Path, kind: Kind, out: Path, means: Means) -> Rendered:
    with tempfile.TemporaryDirectory(prefix="guildhall-text-") as folder:
        made = means.rooms.call(lay_out, file, out=Path(folder))
        content = made.page.read_bytes()
    rendered = _finished(file, kind, means.convert(file, content, _HTML), out, means)
    return rendered.but(omitted=(*made.omitted, *rendered.omitted), warnings=(*made.warnings, *rendered.warnings))


def show_web_page(file: Path, kind: Kind, out: Path, means: Means) -> Rendered:
    """As a browser prints it."""
    page, omitted = texts.readable(file.read_bytes())
    rendered = _finished(file, kind, _printed(file, page, means), out, means)
    return rendered.but(omitted=(*omitted, *unfetched(page), *rendered.omitted))


def _printed(file: Path, page: str, means: Means) -> Converted:
    """By the browser; without one, or when the page's scripts hang or crash it, by LibreOffice, which runs none."""
    program = browser()
    why = "no browser is here"
    if program is not None:
        try:
            return Converted(printed(file, page, program=program))
        except UnreadableFile as refusal:
            why = f"the browser {refusal.why}"
    converted = means.convert(file, page.encode("utf-8", "replace"), _HTML)
    shown = f"{why}: shown without its scripts and with simpler styles"
    return replace(converted, warnings=(shown, *converted.warnings))


def _repaired(file: Path, means: Means) -> bytes | None:
    """The package with its tables rewritten; None when rewriting them would be no help."""
    with tempfile.TemporaryDirectory(prefix="guildhall-repair-") as folder:
        try:
            repaired = means.rooms.call(repair_namespaces, file, out=Path(folder))
        except UnreadableFile:
            return None
        return repaired.out.read_bytes() if repaired.out else None


def _finished(file: Path, kind: Kind, converted: Converted, out: Path, means: Means) -> Rendered:
    with tempfile.TemporaryDirectory(prefix="guildhall-pdf-") as folder:
        pdf = Path(folder) / "document.pdf"
        pdf.write_bytes(converted.content)
        rendered = means.rooms.call(
            finish_office,
            file,
            out=out,
            also={"pdf": pdf},
            kind=kind.value,
            dpi=means.dpi,
            max_pages=means.max_pages,
        )
    return rendered.but(
        warnings=(*rendered.warnings, *converted.warnings, *_beside_the_pages(converted.facts)),
        omitted=(*rendered.omitted, *_unseen(converted.facts)),
    )


def _unseen(facts: dict[str, int]) -> list[Omission]:
    """What an Office file holds that its pages do not show."""
    reason = "hidden in the file, and so not on its pages"
    counts = [("hidden sheets", facts.get("hidden_sheets", 0)), ("hidden slides", facts.get("hidden_slides", 0))]
    return [Omission(what=what, reason=reason, count=count) for what, count in counts if count]


def _beside_the_pages(facts: dict[str, int]) -> list[str]:
    """What a reader of the file meets beside its pages, and a reader of the pages does not."""
    counts = [("comments", facts.get("comments", 0)), ("slides with notes", facts.get("notes", 0))]
    return [f"not on the pages: {count} x {what}" for what, count in counts if count]


DPI = 110
_MOST_REMEMBERED = 10_000


class Renderer:
    """Renders files into a cache; safe to use from many threads."""

    def __init__(
        self, cache: RenderCache, office: OfficePool, rooms: Rooms, *, dpi: int = DPI, max_pages: int = MAX_PAGES
    ) -> None:
        self._cache, self._means = cache, Means(rooms, office, dpi, max_pages)
        self.dpi = dpi
        self._refused: dict[tuple[str, str], Rendered] = {}

    def render(self, file: Path) -> Rendered:
        """The file's pages as pictures, and everything that was not shown with its reason.

        Never raises for what is wrong with a file: that is an `Omission`. The pictures lie in the cache. A file
        that was refused once is refused at once while this renderer lives: a hang is not tried for every reader.
        """
        try:
            detected = detect(file)
            with file.open("rb") as stream:
                content = hashlib.file_digest(stream, "sha256").hexdigest()
        except (UnreadableFile, OSError) as refusal:
            return _nothing(Kind.UNKNOWN, getattr(refusal, "why", str(refusal)))
        settings = f"{detected.kind} {self._means.dpi} {self._means.max_pages}"
        rendered = self._refused.get((content, settings))
        if rendered is None:
            rendered = self._made_or_kept(file, detected, content, settings)
        return rendered.but(findings=(*noticed(detected), *rendered.findings))

    def _made_or_kept(self, file: Path, detected: Detected, content: str, settings: str) -> Rendered:
        try:
            return self._cache.get_or_make(content, settings, lambda out: self._measured(file, detected, out))
        except UnreadableFile as refusal:
            nothing = _nothing(detected.kind, refusal.why)
            if not isinstance(refusal, LookInterrupted) and len(self._refused) < _MOST_REMEMBERED:
                self._refused[content, settings] = nothing
            return nothing
        except MissingTool as missing:
            return _nothing(detected.kind, str(missing))

    def _measured(self, file: Path, detected: Detected, out: Path) -> Rendered:
        with span(Doing.RENDER, kind=detected.kind.value):
            return show(file, detected, out, self._means)


def _nothing(kind: Kind, why: str) -> Rendered:
    return Rendered(kind=kind, renderer="none", omitted=(Omission(what="file", reason=why),))
