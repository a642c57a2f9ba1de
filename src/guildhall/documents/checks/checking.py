"""The one door to the format checks: a file and its rendered PDF in, findings out, the gravest first."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import PositiveInt

from guildhall.documents.checks.findings import FindingMaker
from guildhall.documents.checks.layout import CoveredCells, check_blank, check_cut_off, check_figures, check_overlap
from guildhall.documents.checks.legibility import (
    check_contrast,
    check_missing_glyphs,
    check_office_fonts,
    check_pdf_fonts,
)
from guildhall.documents.checks.pages import PageView, hull, page_count, read_pages, spelt
from guildhall.documents.checks.sources import (
    check_charts,
    check_links,
    office_link_targets,
    pdf_link_targets,
    unreadable,
)
from guildhall.documents.extract.reading import extract_file
from guildhall.documents.extract.workbooks import SHEETS
from guildhall.documents.extract.writing import TextBudget
from guildhall.documents.kinds import Family, Kind
from guildhall.documents.opc import Opc
from guildhall.documents.values import Finding, Gravity
from guildhall.domain.values import Value
from guildhall.errors import GuildhallError

RISKY = re.compile(
    "[\u2011\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u0080-\u0084\u0086-\u009f\ue000-\uf8ff"
    "\U000f0000-\U0010ffff]"
)
EMOJI = re.compile(
    "[\u2600-\u260f\u2613-\u26ff\u2700-\u275a\u2761-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u231a\u231b\u23e9-\u23f3\u23f8-\u23fa"
    "\U0001f000-\U0001faff\U0001fb00-\U0001fbff\ufe0f\u20e3]"
)
_LIST_FONT_BULLETS = re.compile("^[\uf000-\uf0ff\ue000-\ue0ff]$")
"""Word's own bullets are letters of symbol fonts; at the start of a line they are standard."""
ODD_BULLETS = frozenset("➢➤➔➜►▶▷▸◆◇❖◉◎★☆✦✧✓✔✗✘⁃‣»›→⇒✱❑❒⦿⁌⁍")
_USUAL_BULLETS = frozenset("●○■□▪▫◦◾◽☐☑☒°©®™№")
"""Signs that lists and forms of every program begin lines with."""
_WIDE_JOINER = "\u200d"


def risky_letters(text: str) -> dict[str, int]:
    """Each risky character of a text and how often it stands there; list bullets of symbol fonts are not."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        for position, char in enumerate(line):
            bullet = _LIST_FONT_BULLETS.match(char) and not line[:position].strip(" -|\t")
            if RISKY.match(char) and not bullet and not _joins_emoji(line, position):
                found[char] = found.get(char, 0) + 1
    return found


def _joins_emoji(line: str, position: int) -> bool:
    return line[position] == _WIDE_JOINER and bool(EMOJI.match(line[position - 1 : position] or " "))


def odd_bullets(text: str) -> dict[str, int]:
    """Marks that begin two or more lines as bullets do and that are not among the usual ones."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        start = re.match(r"\s*(?:[-|]\s+)?(\S)\s+\S", line)
        if start and _is_odd_bullet(start[1]):
            found[start[1]] = found.get(start[1], 0) + 1
    return {char: count for char, count in found.items() if count >= 2}


def _is_odd_bullet(char: str) -> bool:
    return char in ODD_BULLETS or (unicodedata.category(char) == "So" and char not in _USUAL_BULLETS)


