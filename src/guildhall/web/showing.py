"""A blinded view with links: what templates are handed. It is built from the view alone, and holds no digest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from guildhall.documents.kinds import Family, copied_name, kept_kind
from guildhall.domain.judgments import BlindedFile, BlindedView, ShownPage
from guildhall.domain.prepared import PLACES, Grid, GridSheet, PlacedText, TextLayer
from guildhall.errors import UnknownName
from guildhall.grading.queue import Seat
from guildhall.judging.preparing import missing_when_played
from guildhall.study.publishing import Publication
from guildhall.web.guard import whole_in
from guildhall.web.site import PUBLIC, Site

_PAGE_HEADING = re.compile(r"^# (?:Page|Slide) (\d{1,4})(?: \(hidden\))?$", re.MULTILINE)
_ICONS = {Family.AUDIO: "sound", Family.VIDEO: "film", Family.IMAGE: "picture"}


class Line(NamedTuple):
    """Words over the picture of a page, unseen: to select, search and hear. At `x`, `y` the first letter stands."""

    x: int
    y: int
    length: int
    size: int
    text: str
    upwards: bool = False


@dataclass(frozen=True)
class PageShown:
    link: str
    width: int
    height: int
    label: str
    text: str | None = None
    """The words on this page as they follow each other, where the file tells them page by page."""
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True)
class FileShown:
    what: str
    """Its place in the view, `A.1`: notes are pinned to it."""
    name: str
    kind: str
    pages: tuple[PageShown, ...]
    download: str | None
    kept_as: str
    """The name under which it is kept."""
    not_copied: tuple[str, ...]
    player: str | None
    """`audio` or `video` when a browser plays the file itself."""
    omitted: tuple[str, ...]
    named_as_asked: bool | None
    icon: str
    text_link: str | None
    text: str | None = None
    sheets: tuple[GridSheet, ...] = ()


@dataclass(frozen=True)
class SideShown:
    place: str
    files: tuple[FileShown, ...]
    message: str | None


@dataclass(frozen=True)
class ViewShown:
    brief: str
    references: tuple[FileShown, ...]
    sides: tuple[SideShown, ...]


def shown_view(site: Site, seat: Seat, *, whole: bool = True) -> ViewShown:
    """What a seat sees; not `whole`, nothing of a file is read: the comparing page opens one a side."""
    return _shown(site, seat.id, whole=whole)


def shown_sample(site: Site, found: Publication, number: int) -> ViewShown:
    """A published pair; its files go out as graders' files do, under links of their own."""
    return _shown(site, f"{PUBLIC}{found.report}:{number}:{found.study}")


def _shown(site: Site, holder: str, *, whole: bool = True) -> ViewShown:
    view = site.view(holder)
    return ViewShown(
        brief=view.brief,
        references=shown_files(site, holder, "R", view.reference_files, whole=whole),
        sides=tuple(
            SideShown(side.place, shown_files(site, holder, side.place, side.files, whole=whole), side.text)
            for side in view.sides
        ),
    )


def shown_files(
    site: Site, seat: str, place: str, files: Sequence[BlindedFile], *, whole: bool = True
) -> tuple[FileShown, ...]:
    """Files with links that are good for one seat, or for one draft under review."""
    made = _whole if whole else _closed
    return tuple(made(site, seat, f"{place}.{number}", file) for number, file in enumerate(files, 1))


def opened_file(site: Site, seat: Seat, what: str, *, words_of: int = 1) -> FileShown:
    """One file as the comparing page shows it: its sheets, and of its pages the words of one."""
    file = _file_at(site.view(seat.id), what)
    found = _outline(site, seat.id, what, file)
    lines, pages = _layer(site, file).pages.get(words_of, ()), list(found.pages)
    if 0 < words_of <= len(pages):
        page = pages[words_of - 1]
        pages[words_of - 1] = replace(page, lines=tuple(line_over(one, page) for one in lines))
    by_page = {} if file.layer else texts_by_page(_text(site, file) or "", len(pages))
    shown = tuple(replace(page, text=by_page.get(number)) for number, page in enumerate(pages, 1))
    text = None if pages or file.grid else _text(site, file)
    return replace(found, pages=shown, sheets=_sheets(site, file), text=text)


