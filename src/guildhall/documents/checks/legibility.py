"""Letters that cannot be read: too light or dark, shown as empty squares, or in fonts that other computers lack."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pikepdf

from guildhall.documents.checks.findings import FindingMaker
from guildhall.documents.checks.pages import PageLetter, PageView, Rect, hull
from guildhall.documents.kinds import Kind
from guildhall.documents.opc import Opc
from guildhall.documents.values import Finding, Gravity
from guildhall.documents.xmltrees import Tree, attribute, local

LEAST_CONTRAST = 2.0
"""Below it text can hardly be read; the web's own rule asks for 4.5, pale footers have about 2.5."""
_WATERMARK_PT = 48
_INK_DISTANCE = 60
_SQUARES = frozenset("■□▢▣◻◼▪▫⬜⬛☐☑☒口ロ囗日目田回囲0O○D▮▯●◉")


def check_contrast(page: PageView, make: FindingMaker) -> Iterator[Finding]:
    """Words whose colour is too near that of the ground they stand on: one finding a page, at the worst of them."""
    faint = []
    for word in page.words:
        box = hull(word)
        if box[3] - box[1] < 2 or not any(letter.char.isalnum() for letter in word) or _off_page(box, page):
            continue
        ratio = _contrast_of(word, page)
        if ratio is not None and ratio < LEAST_CONTRAST:
            faint.append((ratio, box, "".join(letter.char for letter in word)))
    if faint:
        ratio, box, text = min(faint)
        severity = Gravity.MAJOR if ratio < 1.5 else Gravity.MINOR
        words = (
            f"Text on page {page.number} hardly stands out from its ground "
            f"({len(faint)} words, contrast down to {ratio:.1f} to 1, as {text[:40]!r})."
        )
        yield make.on_page(page, "low-contrast", severity, words, box)


def _off_page(box: tuple[float, float, float, float], page: PageView) -> bool:
    return box[0] < 0 or box[1] < 0 or box[2] > page.width or box[3] > page.height


