"""What runs in a room for each wish: the package's functions in the shape in which rooms call them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from guildhall.documents.checks.checking import CheckLimits, check_file
from guildhall.documents.extract.pdf import place_words
from guildhall.documents.extract.reading import extract_file
from guildhall.documents.extract.sheets import read_grid
from guildhall.documents.extract.writing import visible
from guildhall.documents.kinds import Kind
from guildhall.documents.scrub.scrubbing import freeze_file, scrub_file
from guildhall.documents.tells import find_tells
from guildhall.documents.values import Extracted, Finding, Omission, Scrubbed
from guildhall.domain.prepared import Grid, TextLayer
from guildhall.domain.values import Value


class FileFindings(Value):
    """What a look at a file found."""

    findings: tuple[Finding, ...] = ()


class TellsFound(Value):
    """The tells in a file's words; `omitted` is what could not be read, and so not scanned."""

    findings: tuple[Finding, ...] = ()
    omitted: tuple[Omission, ...] = ()
    read: bool = True


def read(file: Path, out: Path, *, kind: str) -> Extracted:  # noqa: ARG001 - nothing to write
    return extract_file(file, kind=Kind(kind))


def grid(file: Path, out: Path) -> Grid:  # noqa: ARG001 - nothing to write
    """A workbook's sheets as tables, of what a reader can see."""
    return Grid.model_validate(_seen(read_grid(file).model_dump()))


def _seen(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {key: _seen(one) for key, one in value.items()}
    return [_seen(one) for one in value] if isinstance(value, list | tuple) else value


def layer(file: Path, out: Path, *, max_pages: int) -> TextLayer:
    """Where the words of a PDF stand on its pages."""
    return place_words(file, out, max_pages=max_pages)


def scrub(file: Path, out: Path, *, kind: str, shown: str) -> Scrubbed:
    """Write the scrubbed copy as `shown`."""
    return scrub_file(file, out / shown, kind=Kind(kind))


def freeze(file: Path, out: Path, *, kind: str, shown: str) -> Scrubbed:
    """Write a copy in which what a program would compute anew is frozen."""
    return freeze_file(file, out / shown, kind=Kind(kind))


def check(file: Path, out: Path, *, kind: str, pdf: Path | None = None, pages: int | None = None) -> FileFindings:
    """Hold a file and its rendered form against the format rules; `pages` is the limit the brief sets."""
    return FileFindings(
        findings=check_file(file, kind=Kind(kind), pdf=pdf, pictures=out, limits=CheckLimits(pages=pages))
    )


def tells(file: Path, out: Path, *, kind: str, identities: list[str]) -> TellsFound:
    """What the visible content still says about its maker."""
    extracted = read(file, out, kind=kind)
    found = find_tells(extracted.text, identities=identities)
    return TellsFound(findings=found, omitted=extracted.omitted, read=bool(extracted.text))