def whole_file(site: Site, seat: Seat, what: str) -> FileShown:
    """All that is known of a file's words, for a search."""
    return _whole(site, seat.id, what, _file_at(site.view(seat.id), what))


def _file_at(view: BlindedView, what: str) -> BlindedFile:
    place, _, number = what.partition(".")
    files = {"R": view.reference_files} | {side.place: side.files for side in view.sides}
    chosen = whole_in(number, len(files.get(place, ())))
    if not chosen:
        raise UnknownName("file", what)
    return files[place][chosen - 1]


def _whole(site: Site, seat: str, what: str, file: BlindedFile) -> FileShown:
    found, text, layer = _outline(site, seat, what, file), _text(site, file), _layer(site, file)
    words = texts_by_page(text or "", len(found.pages))
    pages = tuple(
        replace(page, text=words.get(number), lines=tuple(line_over(one, page) for one in layer.pages.get(number, ())))
        for number, page in enumerate(found.pages, 1)
    )
    return replace(found, pages=pages, text=text, sheets=_sheets(site, file))


def _closed(site: Site, seat: str, what: str, file: BlindedFile) -> FileShown:
    return _outline(site, seat, what, file.but(pages=()))


def _outline(site: Site, seat: str, what: str, file: BlindedFile) -> FileShown:
    """A file with its links, none of its bytes read."""
    copied = kept_kind(file.copied_as)
    played = copied.row.inline and copied.family in (Family.AUDIO, Family.VIDEO) and file.digest is not None
    kept_as = copied_name(file.name, copied)
    icon = "slides" if file.kind in {"pptx", "ppt", "odp"} else _ICONS.get(kept_kind(file.kind).family, "doc")
    return FileShown(
        what=what,
        name=file.name,
        kind=file.kind,
        pages=tuple(
            PageShown(
                site.file_link(seat, f"{what}.p{number}", f"page-{number}.png"), page.width, page.height, page.label
            )
            for number, page in enumerate(file.pages, 1)
        ),
        download=site.file_link(seat, what, kept_as) if file.digest else None,
        kept_as=kept_as,
        not_copied=file.not_copied,
        player=str(copied.family) if played else None,
        omitted=missing_when_played(file.omitted) if played else file.omitted,
        named_as_asked=file.named_as_asked,
        icon="sheet" if file.grid else icon,
        text_link=site.file_link(seat, f"{what}.t", f"{what}.txt") if file.text else None,
    )


def _text(site: Site, file: BlindedFile) -> str | None:
    return site.blobs.read(file.text).decode(errors="replace") if file.text else None


def _layer(site: Site, file: BlindedFile) -> TextLayer:
    return TextLayer.model_validate_json(site.blobs.read(file.layer)) if file.layer else TextLayer()


def _sheets(site: Site, file: BlindedFile) -> tuple[GridSheet, ...]:
    return Grid.model_validate_json(site.blobs.read(file.grid)).sheets if file.grid else ()


def line_over(placed: PlacedText, page: ShownPage | PageShown) -> Line:
    """In the picture's own measure. Letters stand some four fifths down the height of their line."""
    left, width = (part * page.width / PLACES for part in (placed.left, placed.width))
    top, height = (part * page.height / PLACES for part in (placed.top, placed.height))
    length, size = max(1, round(width)), max(1, round(height))
    if len(placed.text) > 1 and height > 1.5 * width:
        return Line(round(left + 0.8 * width), round(top + height), size, length, placed.text, upwards=True)
    return Line(round(left), round(top + 0.8 * height), length, size, placed.text)


def texts_by_page(text: str, pages: int) -> dict[int, str]:
    """Page -> its words, for text that is headed page by page; nothing unless there is a heading for each page.

    Pages and headings that do not match (a hidden slide, a page that was not drawn) could put words under a wrong page.
    """
    parts = _PAGE_HEADING.split(text)
    found = dict(zip(map(int, parts[1::2]), (part.strip() for part in parts[2::2]), strict=True))
    if len(parts) // 2 != pages or set(found) != set(range(1, pages + 1)):
        return {}
    return {number: words for number, words in found.items() if words}