def _contrast_of(word: tuple[PageLetter, ...], page: PageView) -> float | None:
    """Contrast of the letters' colour with the commonest colour around them, or None where it cannot be told.

    Heavy letters can be commoner than their ground: pixels that stand out then show that they are readable.
    """
    pixels = page.pixels(hull(word), margin=1.5).reshape(-1, 3)
    if len(pixels) < 12 or word[0].box[3] - word[0].box[1] > _WATERMARK_PT:
        return None
    ground = _luminance(_commonest(pixels[:: max(1, len(pixels) // 400)])[None])[0]
    red, green, blue, opacity = word[0].colour
    drawn = _luminance(np.array([[red, green, blue]], dtype=np.uint8))[0]
    stated = float(_ratio(np.array([ground + (drawn - ground) * opacity / 255]), ground)[0])
    if stated >= LEAST_CONTRAST:
        return stated
    seen = float(np.quantile(_ratio(_luminance(pixels), ground), 0.97))
    return stated if seen < LEAST_CONTRAST + 1 else seen


def _ratio(lightness: npt.NDArray[np.float64], ground: float) -> npt.NDArray[np.float64]:
    ratios: npt.NDArray[np.float64] = (np.maximum(lightness, ground) + 0.05) / (np.minimum(lightness, ground) + 0.05)
    return ratios


def _commonest(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    coarse = (pixels >> 3).astype(np.int32)
    keys = coarse[:, 0] * 1024 + coarse[:, 1] * 32 + coarse[:, 2]
    values, counts = np.unique(keys, return_counts=True)
    chosen: npt.NDArray[np.uint8] = np.median(pixels[keys == values[counts.argmax()]], axis=0).astype(np.uint8)
    return chosen


def _luminance(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """Relative luminance as the web's accessibility rules define it."""
    channels = pixels.astype(np.float64) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    weighted: npt.NDArray[np.float64] = linear @ np.array([0.2126, 0.7152, 0.0722])
    return weighted


def check_missing_glyphs(page: PageView, make: FindingMaker) -> Iterator[Finding]:
    """Squares where a letter should be: the replacement character, a square inside a word, a letter drawn as a box.

    A font draws a letter the same everywhere, so each letter of each font is looked at once a page.
    """
    looked_at: set[tuple[str, str]] = set()
    for word in page.words:
        text = "".join(letter.char for letter in word)
        for position, letter in enumerate(word):
            key = (letter.char, letter.font)
            if key in looked_at and letter.char not in _STAND_INS:
                continue
            looked_at.add(key)
            alike = letter.char in _SQUARES or letter.char.isspace()
            if _is_stand_in(text, position) or (not alike and _drawn_as_box(letter.box, page)):
                words = f"A character on page {page.number} is missing and shows as a square, in {text[:40]!r}."
                yield make.on_page(page, "missing-glyph", Gravity.MAJOR, words, letter.box)
                break
    yield from _nameless_squares(page, make)


def _nameless_squares(page: PageView, make: FindingMaker) -> Iterator[Finding]:
    """Squares drawn as text that spell no character at all: browsers write missing letters so."""
    spelling = {letter.drawn for letter in page.letters}
    for item in page.drawn:
        spells_nothing = item.kind == "text" and not item.invisible and item.order not in spelling
        if spells_nothing and _drawn_as_box(item.box, page, empty=False):
            words = f"A character on page {page.number} is missing and shows as a square."
            yield make.on_page(page, "missing-glyph", Gravity.MAJOR, words, item.box)
            return


_STAND_INS = "\ufffd■□▯▮"


def _is_stand_in(text: str, position: int) -> bool:
    """U+FFFD or a number that is no character, anywhere; a square between two letters of one word."""
    char = text[position]
    if char == "\ufffd" or unicodedata.category(char) == "Cn":
        return True
    inside = 0 < position < len(text) - 1 and text[position - 1].isalnum() and text[position + 1].isalnum()
    return char in _STAND_INS and inside


def _drawn_as_box(box: Rect, page: PageView, *, empty: bool = True) -> bool:
    """An upright frame, empty or crossed: what fonts draw for a letter they do not have."""
    width, height = box[2] - box[0], box[3] - box[1]
    if width < 2.5 or height < 4 or not 0.35 < width / height < 1.3:
        return False
    pixels = page.pixels(box)
    if min(pixels.shape[:2]) < 6:
        return False
    lightness = pixels.astype(np.float64).mean(axis=2)
    ground = np.median(page.pixels(box, margin=2).astype(np.float64).mean(axis=2))
    ink = np.abs(lightness - ground) > _INK_DISTANCE
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    if len(rows) < 8 or len(columns) < 6:
        return False
    ink = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return _ring(ink, 0) > 0.9 and (not empty or any(_ring(ink, depth) < 0.1 for depth in (2, 3, 4)))


def _ring(ink: npt.NDArray[np.bool_], depth: int) -> float:
    """How much of the ring this deep inside the letter is inked; a letter too small for it counts as full."""
    inner = ink[depth : ink.shape[0] - depth, depth : ink.shape[1] - depth]
    if min(inner.shape) < 3:
        return 1.0
    edges = np.concatenate([inner[0], inner[-1], inner[:, 0], inner[:, -1]])
    return float(edges.mean())


_COMMON_NAMES = """
arial|arialnarrow|arialblack|arialunicodems|timesnewroman|times|couriernew|courier|helvetica|calibri|calibrilight|cambria
cambriamath|candara|consolas|constantia|corbel|georgia|verdana|tahoma|trebuchetms|segoeui|segoeuisymbol|symbol|wingdings
wingdings2|wingdings3|webdings|zapfdingbats|impact|comicsansms|garamond|bookantiqua|bookmanoldstyle|palatinolinotype
palatino|centurygothic|centuryschoolbook|franklingothicmedium|franklingothicbook|lucidaconsole|lucidasansunicode
lucidasans|gillsansmt|rockwell|aptos|aptosdisplay|aptosnarrow|msgothic|msmincho|mspgothic|mspmincho|yugothic|yumincho
simsun|simhei|microsoftyahei|malgungothic|batang|gulim|pmingliu|mingliu|notosans|notoserif|notosansmono|notosanssymbols
liberationsans|liberationserif|liberationmono|liberationsansnarrow|dejavusans|dejavuserif|dejavusansmono|carlito|caladea
opensymbol|notosanscjk|notoserifcjk|sansserif|serif|monospace|mssansserif|msserif|menlo|monaco
"""
COMMON = frozenset(re.split(r"[|\s]+", _COMMON_NAMES.strip()))
_STYLE_WORDS = re.compile(r"(bold|italic|oblique|regular|roman|semibold|light|medium|black|condensed|mt|ps)+$")
_MOST_DEPTH = 6


def is_common(name: str) -> bool:
    """Whether nearly every computer has a font of this name; weight and style words do not matter."""
    plain = re.sub(r"[^a-z0-9]", "", re.sub(r"^[A-Z]{6}\\+", "", name).lower())
    bare = re.sub(r"[^a-z0-9]", "", re.split(r"[,-]", name.partition("+")[2] or name)[0].lower())
    return any(
        form in COMMON or form.startswith(("notosans", "notoserif"))
        for form in (plain, bare, _STYLE_WORDS.sub("", bare))
    )


def check_pdf_fonts(path: Path) -> Iterator[Finding]:
    """Fonts a PDF uses without holding them."""
    found: dict[str, int] = {}
    try:
        with pikepdf.open(path) as pdf:
            for number, page in enumerate(pdf.pages, start=1):
                for font in _fonts(page.obj.get("/Resources", page.get("/Resources")), set(), 0):
                    name = str(font.get("/BaseFont", "/unnamed")).lstrip("/")
                    if not _embedded(font) and not is_common(name):
                        found.setdefault(name, number)
    except (pikepdf.PdfError, AttributeError, KeyError, TypeError, ValueError):
        return  # what cannot be opened is the finding of another check
    for name, number in sorted(found.items()):
        words = f"The font {name!r} (first on page {number}) is not in the file, and few computers have it."
        yield Finding(rule="font", severity=Gravity.MINOR, words=words, page=number)


def _fonts(resources: Any, seen: set[tuple[int, int]], depth: int) -> Iterator[Any]:
    if resources is None or depth > _MOST_DEPTH:
        return
    yield from (resources.get("/Font") or {}).values()
    for form in (resources.get("/XObject") or {}).values():
        if form.objgen not in seen and form.get("/Subtype") == "/Form":
            seen.add(form.objgen)
            yield from _fonts(form.get("/Resources"), seen, depth + 1)


def _embedded(font: Any) -> bool:
    if font.get("/Subtype") == "/Type3":
        return True
    holder = font["/DescendantFonts"][0] if "/DescendantFonts" in font else font
    descriptor = holder.get("/FontDescriptor")
    return descriptor is not None and any(key in descriptor for key in ("/FontFile", "/FontFile2", "/FontFile3"))


def check_office_fonts(package: Opc, kind: Kind, make: FindingMaker) -> Iterator[Finding]:
    """Fonts an Office file asks for that are neither embedded in it nor common."""
    wanted = {Kind.DOCX: _word_fonts, Kind.XLSX: _sheet_fonts, Kind.PPTX: _slide_fonts}[kind](package)
    embedded = _embedded_in_office(package)
    for name in sorted(wanted - embedded):
        if name and not name.startswith(("+", "@")) and not is_common(name):
            words = f"The file asks for the font {name!r}, which is not embedded and which few computers have."
            yield make.on_file("font", Gravity.MINOR, words)


def _word_fonts(package: Opc) -> set[str]:
    """Fonts of the text itself, of the styles it uses, and of the defaults."""
    used, styles = set[str](), set[str]()
    for part, tree in package.trees():
        if re.match(r"word/(document|header\d*|footer\d*|footnotes|endnotes)\.xml$", part):
            used |= {
                attribute(font, "ascii")
                for run in tree.iter("{*}rPr")
                for font in run.iter("{*}rFonts")
                if _has_text(run)
            }
            styles |= {attribute(style, "val") for style in tree.iter("{*}pStyle", "{*}rStyle", "{*}tblStyle")}
    sheet = package.tree("word/styles.xml")
    for style in sheet.iter("{*}style", "{*}docDefaults") if sheet is not None else ():
        if (
            local(style.tag) == "docDefaults"
            or attribute(style, "styleId") in styles
            or attribute(style, "default") == "1"
        ):
            used |= {attribute(font, "ascii") for font in style.iter("{*}rFonts")}
    return used


def _has_text(properties: Tree) -> bool:
    run = properties.getparent()
    return run is not None and any((text.text or "").strip() for text in run.iter("{*}t"))


def _sheet_fonts(package: Opc) -> set[str]:
    styles = package.tree("xl/styles.xml")
    if styles is None:
        return set()
    fonts = [
        next((attribute(name, "val") for name in font.iter("{*}name")), "")
        for font in styles.iterfind("{*}fonts/{*}font")
    ]
    used = {int(form.get("fontId", "0")) for form in styles.iterfind("{*}cellXfs/{*}xf")}
    return {fonts[index] for index in used if index < len(fonts)}


def _slide_fonts(package: Opc) -> set[str]:
    used = set[str]()
    for part, tree in package.trees():
        if re.match(r"ppt/slides/slide\d+\.xml$", part):
            used |= {font.get("typeface", "") for font in tree.iter("{*}latin")}
        elif re.match(r"ppt/theme/theme1\.xml$", part):
            used |= {
                font.get("typeface", "") for scheme in tree.iter("{*}fontScheme") for font in scheme.iter("{*}latin")
            }
    return used


def _embedded_in_office(package: Opc) -> set[str]:
    found = set[str]()
    for part, tree in package.trees():
        if part == "word/fontTable.xml":
            for font in tree.iter("{*}font"):
                if any(local(child.tag).startswith("embed") for child in font):
                    found.add(attribute(font, "name"))
        elif part == "ppt/presentation.xml":
            for entry in tree.iter("{*}embeddedFont"):
                found |= {font.get("typeface", "") for font in entry.iter("{*}font")}
    return found
