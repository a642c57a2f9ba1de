"""Scrubbing, in full: canaries in every metadata place of every kind, and real files whose pages must not change."""

from __future__ import annotations

import subprocess
import tarfile
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.documents.canary_files import MADE, MEDIA, made
from tests.documents.leaks import leaks

from guildhall.documents.detection import detect
from guildhall.documents.extract.reading import extract_file
from guildhall.documents.kinds import Family, Kind
from guildhall.documents.looking import documents
from guildhall.documents.render.rendering import Renderer
from guildhall.documents.scrub.ledger import Ledger
from guildhall.documents.scrub.pdf import scrub_pdf
from guildhall.documents.scrub.scrubbing import freeze_file, scrub_file
from proofs import Figures, proof, realdata

_SHOWN = (Family.OFFICE, Family.PDF, Family.IMAGE)
_IN_FLIGHT = 4
_PARSING = threading.Lock()
"""Parsers run in this process, and not all of them bear threads; rendering goes on beside them, in rooms."""


@proof(
    "documents-scrub-canaries",
    "For every kind, canaries in every metadata place are gone from every byte, also in nested archives and after "
    "conversion to PDF, and the pages are unchanged.",
    budget_s=900,
)
def canaries() -> Figures:
    planted: dict[str, int] = {}
    survived: list[str] = []
    with tempfile.TemporaryDirectory(prefix="guildhall-proof-") as name:
        folder = Path(name)
        for kind in (*MADE, *MEDIA):
            place = folder / kind.value
            place.mkdir()
            original = made(kind, place)
            planted[kind.value] = len(leaks(original.read_bytes()))
            after = place / f"after.{kind.value}"
            freeze_file(original, place / f"before.{kind.value}", kind=kind)
            assert scrub_file(original, after, kind=kind).out, f"{kind.value} was refused"
            scrub_file(original, place / "again", kind=kind)
            assert (place / "again").read_bytes() == after.read_bytes(), f"{kind.value}: two scrubs differ"
            survived += [f"{kind.value}: {leak}" for leak in leaks(after.read_bytes())]
        pages = _compare_shown(folder, survived)
    assert all(planted.values()), "a kind had no canary"
    assert not survived, survived
    return {"kinds": len(planted), "places_with_canaries": planted, "survived": 0, "pages_identical": pages}


def _compare_shown(folder: Path, survived: list[str]) -> dict[str, int]:
    """Pages of each visible kind, all of them the same before and after; leaks of converted files are added.

    The PDF that LibreOffice makes of the *unscrubbed* file is scrubbed and searched too: it copies properties.
    """
    pages = {}
    for kind in MADE:
        place = folder / kind.value
        if kind.family is Family.OFFICE:
            for stem in ("before", "after", "made"):
                _convert(place / f"{stem}.{kind.value}")
            converted = scrub_pdf((place / "made.pdf").read_bytes(), Ledger())
            survived += [f"{kind.value} as PDF: {leak}" for leak in leaks(converted)]
        extension = "pdf" if kind.family is Family.OFFICE else kind.value
        if kind.family in (Family.OFFICE, Family.PDF):
            before, after = (_pdf_pixels(place / f"{stem}.{extension}") for stem in ("before", "after"))
        elif kind.family is Family.IMAGE and kind is not Kind.SVG:
            before, after = (_picture_pixels(place / f"{stem}.{extension}") for stem in ("before", "after"))
        else:
            continue
        assert before == after, f"{kind.value}: the pages changed"
        pages[kind.value] = len(before)
    return pages


def _convert(file: Path) -> None:
    """A LibreOffice of its own for each file: one process colours tracked changes by the authors it met before."""
    profile = f"-env:UserInstallation=file://{file.parent.parent}/profile"
    command = ["soffice", profile, "--headless", "--convert-to", "pdf", "--outdir", str(file.parent), str(file)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)


def _pdf_pixels(path: Path) -> list[bytes]:
    import pypdfium2

    with pypdfium2.PdfDocument(path) as document:
        return [bytes(page.render(scale=1.5).buffer) for page in document]


def _picture_pixels(path: Path) -> list[bytes]:
    """Pixels as a viewer shows them, the turn of a photograph included."""
    from PIL import Image, ImageOps

    with Image.open(path) as picture:
        return [ImageOps.exif_transpose(picture).convert("RGBA").tobytes()]


@contextmanager
def _at_work() -> Iterator[tuple[Path, Renderer]]:
    with tempfile.TemporaryDirectory(prefix="guildhall-proof-") as name:
        folder = Path(name)
        with documents(folder / "cache", workers=2) as everything:
            yield folder, everything.renderer


def _same_pages(renderer: Renderer, before: Path, after: Path) -> tuple[bool, int]:
    """Whether two files show the same pixels on every page, and how many pages the first has."""
    from PIL import Image, ImageChops

    first, second = renderer.render(before), renderer.render(after)
    if len(first.pages) != len(second.pages) or not first.pages:
        return False, len(first.pages)
    for one, other in zip(first.pages, second.pages, strict=True):
        with Image.open(one.image) as left, Image.open(other.image) as right:
            if left.size != right.size or ImageChops.difference(left.convert("RGB"), right.convert("RGB")).getbbox():
                return False, len(first.pages)
    return True, len(first.pages)


@proof(
    "documents-scrub-real-files",
    "On every real deliverable and dataset file, scrubbing changes no pixel of any page, no word and no formula; "
    "what is not scrubbed is counted with its reason.",
    budget_s=3600,
)
def real_files() -> Figures:
    with _at_work() as (folder, renderer), ThreadPoolExecutor(_IN_FLIGHT) as pool:
        files = list(_real_files(folder))
        places = [folder / str(number) for number in range(len(files))]
        seen = list(pool.map(lambda file, place: _scrubbed(renderer, file, place), files, places))
    changed = [one.file for one in seen if one.pixels_changed]
    altered = [one.file for one in seen if one.words_changed]
    assert not changed, changed
    assert not altered, altered
    outcomes = Counter(one.outcome for one in seen)
    pages = sum(one.pages for one in seen)
    return {"files": len(seen), "outcomes": dict(sorted(outcomes.items())), "pages_identical": pages}


@dataclass(frozen=True)
class _Seen:
    """What scrubbing did to one file."""

    file: str
    outcome: str
    pages: int = 0
    pixels_changed: bool = False
    words_changed: bool = False


def _scrubbed(renderer: Renderer, file: Path, place: Path) -> _Seen:
    place.mkdir()
    kind = detect(file).kind
    before, after = place / "before", place / "after"
    with _PARSING:
        freeze_file(file, before, kind=kind)
        scrubbed = scrub_file(file, after, kind=kind)
        if scrubbed.out is None:
            assert scrubbed.omitted, f"{file} was refused without a reason"
            return _Seen(file.name, f"{kind.value} refused")
        words_changed = extract_file(before, kind=kind) != extract_file(after, kind=kind)
    same, pages = _same_pages(renderer, before, after) if kind.family in _SHOWN else (True, 0)
    return _Seen(file.name, f"{kind.value} scrubbed", pages, not same, words_changed)


def _real_files(folder: Path) -> Iterator[Path]:
    for archive in sorted(realdata("gdpval/clawwork").glob("deliverables_*.tar.gz")):
        target = folder / archive.name.removesuffix(".tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(target)
        yield from sorted(path for path in target.rglob("*") if path.is_file())
    yield from sorted(path for path in realdata("gdpval/authentic_files").rglob("*") if path.is_file())
