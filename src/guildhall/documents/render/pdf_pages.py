"""PDF to page pictures: every page, or a counted omission; where LibreOffice made it, names and fonts are seen to."""

from __future__ import annotations

import re
import subprocess
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pikepdf
import pypdfium2

from guildhall.documents.kinds import Kind
from guildhall.documents.packages import opened
from guildhall.documents.values import FontSubstitution, Omission, PageImage, Rendered
from guildhall.errors import UnreadableFile

if TYPE_CHECKING:
    from PIL.Image import Image

RENDERER = "pdfium"
MAX_PAGES = 200
MAX_PIXELS = 16_000_000
"""A page that would be larger at the wanted resolution is drawn smaller."""


def draw_pages(file: Path, out: Path, *, dpi: int = 110, max_pages: int = MAX_PAGES) -> Rendered:
    """One PNG a page, numbered from 1 (`page-001.png`); pages past `max_pages` are counted, not drawn."""
    try:
        document = pypdfium2.PdfDocument(file)
    except pypdfium2.PdfiumError as error:
        raise UnreadableFile(file, f"cannot be opened as a PDF ({error})") from error
    count = len(document)
    pages, omitted = [], []
    for index in range(min(count, max_pages)):
        try:
            pages.append(_draw(document, index, out, dpi))
        except pypdfium2.PdfiumError as error:
            omitted.append(Omission(what=f"page {index + 1}", reason=f"cannot be drawn ({error})"))
    if count > max_pages:
        reason = f"only the first {max_pages} pages are drawn"
        omitted.append(Omission(what="pages", reason=reason, count=count - max_pages))
    if count == 0:
        raise UnreadableFile(file, "has no pages")
    return Rendered(kind=Kind.PDF, renderer=RENDERER, pages=tuple(pages), omitted=tuple(omitted))


def _draw(document: object, index: int, out: Path, dpi: int) -> PageImage:
    page = document[index]  # type: ignore[index]
    scale = dpi / 72
    width, height = page.get_size()
    if width * height * scale * scale > MAX_PIXELS:
        scale = (MAX_PIXELS / (width * height)) ** 0.5
    picture = _without_needless_colour(page.render(scale=scale, rev_byteorder=True).to_pil())
    path = out / f"page-{index + 1:03}.png"
    picture.save(path, compress_level=1)
    page.close()
    return PageImage(number=index + 1, image=path, width=picture.width, height=picture.height)


def _without_needless_colour(picture: Image) -> Image:
    """A page without colour as grey levels: the same picture in half the time and space."""
    if picture.mode != "RGB":
        return picture
    red, green, blue = (channel.tobytes() for channel in picture.split())
    return picture.getchannel("R") if red == green == blue else picture


_FONT_PARTS = re.compile(r"(word|ppt|xl)/(?!media/|embeddings/)[^:]*\.xml|styles\.xml|content\.xml")
_WANTED = re.compile(
    rb'(?:w:ascii|w:hAnsi|w:cs|w:eastAsia|a:(?:latin|ea|cs) typeface|fo:font-family|svg:font-family)="([^"+]{1,80})"'
    rb'|<(?:\w+:)?(?:name|rFont) val="([^"]{1,80})"'
)
_RELATION = re.compile(rb"<(?:\w+:)?Relationship\b[^>]*>")
_RELATION_KIND = re.compile(rb'\bType="[^"]*/(\w+)"')
_PART_BYTES, _ALL_BYTES = 8 << 20, 64 << 20