def emoji(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    bullets = ODD_BULLETS & odd_bullets(text).keys()
    for char in EMOJI.findall(text):
        if char not in "\ufe0f\u20e3" and char not in bullets:
            found[char] = found.get(char, 0) + 1
    return found


@dataclass(frozen=True)
class _Suspect:
    """A character to report once, and the words before it, which help to find it on a page."""

    rule: str
    char: str
    words: str
    before: str


class CharacterCheck:
    """One finding for each risky character, emoji or odd bullet of a text, at the first page where it is seen.

    Pages come one by one and are not kept. A program may draw another character than the source holds: the
    words before it then tell the place.
    """

    def __init__(self, text: str) -> None:
        self._suspects = [
            _Suspect(rule, char, f"The text has {describe(char)} {_times(count)}: it {why}.", _before(text, char))
            for rule, find, why in _RULES
            for char, count in sorted(find(text).items())
        ]
        self._known = {suspect.char for suspect in self._suspects}

    def on_page(self, page: PageView, make: FindingMaker) -> Iterator[Finding]:
        """Findings of the suspects that stand on this page; they are not looked for again."""
        for suspect in list(self._suspects):
            wanted = next((w for w in (suspect.char, suspect.before) if w and w in page.text), None)
            if wanted is not None:
                self._suspects.remove(suspect)
                start = page.text.index(wanted)
                box = hull(page.letters[start : start + len(wanted)])
                yield make.on_page(page, suspect.rule, _severity(suspect.char), suspect.words, box)
        yield from self._drawn_bullets(page, make)

    def _drawn_bullets(self, page: PageView, make: FindingMaker) -> Iterator[Finding]:
        """Bullets that the program draws from a list's settings: they stand in no text."""
        for char, count in sorted(odd_bullets(page.text).items()):
            if char not in self._known:
                self._known.add(char)
                words = (
                    f"Page {page.number} has {describe(char)} {_times(count)} as a bullet: it is not a standard one."
                )
                yield make.on_page(page, "odd-bullet", Gravity.MINOR, words, page.letters[page.text.index(char)].box)

    def elsewhere(self, make: FindingMaker) -> Iterator[Finding]:
        """Findings of the suspects no page showed: in notes, comments, hidden sheets, or in plain text."""
        for suspect in self._suspects:
            yield make.on_file(suspect.rule, _severity(suspect.char), suspect.words)


def _before(text: str, char: str) -> str:
    at = text.index(char)
    words = text[max(0, at - 16) : at].rpartition("\n")[2].strip(" |-")
    return words if len(words) >= 3 else ""


def _severity(char: str) -> Gravity:
    return Gravity.MAJOR if char == "\u2011" else Gravity.MINOR


def describe(char: str) -> str:
    name = unicodedata.name(char, "a private or unnamed character").lower()
    return f"U+{ord(char):04X} ({name})"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


_RULES = (
    ("risky-character", risky_letters, "may show as a box or vanish on other computers"),
    ("emoji", emoji, "shows differently or not at all on other computers"),
    ("odd-bullet", odd_bullets, "is not a standard bullet"),
)


_GRAVEST_FIRST = {Gravity.MAJOR: 0, Gravity.MINOR: 1, Gravity.NOTE: 2}
_NO_OCR = TextBudget(chars=2_000_000, ocr_pages=0)
_VISIBLE = frozenset({Family.OFFICE, Family.PDF})
_MOST_PAGES = 200


class CheckLimits(Value):
    """What the brief allows; None where it says nothing. Slides and pages are the same here."""

    pages: PositiveInt | None = None
    most_checked: PositiveInt = _MOST_PAGES


def check_file(
    path: Path, *, kind: Kind, pdf: Path | None, pictures: Path | None = None, limits: CheckLimits | None = None
) -> tuple[Finding, ...]:
    """Every fault the checks see in a file.

    `pdf` is its rendered form (a PDF is its own); without one only the source is looked at, and a file that
    should have pages is reported as unreadable. `pictures` is a folder for pictures of the places.
    """
    limits = limits or CheckLimits()
    make = FindingMaker(pictures)
    broken = unreadable(path, kind)
    if broken is not None:
        return (make.on_file("unreadable", Gravity.MAJOR, f"The file cannot be opened properly: {broken}."),)
    try:
        found = [*_source_findings(path, kind, make), *_page_findings(path, kind, pdf, make, limits)]
    except GuildhallError as error:
        return (make.on_file("unreadable", Gravity.MAJOR, f"The file cannot be opened properly: {error}."),)
    return tuple(sorted(found, key=lambda finding: (_GRAVEST_FIRST[finding.severity], finding.page or 0)))


def _source_findings(path: Path, kind: Kind, make: FindingMaker) -> Iterator[Finding]:
    if kind.is_package:
        package = Opc(path.read_bytes(), name=path.name, unparsed=SHEETS)
        yield from check_office_fonts(package, kind, make)
        yield from check_charts(package, kind, make)
        yield from check_links("", office_link_targets(package), make)
    elif kind is Kind.PDF:
        yield from check_pdf_fonts(path)
        yield from check_links("", pdf_link_targets(path), make)


def _page_findings(
    path: Path, kind: Kind, pdf: Path | None, make: FindingMaker, limits: CheckLimits
) -> Iterator[Finding]:
    text = _text(path, kind)
    characters = CharacterCheck(text)
    shown = path if kind is Kind.PDF and pdf is None else pdf
    if shown is not None:
        count = page_count(shown)
        cells = _covered_cells(path, shown, limits) if kind is Kind.XLSX else None
        for page in read_pages(shown, most_pages=limits.most_checked):
            yield from _look_at(page, kind, make)
            yield from characters.on_page(page, make)
            yield from cells.on_page(page, make) if cells else ()
        yield from _count_findings(count, make, limits)
    elif kind.family in _VISIBLE:
        yield make.on_file("unreadable", Gravity.MAJOR, "The file could not be shown as pages.")
    yield from characters.elsewhere(make)
    if kind is not Kind.CODE:
        yield from check_links(text, (), make)


def _covered_cells(path: Path, shown: Path, limits: CheckLimits) -> CoveredCells:
    package = Opc(path.read_bytes(), name=path.name, unparsed=SHEETS)
    return CoveredCells(package, spelt=spelt(shown, most_pages=limits.most_checked))


def _count_findings(count: int, make: FindingMaker, limits: CheckLimits) -> Iterator[Finding]:
    if limits.pages is not None and count > limits.pages:
        words = f"The file has {count} pages; the brief allows {limits.pages}."
        yield make.on_file("page-limit", Gravity.MAJOR, words)
    if count > limits.most_checked:
        words = f"Only the first {limits.most_checked} of {count} pages were checked."
        yield make.on_file("unchecked-pages", Gravity.NOTE, words)


def _look_at(page: PageView, kind: Kind, make: FindingMaker) -> Iterator[Finding]:
    yield from check_blank(page, make)
    yield from check_cut_off(page, make)
    yield from check_overlap(page, make)
    yield from check_contrast(page, make)
    yield from check_missing_glyphs(page, make)
    if kind is not Kind.XLSX:
        yield from check_figures(page, make)


def _text(path: Path, kind: Kind) -> str:
    if kind.family in (Family.OFFICE, Family.PDF, Family.TEXT, Family.WEB, Family.NOTEBOOK):
        return extract_file(path, kind=kind, budget=_NO_OCR, as_written=True).text
    return ""
