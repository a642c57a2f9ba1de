"""PDF as text, page by page, with comments and form values, read by picture where scanned; and where words stand."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from ctypes import byref, c_int
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pikepdf
import pypdfium2
from PIL import Image, UnidentifiedImageError
from pypdfium2 import raw

from guildhall.documents.extract.writing import Facts, FileToRead, Writer
from guildhall.documents.scrub.names import ScrubLedger
from guildhall.domain.prepared import PLACES, PlacedText, TextLayer
from guildhall.errors import MissingTool, UnreadableFile

MOST_PIXELS = 100_000_000
_MOST_PIXELS_READ = 25_000_000
_TIMEOUT_S = 60


def extract_picture(file: FileToRead, writer: Writer) -> Facts:
    """Size, mode and frames of a picture; its words are written as text."""
    facts: Facts = {}
    Image.MAX_IMAGE_PIXELS = None  # counted below, before anything is unpacked
    try:
        with Image.open(io.BytesIO(file.data())) as picture:
            facts |= {"width": picture.width, "height": picture.height, "mode": picture.mode}
            facts["frames"] = int(getattr(picture, "n_frames", 1))
            if picture.width * picture.height > MOST_PIXELS:
                raise UnreadableFile("picture", f"has more than {MOST_PIXELS} pixels")
            if picture.width * picture.height > _MOST_PIXELS_READ:
                writer.omit("words in the picture", f"it has more than {_MOST_PIXELS_READ} pixels")
                return facts
            words = read_picture(picture.convert("RGB"))
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise UnreadableFile("picture", f"cannot be read ({error})") from error
    except MissingTool as missing:
        writer.omit("words in the picture", str(missing))
        return facts
    frames = f", {facts['frames']} frames" if facts["frames"] != 1 else ""
    writer.add(f"picture: {facts['width']} x {facts['height']} pixels{frames}")
    for line in words.split("\n"):
        if line.strip():
            writer.add(line)
    return facts


def read_picture(picture: Image.Image) -> str:
    """The words tesseract reads in a picture; `MissingTool` where it is not installed."""
    program = shutil.which("tesseract")
    if program is None:
        raise MissingTool("tesseract", needed_for="reading words in pictures", fix="install tesseract-ocr")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "page.png")
        picture.save(source)
        try:
            done = subprocess.run(
                [program, str(source), "-", "--psm", "3"],
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
                env={"OMP_THREAD_LIMIT": "1", "PATH": "/usr/bin:/bin"},
            )
        except subprocess.TimeoutExpired:
            return "(reading this picture took too long and was stopped)"
    return done.stdout.decode("utf-8", "replace").strip()


_MARKS = "•◦▪▫‣⁃∙·●■\uf0a7\uf0b7"
"""Put before the items of lists: letters to some programs, shapes to others, so no words to us. They are seen on the
page. What is hollow may be there to be filled, and several in a row may count something: those are read."""
_MARK = re.compile(rf"^\s*[{_MARKS}](?![{_MARKS}○□])\s*")
_OCR_SCALE = 200 / 72
_MOST_OCR_PIXELS = 12_000_000
_FEW_LETTERS = 5


def extract_pdf(file: FileToRead, writer: Writer) -> Facts:
    """Write every page."""
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
        plain = " ".join(_MARK.sub("", line).split())
        if plain:
            writer.add(plain)
    is_scan = len(text) < _FEW_LETTERS and _has_picture(page)
    if is_scan:
        _read_scan(page, writer, allowed=scans_left > 0)
    page.close()
    return int(is_scan)


def _has_picture(page: Any) -> bool:
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
    people = ScrubLedger()
    try:
        with pikepdf.open(path) as pdf:
            for number, page in enumerate(pdf.pages, start=1):
                for annotation in page.get("/Annots", []):
                    line = _annotation_line(annotation, people)
                    if line:
                        writer.add(f"Page {number}: {line}", unit="comments and form values")
    except (pikepdf.PdfError, ValueError, TypeError, AttributeError) as error:
        writer.omit("comments and form values", f"cannot be read ({type(error).__name__})")


def _annotation_line(annotation: Any, people: ScrubLedger) -> str | None:
    if annotation.get("/Subtype") == "/Widget":
        value = annotation.get("/V", annotation.get("/Parent", {}).get("/V") if "/Parent" in annotation else None)
        return f"form value: {value}" if value is not None and str(value) not in ("", "/Off") else None
    words = str(annotation.get("/Contents", "")).strip()
    if not words or annotation.get("/Subtype") in ("/Link", "/Popup"):
        return None
    return f"comment by {people.alias(str(annotation.get('/T', 'unknown')))}: {words}"


MOST_PIECES = 6_000
"""A page shows its words here and in its text; past so many, only there: a browser has to hold them all."""
_MOST_LETTERS = 40_000
"""Of one page; drawings are known to hold millions."""
_GAP = 0.9
"""A gap of so many heights of the piece's highest letter ends it: the next column begins."""
_STEP = PLACES // 1000
"""Boxes are told in steps of about a pixel: finer ones tell how a program rounds."""
_NO_INK = 0.03
"""A box so thin, in points, holds none: PDFium gives letters that draw nothing a height of 0.02."""
_SOFT_HYPHEN = 2
"""What PDFium says for a hyphen at the end of a line."""


