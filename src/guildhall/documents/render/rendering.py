"""Render any file: the one door through which everything visible is made, cached and accounted for."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from guildhall.documents.confined import Rooms
from guildhall.documents.detection import Detected, detect
from guildhall.documents.kinds import Family, Kind
from guildhall.documents.outcomes import noticed
from guildhall.documents.render.archives import draw_archive
from guildhall.documents.render.cache import RenderCache
from guildhall.documents.render.finishing import finish_office
from guildhall.documents.render.images import draw_picture
from guildhall.documents.render.media import draw_media
from guildhall.documents.render.models import draw_model
from guildhall.documents.render.office import Converted, LoadAs, OfficePool
from guildhall.documents.render.pdf_pages import MAX_PAGES, draw_pages
from guildhall.documents.render.repair import repair_namespaces
from guildhall.documents.render.texts import as_web_page, readable
from guildhall.documents.render.web import browser, printed, unfetched
from guildhall.documents.values import Omission, Rendered
from guildhall.errors import LookInterrupted, MissingTool, UnreadableFile
from guildhall.observe.spans import Doing, span

DPI = 110
UNPACKED_BYTES = 400 << 20
DEEPEST = 2
"""Archives in archives are opened this far."""

_DRAWN: dict[Family, Callable[..., Rendered]] = {
    Family.IMAGE: draw_picture,
    Family.AUDIO: draw_media,
    Family.VIDEO: draw_media,
    Family.CAD: draw_model,
}
_HTML = LoadAs("html", ("HTML (StarWriter)", ""))
_AS_IT_IS = {
    Kind.CSV: LoadAs("csv", ("Text - txt - csv (StarCalc)", "44/59/9,34,76,1")),
    Kind.TSV: LoadAs("csv", ("Text - txt - csv (StarCalc)", "9,34,76,1")),
    Kind.TEXT: LoadAs("txt", ("Text (encoded)", "UTF8,LF,Liberation Mono,en-US")),
}
"""Text that LibreOffice lays out well without our help."""
_MOST_REMEMBERED = 10_000
_PACKAGES = frozenset({Kind.DOCX, Kind.XLSX, Kind.PPTX})


class Renderer:
    """Renders files into a cache; safe to use from many threads."""

    def __init__(
        self, cache: RenderCache, office: OfficePool, rooms: Rooms, *, dpi: int = DPI, max_pages: int = MAX_PAGES
    ) -> None:
        self._cache, self._office, self._rooms = cache, office, rooms
        self._dpi, self._max_pages = dpi, max_pages
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
        settings = f"{detected.kind} {self._dpi} {self._max_pages}"
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
            return self._make(file, detected, out)

    def _make(self, file: Path, detected: Detected, out: Path, *, depth: int = 0) -> Rendered:
        kind = detected.kind
        if detected.unpacked > UNPACKED_BYTES:
            raise UnreadableFile(file, f"unpacks to {detected.unpacked >> 20} MiB, more than {UNPACKED_BYTES >> 20}")
        if kind is Kind.PDF:
            return self._rooms.call(draw_pages, file, out=out, dpi=self._dpi, max_pages=self._max_pages)
        if kind.family is Family.OFFICE:
            return self._office_file(file, kind, out)
        if kind.family in (Family.TEXT, Family.WEB, Family.NOTEBOOK):
            return self._text(file, kind, out)
        if kind.family is Family.ARCHIVE and depth < DEEPEST:

            def member(inner: Path, folder: Path) -> Rendered:
                return self._make(inner, detect(inner), folder, depth=depth + 1)

            return draw_archive(file, kind, out, rooms=self._rooms, draw=member, max_pages=self._max_pages)
        if kind.family in _DRAWN:
            return self._rooms.call(_DRAWN[kind.family], file, out=out, kind=kind.value)
        raise UnreadableFile(file, f"a file of kind {kind.value!r} cannot be shown")

    def _office_file(self, file: Path, kind: Kind, out: Path) -> Rendered:
        try:
            converted = self._convert(file, file.read_bytes(), LoadAs(kind.value))
        except UnreadableFile:
            content = self._repaired(file) if kind in _PACKAGES else None
            if content is None:
                raise
            converted = self._convert(file, content, LoadAs(kind.value))
            rendered = self._finish(file, kind, converted, out)
            return rendered.but(warnings=(*rendered.warnings, "its package tables were rewritten to open it"))
        return self._finish(file, kind, converted, out)

    def _repaired(self, file: Path) -> bytes | None:
        """The package with its tables rewritten; None when rewriting them would be no help."""
        with tempfile.TemporaryDirectory(prefix="guildhall-repair-") as folder:
            try:
                repaired = self._rooms.call(repair_namespaces, file, out=Path(folder))
            except UnreadableFile:
                return None
            return repaired.out.read_bytes() if repaired.out else None

    def _text(self, file: Path, kind: Kind, out: Path) -> Rendered:
        warnings: tuple[str, ...] = ()
        if kind is Kind.HTML:
            return self._web_page(file, out)
        if kind in _AS_IT_IS:
            text, omitted = readable(file.read_bytes())
            load_as, content = _AS_IT_IS[kind], text.encode("utf-8", "replace")
        else:
            with tempfile.TemporaryDirectory(prefix="guildhall-text-") as folder:
                made = self._rooms.call(as_web_page, file, out=Path(folder), kind=kind.value)
                load_as, content = _HTML, made.page.read_bytes()
                omitted, warnings = made.omitted, made.warnings
        rendered = self._finish(file, kind, self._convert(file, content, load_as), out)
        return rendered.but(omitted=(*omitted, *rendered.omitted), warnings=(*warnings, *rendered.warnings))

    def _web_page(self, file: Path, out: Path) -> Rendered:
        page, omitted = readable(file.read_bytes())
        converted = self._printed(file, page)
        rendered = self._finish(file, Kind.HTML, converted, out)
        return rendered.but(omitted=(*omitted, *unfetched(page), *rendered.omitted))

    def _printed(self, file: Path, page: str) -> Converted:
        """By the browser; without one, or when the page's scripts hang or crash it, by LibreOffice, which runs none."""
        program = browser()
        why = "no browser is here"
        if program is not None:
            try:
                return Converted(printed(file, page, program=program))
            except UnreadableFile as refusal:
                why = f"the browser {refusal.why}"
        converted = self._convert(file, page.encode("utf-8", "replace"), _HTML)
        shown = f"{why}: shown without its scripts and with simpler styles"
        return replace(converted, warnings=(shown, *converted.warnings))

    def _convert(self, file: Path, content: bytes, load_as: LoadAs) -> Converted:
        """One page more than will be drawn, so that it is known whether more follow."""
        return self._office.convert(file, content, load_as, max_pages=self._max_pages + 1)

    def _finish(self, file: Path, kind: Kind, converted: Converted, out: Path) -> Rendered:
        with tempfile.TemporaryDirectory(prefix="guildhall-pdf-") as folder:
            pdf = Path(folder) / "document.pdf"
            pdf.write_bytes(converted.pdf)
            rendered = self._rooms.call(
                finish_office,
                file,
                out=out,
                also={"pdf": pdf},
                kind=kind.value,
                dpi=self._dpi,
                max_pages=self._max_pages,
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


def _nothing(kind: Kind, why: str) -> Rendered:
    return Rendered(kind=kind, renderer="none", omitted=(Omission(what="file", reason=why),))
