"""Scrubbing, in full: canaries in every metadata place of every kind, and real files whose pages must not change."""

from __future__ import annotations

import json
import tarfile
import tempfile
import threading
import zipfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.documents.canary_files import MADE, MEDIA, made
from tests.documents.canary_places import PLACES
from tests.documents.leaks import leaks

from guildhall.documents.detection import detect
from guildhall.documents.extract.reading import extract_file
from guildhall.documents.inside import freeze_file, scrub_file
from guildhall.documents.kinds import Family
from guildhall.documents.looking import documents
from guildhall.documents.render.cache import renderer_version
from guildhall.documents.render.rendering import Renderer
from guildhall.documents.values import PageImage
from guildhall.domain.prepared import PreparedFile
from guildhall.domain.values import sha256
from guildhall.judging.preparing import Preparer
from guildhall.store.workspace import Workspace
from proofs import ROOT, Figures, proof, realdata

_SHOWN = (Family.OFFICE, Family.PDF, Family.IMAGE)
_IN_FLIGHT = 4
_PARSING = threading.Lock()
"""Parsers run in this process, and not all of them bear threads; rendering goes on beside them, in rooms."""


@proof(
    "documents-scrub-canaries",
    "A word planted in each of at least 60 places over all kinds of file (those of an audit, and more than 20 from the "
    "formats' specifications) is in no byte that graders are served by default, and in none of a study that hands out "
    "originals, unless the file is withheld with its reason; the same file gives the same bytes twice.",
    budget_s=3600,
)
def canaries() -> Figures:
    survived: list[str] = []
    withheld: Counter[str] = Counter()
    planted: Counter[str] = Counter()
    with (
        _at_work() as (folder, _),
        Workspace.create(folder / "ws") as workspace,
        ThreadPoolExecutor(_IN_FLIGHT) as pool,
    ):
        with documents(folder / "copies", workers=_IN_FLIGHT) as look:
            preparer = Preparer(workspace, look)
            files = list(_planted(folder / "planted"))
            outs = [folder / f"out-{number}" for number in range(len(files))]
            prepared = list(pool.map(lambda named, out: preparer.made_visible(named[1], out), files, outs))
        for (name, file), one in zip(files, prepared, strict=True):
            planted[name.partition(":")[0]] += len(leaks(file.read_bytes()))
            served = {"listed": one.model_dump_json().encode()} | {
                what: workspace.blobs.read(digest) for what, digest in _served(one) if digest is not None
            }
            survived += [f"{name}: {what}: {leak}" for what, data in served.items() for leak in leaks(data)]
            withheld[one.withheld] += one.scrubbed is None
    assert all(planted.values()), "a kind had no canary"
    assert not survived, survived
    return {
        "files": len(files),
        "places_by_kind": dict(planted),
        "survived_in_what_is_served_by_default": 0,
        "survived_with_originals_on": 0,
        "withheld_with_originals_on": dict(+withheld),
    }


def _planted(folder: Path) -> Iterator[tuple[str, Path]]:
    for kind in (*MADE, *MEDIA):
        place = folder / kind.value
        place.mkdir(parents=True)
        yield f"{kind.value}: all its describing places", made(kind, place)
    for number, (name, (kind, make)) in enumerate(PLACES.items()):
        path = folder / f"{number}.{kind.value}"
        path.write_bytes(make())
        yield name, path


def _served(file: PreparedFile) -> list[tuple[str, str | None]]:
    pages = [(f"page {number}", page.image) for number, page in enumerate(file.pages, 1)]
    kept = [("copy", file.copied), ("original", file.scrubbed), ("words", file.text)]
    return [*pages, *kept, ("grid", file.grid), ("layer", file.layer)]


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
    "Office files that named no program are listed where LibreOffice draws them otherwise once they name one; "
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
        "pages_identical": sum(one.pages for one in seen if not one.moved),
        "drawn_otherwise_once_they_name_a_program": sorted(one.file for one in seen if one.moved),
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
    moved: bool = False


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
    moved = not same and _names_no_program(before) and _named_alike(renderer, before, after, place)
    wrong = " and ".join(["words changed"] * (not words_same) + ["pixels changed"] * (not (same or moved)))
    return _Seen(file.name, kind.value, pages=pages, undrawn=undrawn, wrong=wrong, moved=moved)


def _names_no_program(path: Path) -> bool:
    """Every scrubbed package names the same one, so that none tells which it came from."""
    return zipfile.is_zipfile(path) and "docProps/app.xml" not in zipfile.ZipFile(path).namelist()


def _named_alike(renderer: Renderer, before: Path, after: Path, place: Path) -> bool:
    """Whether the pages are the same once the file says of itself which program wrote it, as all scrubbed ones do."""
    shown = place / "named"
    with zipfile.ZipFile(before) as own, zipfile.ZipFile(after) as its, zipfile.ZipFile(shown, "w") as made:
        for part in {*own.namelist(), *its.namelist()}:
            said = part.startswith("docProps/") or part in {"[Content_Types].xml", "_rels/.rels"}
            if said or part in own.namelist():
                made.writestr(part, (its if said else own).read(part))
    return _same_pages(renderer, shown, after)[0]


def _real_files(folder: Path) -> Iterator[Path]:
    for archive in sorted(realdata("gdpval/clawwork").glob("deliverables_*.tar.gz")):
        target = folder / archive.name.removesuffix(".tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(target)
        yield from sorted(path for path in target.rglob("*") if path.is_file())
    yield from sorted(path for path in realdata("gdpval/authentic_files").rglob("*") if path.is_file())
