"""PDF as text, page by page, with comments and form values; scanned pages are read by picture when possible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from guildhall.documents.extract.pictures import read_picture
from guildhall.documents.extract.writing import Facts, FileToRead, Writer
from guildhall.documents.scrub.ledger import Ledger
from guildhall.errors import MissingTool, UnreadableFile

_OCR_SCALE = 200 / 72
_MOST_OCR_PIXELS = 12_000_000
_FEW_LETTERS = 5


def extract_pdf(file: FileToRead, writer: Writer) -> Facts:
    """Write every page."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(file.path)
        count = len(document)
    except pypdfium2.PdfiumError as error:
        raise UnreadableFile(file.path.name, f"cannot be opened as a PDF ({error})") from error
    scans_left = writer.budget.ocr_pages
    for index in range(count):
        writer.add(f"# Page {index + 1}", unit="pages")
        if writer.full:
            continue
        try:
            scans_left -= _write_page(document[index], writer, scans_left)
        except pypdfium2.PdfiumError as error:
            writer.omit("pages", f"they cannot be read ({error})")
    document.close()
    _write_annotations(file.path, writer)
    return {"pages": count}


def _write_page(page: Any, writer: Writer, scans_left: int) -> int:
    """Write one page; 1 when it is a scan, which uses up the allowance for reading by picture."""
    text = page.get_textpage().get_text_bounded().replace("\r\n", "\n").strip()
    for line in text.split("\n") if text else ():
        writer.add(line)
    is_scan = len(text) < _FEW_LETTERS and _has_picture(page)
    if is_scan:
        _read_scan(page, writer, allowed=scans_left > 0)
    page.close()
    return int(is_scan)


def _has_picture(page: Any) -> bool:
    from pypdfium2 import raw

    return any(item.type == raw.FPDF_PAGEOBJ_IMAGE for item in page.get_objects(max_depth=3))


def _read_scan(page: Any, writer: Writer, *, allowed: bool) -> None:
    if not allowed:
        writer.omit("scanned pages", f"only {writer.budget.ocr_pages} pages are read by picture")
        return
    width, height = page.get_size()
    scale = min(_OCR_SCALE, (_MOST_OCR_PIXELS / max(1.0, width * height)) ** 0.5)
    try:
        words = read_picture(page.render(scale=scale).to_pil())
    except MissingTool as missing:
        writer.omit("scanned pages", str(missing))
        return
    writer.add("(read from the picture of the page)")
    for line in words.split("\n"):
        writer.add(line)


def _write_annotations(path: Path, writer: Writer) -> None:
    import pikepdf

    people = Ledger()
    try:
        with pikepdf.open(path) as pdf:
            for number, page in enumerate(pdf.pages, start=1):
                for annotation in page.get("/Annots", []):
                    line = _annotation_line(annotation, people)
                    if line:
                        writer.add(f"Page {number}: {line}", unit="comments and form values")
    except (pikepdf.PdfError, ValueError, TypeError, AttributeError) as error:
        writer.omit("comments and form values", f"cannot be read ({type(error).__name__})")


def _annotation_line(annotation: Any, people: Ledger) -> str | None:
    if annotation.get("/Subtype") == "/Widget":
        value = annotation.get("/V", annotation.get("/Parent", {}).get("/V") if "/Parent" in annotation else None)
        name = annotation.get("/T")
        return f"form value {name}: {value}" if value is not None and str(value) not in ("", "/Off") else None
    words = str(annotation.get("/Contents", "")).strip()
    if not words or annotation.get("/Subtype") in ("/Link", "/Popup"):
        return None
    return f"comment by {people.alias(str(annotation.get('/T', 'unknown')))}: {words}"
