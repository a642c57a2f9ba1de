"""Render any file: the one door through which everything visible is made, cached and accounted for."""

from __future__ import annotations

import hashlib
from pathlib import Path

from guildhall.documents.confined import Rooms
from guildhall.documents.detection import Detected, detect
from guildhall.documents.kinds import Kind
from guildhall.documents.outcomes import noticed
from guildhall.documents.render.cache import RenderCache
from guildhall.documents.render.office import OfficePool
from guildhall.documents.render.pdf_pages import MAX_PAGES
from guildhall.documents.render.showing import Means, show
from guildhall.documents.values import Omission, Rendered
from guildhall.errors import LookInterrupted, MissingTool, UnreadableFile
from guildhall.observe.spans import Doing, span

DPI = 110
_MOST_REMEMBERED = 10_000


class Renderer:
    """Renders files into a cache; safe to use from many threads."""

    def __init__(
        self, cache: RenderCache, office: OfficePool, rooms: Rooms, *, dpi: int = DPI, max_pages: int = MAX_PAGES
    ) -> None:
        self._cache, self._means = cache, Means(rooms, office, dpi, max_pages)
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