def place_words(file: Path, out: Path, *, max_pages: int) -> TextLayer:  # noqa: ARG001 - nothing to write
    """The pieces of lines of each page, in reading order, and where they stand; a page that cannot be read has none."""
    try:
        document = pypdfium2.PdfDocument(file)
    except pypdfium2.PdfiumError as error:
        raise UnreadableFile(file, f"cannot be opened as a PDF ({error})") from error
    pages: dict[int, tuple[PlacedText, ...]] = {}
    left = MOST_PIECES
    for index in range(min(len(document), max_pages)):
        try:
            placed = tuple(_pieces(document[index]))
        except pypdfium2.PdfiumError:
            continue
        if len(placed) > left:
            break
        left -= len(placed)
        if placed:
            pages[index + 1] = placed
    return TextLayer(pages=pages)


Box = tuple[float, float, float, float]
"""Left, bottom, right and top in the page's own measure."""


@dataclass
class _Piece:
    """Letters that stand beside each other, the box around their ink, the height of the highest, the last one's place.

    How high a line is above and below its ink is the font's word, which programs write each in their own way.
    """

    words: str
    box: Box
    size: float
    last: Box

    def goes_on_at(self, place: Box, size: float = 0.0) -> bool:
        """Whether a letter stands beside the last one, in whatever direction the writing runs."""
        return _apart(self.last, place) <= _GAP * max(self.size, size)

    def take(self, letter: str, place: Box, ink: Box) -> None:
        around = self.box
        self.words += letter
        self.last, self.size = place, max(self.size, _size(ink))
        self.box = (min(around[0], ink[0]), min(around[1], ink[1]), max(around[2], ink[2]), max(around[3], ink[3]))


def _apart(one: Box, other: Box) -> float:
    """How far two boxes are from each other, across or down."""
    return max(*(other[side] - one[side + 2] for side in (0, 1)), *(one[side] - other[side + 2] for side in (0, 1)))


def _ink(ink: Box, place: Box) -> Box:
    """The box of a letter's ink; where it has none (words laid unseen over a scan), its place."""
    return ink if min(ink[2] - ink[0], ink[3] - ink[1]) > _NO_INK else place


def _size(ink: Box) -> float:
    return max(ink[2] - ink[0], ink[3] - ink[1])


def _pieces(page: Any) -> Iterator[PlacedText]:
    for piece in _runs(page.get_textpage()):
        placed = _placed(page, piece)
        if placed is not None:
            yield placed


def _runs(text: Any) -> Iterator[_Piece]:
    piece: _Piece | None = None
    letters = [_letter(raw.FPDFText_GetUnicode(text, at)) for at in range(min(text.count_chars(), _MOST_LETTERS))]
    for index, letter in enumerate(letters):
        place = text.get_charbox(index, loose=True)
        if letter == " " and piece is not None:
            # PDFium makes up spaces where it sees a gap, and gives them no place; those of the file have one.
            piece.words += letter
            piece.last = place if place[2] > place[0] and piece.goes_on_at(place) else piece.last
            continue
        ink = _ink(text.get_charbox(index), place)
        if piece is not None and (letter is None or not piece.goes_on_at(place, _size(ink))):
            yield piece
            piece = None
        following = "".join(one or "\n" for one in letters[index : index + 2])
        if letter is None or letter == " " or (piece is None and _MARK.match(following)):
            continue
        piece = piece or _Piece("", ink, 0.0, place)
        piece.take(letter, place, ink)
    if piece is not None:
        yield piece


def _letter(code: int) -> str | None:
    """A letter or a space; None where a line ends."""
    if code == _SOFT_HYPHEN:
        return "-"
    if code in (10, 13):
        return None
    # A lone half of a pair is no text at all; what cannot be printed is a gap.
    return chr(code) if code < 0x110000 and chr(code).isprintable() else " "


def _placed(page: Any, piece: _Piece) -> PlacedText | None:
    """The piece in parts of the page as it is drawn, turned and cropped; None when nothing of it is on the page."""
    words = " ".join(piece.words.split())
    corners = [_drawn(page, x, y) for x in piece.box[0::2] for y in piece.box[1::2]]
    left, right = _edges([x for x, _ in corners])
    top, bottom = _edges([y for _, y in corners])
    if not words or left >= right or top >= bottom:
        return None
    return PlacedText(text=words, left=left, top=top, width=right - left, height=bottom - top)


def _edges(drawn: list[int]) -> tuple[int, int]:
    """The least and the most of them on the page, in whole steps outwards."""
    low, high = (max(0, min(PLACES, edge)) for edge in (min(drawn), max(drawn)))
    return low // _STEP * _STEP, -(-high // _STEP) * _STEP


def _drawn(page: Any, x: float, y: float) -> tuple[int, int]:
    across, down = c_int(), c_int()
    raw.FPDF_PageToDevice(page, 0, 0, PLACES, PLACES, 0, x, y, byref(across), byref(down))
    return across.value, down.value
