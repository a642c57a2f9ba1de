"""Scrubbing, in full: canaries in every metadata place of every kind, and real files whose pages must not change."""

from __future__ import annotations

import json
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
from guildhall.documents.inside import freeze_file, scrub_file
from guildhall.documents.kinds import Family, Kind
from guildhall.documents.looking import documents
from guildhall.documents.render.cache import renderer_version
from guildhall.documents.render.images import svg_picture
from guildhall.documents.render.rendering import Renderer
from guildhall.documents.render.web import browser, printed
from guildhall.documents.scrub.names import ScrubLedger
from guildhall.documents.scrub.pdf import scrub_pdf
from guildhall.documents.values import PageImage
from guildhall.domain.values import sha256
from proofs import ROOT, Figures, NotRun, proof, realdata

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
            converted = scrub_pdf((place / "made.pdf").read_bytes(), ScrubLedger())
            survived += [f"{kind.value} as PDF: {leak}" for leak in leaks(converted)]
        extension = "pdf" if kind.family is Family.OFFICE else kind.value
        if kind.family in (Family.OFFICE, Family.PDF):
            before, after = (_pdf_pixels(place / f"{stem}.{extension}") for stem in ("before", "after"))
        elif kind is Kind.HTML:
            before, after = (_web_pixels(place / f"{stem}.{extension}") for stem in ("before", "after"))
        elif kind.family is Family.IMAGE:
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


def _web_pixels(path: Path) -> list[bytes]:
    """The page as a browser prints it."""
    program = browser()
    if program is None:
        raise NotRun("web pages are shown by a Chromium, and none is here")
    pdf = path.with_suffix(".pdf")
    pdf.write_bytes(printed(path, path.read_text(encoding="utf-8"), program=program))
    return _pdf_pixels(pdf)


def _picture_pixels(path: Path) -> list[bytes]:
    """Pixels as a viewer shows them, the turn of a photograph included."""
    from PIL import Image, ImageOps

    if path.suffix == ".svg":
        return [svg_picture(path.read_text(encoding="utf-8")).tobytes()]
    with Image.open(path) as picture:
        return [ImageOps.exif_transpose(picture).convert("RGBA").tobytes()]


@contextmanager
def _at_work() -> Iterator[tuple[Path, Renderer]]:
    with tempfile.TemporaryDirectory(prefix="guildhall-proof-") as name:
        folder = Path(name)
        with documents(folder / "cache", workers=2) as everything:
            yield folder, everything.renderer


def _same_pages(renderer: Renderer, before: Path, after: Path) -> tuple[bool, int, int]:
    """Whether two files show the same pixels on every page, how many pages were compared, and how many were not drawn.

    A pair found the same is not drawn again while the bytes of both and everything that draws them are the same.
    """
    digests = " ".join(sha256(path.read_bytes()) for path in (before, after))
    kept = ROOT / ".prove" / "scrub-pages" / sha256(f"{digests} {renderer_version()}".encode())
    if kept.exists():
        pages, undrawn = json.loads(kept.read_text())
        return True, pages, undrawn
    first, second = renderer.render(before), renderer.render(after)
    same = bool(first.pages) and len(first.pages) == len(second.pages)
    same = same and all(_same_picture(*pair) for pair in zip(first.pages, second.pages, strict=True))
    undrawn = sum(omission.count for omission in first.omitted if omission.what == "pages")
    if same:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps([len(first.pages), undrawn]))
    return same, len(first.pages), undrawn


def _same_picture(one: PageImage, other: PageImage) -> bool:
    from PIL import Image, ImageChops

    with Image.open(one.image) as left, Image.open(other.image) as right:
        pictures = left.convert("RGBA"), right.convert("RGBA")
    return left.size == right.size and not ImageChops.difference(*pictures).getbbox(alpha_only=False)


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
    wrong = {f"{one.file}: {one.wrong}" for one in seen if one.wrong}
    assert not wrong, sorted(wrong)
    return {
        "files": len(seen),
        "scrubbed": dict(sorted(Counter(one.kind for one in seen if not one.refused).items())),
        "not_scrubbed": dict(sorted(Counter(f"{one.kind}: {one.refused}" for one in seen if one.refused).items())),
        "pages_identical": sum(one.pages for one in seen),
        "pages_beyond_those_drawn": sum(one.undrawn for one in seen),
    }


@dataclass(frozen=True)
class _Seen:
    """What scrubbing did to one file: refused with a reason, or done, and then perhaps wrongly."""

    file: str
    kind: str
    refused: str = ""
    pages: int = 0
    undrawn: int = 0
    wrong: str = ""


def _scrubbed(renderer: Renderer, file: Path, place: Path) -> _Seen:
    place.mkdir()
    kind = detect(file).kind
    before, after = place / "before", place / "after"
    with _PARSING:
        freeze_file(file, before, kind=kind)
        scrubbed = scrub_file(file, after, kind=kind)
        if scrubbed.out is None:
            return _Seen(file.name, kind.value, refused=scrubbed.omitted[0].reason)
        words_same = extract_file(before, kind=kind) == extract_file(after, kind=kind)
    same, pages, undrawn = _same_pages(renderer, before, after) if kind.family in _SHOWN else (True, 0, 0)
    wrong = " and ".join(["words changed"] * (not words_same) + ["pixels changed"] * (not same))
    return _Seen(file.name, kind.value, pages=pages, undrawn=undrawn, wrong=wrong)


def _real_files(folder: Path) -> Iterator[Path]:
    for archive in sorted(realdata("gdpval/clawwork").glob("deliverables_*.tar.gz")):
        target = folder / archive.name.removesuffix(".tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(target)
        yield from sorted(path for path in target.rglob("*") if path.is_file())
    yield from sorted(path for path in realdata("gdpval/authentic_files").rglob("*") if path.is_file())