def finish_office(file: Path, out: Path, *, pdf: Path, kind: str, dpi: int, max_pages: int) -> Rendered:
    """Draw the pages of `pdf`, which was made from `file`, and say which of the file's fonts were replaced.

    LibreOffice was asked for one page more than is drawn: when it is there, more follow, nobody knows how many.
    """
    drawn = draw_pages(pdf, out, dpi=dpi, max_pages=max_pages)
    if any(one.what == "pages" for one in drawn.omitted):
        reason = f"only the first {max_pages} are laid out; this is the least number that follows"
        others = [one for one in drawn.omitted if one.what != "pages"]
        drawn = drawn.but(omitted=(*others, Omission(what="pages", reason=reason)))
    shown = clean_copy(pdf, out / "document.pdf")
    replaced = substituted(wanted_fonts(file), shown)
    pictures, elsewhere = linked_resources(file)
    reason = "files and addresses that a document loads are not fetched"
    gone = (Omission(what="linked pictures", reason=reason, count=pictures),) if pictures else ()
    return drawn.but(
        kind=Kind(kind),
        pdf=out / "document.pdf",
        fonts_substituted=replaced,
        warnings=(
            *drawn.warnings,
            *([f"linked and not fetched: {elsewhere} x files or addresses"] if elsewhere else []),
        ),
        omitted=(*drawn.omitted, *gone),
    )


def clean_copy(pdf: Path, target: Path) -> set[str]:
    """Save the PDF without Info and XMP, into which LibreOffice copies the makers' names; the fonts it embeds."""
    with pikepdf.open(pdf) as document:
        if "/Metadata" in document.Root:
            del document.Root["/Metadata"]
        del document.docinfo
        fonts = {
            str(item.BaseFont).removeprefix("/").split("+")[-1]
            for item in document.objects
            if isinstance(item, pikepdf.Dictionary) and item.get("/Type") == "/Font" and "/BaseFont" in item
        }
        document.save(target, deterministic_id=True)
    return fonts


def wanted_fonts(file: Path) -> set[str]:
    """The font names a zipped Office file mentions; none for other kinds, whose fonts are not told apart."""
    if not zipfile.is_zipfile(file):
        return set()
    found: set[str] = set()
    read = 0
    with opened(file, file.name) as package:
        for member in package.infolist():
            if not _FONT_PARTS.fullmatch(member.filename) or read > _ALL_BYTES:
                continue
            with package.open(member) as stream:
                part = stream.read(_PART_BYTES)
            read += len(part)
            found |= {(first or second).decode("utf-8", "replace") for first, second in _WANTED.findall(part)}
    return {name for name in found if not name.startswith(("+", "@"))}


def linked_resources(file: Path) -> tuple[int, int]:
    """How many pictures, and how many other things but links to click, an Office package loads from elsewhere."""
    if not zipfile.is_zipfile(file):
        return 0, 0
    found: list[bytes] = []
    with opened(file, file.name) as package:
        for member in package.infolist():
            if member.filename.endswith(".rels"):
                with package.open(member) as stream:
                    relations = _RELATION.findall(stream.read(_PART_BYTES))
                found += [kind[1] for one in relations if b'"External"' in one and (kind := _RELATION_KIND.search(one))]
    pictures = found.count(b"image")
    return pictures, len(found) - pictures - found.count(b"hyperlink")


def substituted(wanted: set[str], shown: set[str]) -> tuple[FontSubstitution, ...]:
    """Wanted fonts this machine lacks, whose stand-in really is in the PDF."""
    plain_shown = {_plain(name) for name in shown}
    replaced = []
    for name in sorted(wanted):
        if any(_plain(name) in one for one in plain_shown):
            continue
        stand_in = _stand_in(name)
        if stand_in is not None and any(_plain(stand_in) in one for one in plain_shown):
            replaced.append(FontSubstitution(wanted=name, shown=stand_in))
    return tuple(replaced)


def _stand_in(name: str) -> str | None:
    """The family fontconfig gives for a family it lacks; None when it has it."""
    pattern = re.sub(r"[\\:,=-]", " ", name)
    answer = subprocess.run(["fc-match", "-f", "%{family}", pattern], capture_output=True, text=True, timeout=10)
    family = answer.stdout.split(",")[0].strip()
    return None if not family or _plain(family) == _plain(name) else family


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
