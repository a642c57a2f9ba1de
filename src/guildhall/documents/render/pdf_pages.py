"""PDF to page pictures with PDFium: every page, or a counted omission."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from guildhall.documents.kinds import Kind
from guildhall.documents.values import Omission, PageImage, Rendered

if TYPE_CHECKING:
    from PIL.Image import Image

RENDERER = "pdfium"
MAX_PAGES = 200
MAX_PIXELS = 16_000_000
"""A page that would be larger at the wanted resolution is drawn smaller."""


def draw_pages(file: Path, out: Path, *, dpi: int = 110, max_pages: int = MAX_PAGES) -> Rendered:
    """One PNG a page, numbered from 1 (`page-001.png`); pages past `max_pages` are counted, not drawn."""
    import pypdfium2

    from guildhall.errors import UnreadableFile

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
