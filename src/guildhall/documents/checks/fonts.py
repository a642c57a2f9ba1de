"""Fonts that other computers may lack: neither inside the file nor on nearly every machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from guildhall.documents.checks.findings import FindingMaker
from guildhall.documents.kinds import Kind
from guildhall.documents.opc import Opc
from guildhall.documents.values import Finding, Gravity
from guildhall.documents.xmltrees import Tree, attribute, local

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
    import pikepdf

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
