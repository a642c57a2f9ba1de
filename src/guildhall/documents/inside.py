"""What runs in a room for each wish: the package's functions in the shape in which rooms call them.

The one door to scrubbing: a file in, what is known to show something of it out, or a refusal with its reason. What is
left out is counted. Kinds without a scrubber are refused: their pages can still be shown, and our copy handed out.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from guildhall.documents.checks.checking import CheckLimits, check_file
from guildhall.documents.detection import detect_bytes
from guildhall.documents.extract.pdf import place_words
from guildhall.documents.extract.reading import extract_file
from guildhall.documents.extract.sheets import read_grid
from guildhall.documents.extract.writing import visible
from guildhall.documents.kinds import Kind, function
from guildhall.documents.scrub.names import ScrubContext, ScrubLedger
from guildhall.documents.tells import find_tells
from guildhall.documents.values import Extracted, Finding, Omission, Scrubbed
from guildhall.domain.prepared import Grid, TextLayer
from guildhall.domain.values import Value
from guildhall.errors import CannotScrub, GuildhallError

DEEPEST = 4
"""Files inside files (an archive in an archive, a workbook in a slide) are followed this far."""
MOST_INPUT_BYTES = 512 << 20
DAMAGE = (ValueError, TypeError, AttributeError, LookupError, RecursionError, OSError, struct.error, zlib.error)
"""What reading broken bytes raises, whichever library reads them."""


def scrub_file(path: Path, out: Path, *, kind: Kind) -> Scrubbed:
    """Write a scrubbed copy to `out`; the same bytes every time. A refusal writes nothing and says why."""
    return _with_ledger(path, out, kind, lambda data, ledger: scrub_bytes(data, kind, ledger, name=path.name))


def freeze_file(path: Path, out: Path, *, kind: Kind) -> Scrubbed:
    """Write a copy in which only volatile content is frozen: the fair picture of a file before its scrub."""
    return _with_ledger(path, out, kind, lambda data, ledger: _frozen(data, kind, ledger, name=path.name))


def _with_ledger(path: Path, out: Path, kind: Kind, work: Callable[[bytes, ScrubLedger], bytes]) -> Scrubbed:
    ledger = ScrubLedger()
    try:
        if path.stat().st_size > MOST_INPUT_BYTES:
            raise CannotScrub(kind.value, f"it is larger than {MOST_INPUT_BYTES >> 20} MiB")
        scrubbed = work(path.read_bytes(), ledger)
    except GuildhallError as error:
        return _refused(kind, str(error))
    except DAMAGE as error:
        return _refused(kind, f"it is damaged ({type(error).__name__}: {error})")
    out.write_bytes(scrubbed)
    return Scrubbed(kind=kind, out=out, cleaned=ledger.cleaned(), omitted=ledger.omitted())


def _refused(kind: Kind, reason: str) -> Scrubbed:
    return Scrubbed(kind=kind, omitted=(Omission(what="file not scrubbed", reason=reason[:500]),))


def scrub_bytes(data: bytes, kind: Kind, ledger: ScrubLedger, *, name: str, depth: int = 0) -> bytes:
    """One file's bytes, scrubbed as its kind demands; raises `CannotScrub` when that cannot be done."""
    if depth > DEEPEST:
        raise CannotScrub(name, f"it lies more than {DEEPEST} files deep")

    def member(inner_name: str, inner: bytes) -> bytes:
        found = detect_bytes(inner[:65536], inner[-(1 << 20) :], name=inner_name, size=len(inner))
        return scrub_bytes(inner, found.kind, ledger, name=inner_name, depth=depth + 1)

    if kind.row.scrubber is None:
        raise CannotScrub(name, f"no scrubber knows the inside of {_a(kind)}")
    scrubbed: bytes = function(kind.row.scrubber)(data, ledger, ScrubContext(kind, name, member))
    return scrubbed


def _a(kind: Kind) -> str:
    return "a file of unknown kind" if kind is Kind.UNKNOWN else f"this kind of file ({kind.value})"


def _frozen(data: bytes, kind: Kind, ledger: ScrubLedger, *, name: str) -> bytes:
    if kind.row.freezer is None:
        return data

    def member(inner_name: str, inner: bytes) -> bytes:
        """A file inside is drawn, too: cleaned where it can be, else frozen, else as it is."""
        found = detect_bytes(inner[:65536], inner[-(1 << 20) :], name=inner_name, size=len(inner)).kind
        for attempt in (scrub_bytes, _frozen):
            try:
                return attempt(inner, found, ledger, name=inner_name)
            except (GuildhallError, *DAMAGE):
                continue
        return inner

    frozen: bytes = function(kind.row.freezer)(data, ledger, ScrubContext(kind, name, member))
    return frozen


class FileFindings(Value):
    """What a look at a file found."""

    findings: tuple[Finding, ...] = ()


class TellsFound(Value):
    """The tells in a file's words; `omitted` is what could not be read, and so not scanned."""

    findings: tuple[Finding, ...] = ()
    omitted: tuple[Omission, ...] = ()
    read: bool = True


def read(file: Path, out: Path, *, kind: str, copy: Path | None = None) -> Extracted:  # noqa: ARG001 - nothing to write
    return extract_file(file, kind=Kind(kind), copy=copy)


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
