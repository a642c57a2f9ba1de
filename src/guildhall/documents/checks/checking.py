"""The one door to the format checks: a file and its rendered PDF in, findings out, the gravest first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import PositiveInt

from guildhall.documents.checks.characters import CharacterCheck
from guildhall.documents.checks.findings import FindingMaker
from guildhall.documents.checks.layout import CoveredCells, check_blank, check_cut_off, check_figures, check_overlap
from guildhall.documents.checks.legibility import (
    check_contrast,
    check_missing_glyphs,
    check_office_fonts,
    check_pdf_fonts,
)
from guildhall.documents.checks.pages import PageView, page_count, read_pages, spelt
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
