"""Workbooks to take away, in full: they say what the originals say and not which program wrote them."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tarfile
import tempfile
import threading
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tests.documents.hostile_parts import BEACON
from tests.documents.hostile_workbooks import HOSTILE_WORKBOOKS
from tests.documents.second_reader import differences
from tests.documents.workbook_writers import WRITERS, by_exceljs, by_xlsxwriter, converted, described

from guildhall.documents.copies import copy_workbook
from guildhall.documents.inside import scrub_file
from guildhall.documents.kinds import Kind
from guildhall.documents.looking import documents
from guildhall.documents.render.office import LoadAs, OfficePool
from guildhall.documents.values import CopiedWorkbook
from guildhall.documents.workbook_copy.writing import write_copy
from proofs import REALDATA, ROOT, Figures, proof

BOOKS = int(os.environ.get("GUILDHALL_PROOF_BOOKS", "60"))
_FOLDS = 5
_BUCKETS = 1 << 14
_LOST = re.compile(r"^(\d+) formulas? .*kept as")
_ONE_CSV_A_SHEET = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1"


@proof(
    "documents-workbook-copies",
    "Every real and every made workbook is copied so that a second reader finds the same sheets, values, formulas, "
    "number formats and merges, and what differs is listed; LibreOffice shows the same words in every cell.",
    budget_s=3600,
)
def copies() -> Figures:
    seen: Counter[str] = Counter()
    wrong: dict[str, list[str]] = {}
    listed: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="guildhall-copies-") as name:
        folder = Path(name)
        for at, book in enumerate([*_real_books(folder), *_made_books(folder)]):
            made = write_copy(book, folder / f"{at}", kind="xlsx")
            assert made.out is not None
            found = _unexplained(differences(book, made.out), made)
            seen["workbooks"] += 1
            seen["files that differ where they say so"] += bool(differences(book, made.out)) and not found
            listed.update(re.sub(r"\d+ | on sheet .*", "", line) for line in made.not_copied)
            if found:
                wrong[book.name] = found[:5]
            if book.stat().st_size < 60_000 and not found:
                shown = [_as_shown(path, folder / f"{at}" / str(one)) for one, path in enumerate((book, made.out))]
                seen["sheets compared as LibreOffice shows them"] += len(shown[0])
                if shown[0] != shown[1] and not any(_LOST.match(line) for line in made.not_copied):
                    wrong[book.name] = ["LibreOffice shows other words"]
    assert not wrong, wrong
    return {**seen, "real_data_here": REALDATA.exists(), "listed_as_not_copied": dict(listed.most_common())}


def _unexplained(found: list[str], made: CopiedWorkbook) -> list[str]:
    """Differences that the list does not account for."""
    said = sum(int(hit[1]) for hit in map(_LOST.match, made.not_copied) if hit)
    lost = [line for line in found if line.endswith("became =None")]
    if any("changed" in line and "name" in line for line in made.not_copied):
        return []  # sheets are called otherwise, which is said
    return [line for line in found if line not in lost] + ([] if len(lost) <= said else lost)


def _real_books(folder: Path) -> Iterator[Path]:
    yield from sorted((ROOT / "src" / "guildhall").rglob("*.xlsx"))
    for archive in sorted((REALDATA / "gdpval" / "clawwork").glob("deliverables_*.tar.gz")):
        target = folder / archive.name.removesuffix(".tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(target, filter="data")
        yield from sorted(target.rglob("*.xlsx"))
    yield from sorted((REALDATA / "gdpval").rglob("*.xlsx"))
    yield from sorted((REALDATA / "onet_bls").glob("*.xlsx"))


def _made_books(folder: Path) -> Iterator[Path]:
    for seed in range(10):
        path = folder / f"made-{seed}.xlsx"
        path.write_bytes(WRITERS["openpyxl"](described(seed)))
        yield path


def _as_shown(book: Path, folder: Path) -> dict[str, str]:
    """The words that LibreOffice shows in each sheet's cells, formulas left out since stored values differ."""
    folder.mkdir(parents=True)
    source = folder / "book.xlsx"
    shutil.copyfile(book, source)
    profile = f"-env:UserInstallation=file://{folder.parent.parent}/profile"
    command = [
        "soffice",
        profile,
        "--headless",
        "--convert-to",
        _ONE_CSV_A_SHEET,
        "--outdir",
        str(folder / "out"),
        str(source),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return {path.name: path.read_text(errors="replace") for path in sorted((folder / "out").glob("*.csv"))}


@proof(
    "documents-workbook-provenance",
    "From the copy of a workbook alone, with the list of what it lacks, a classifier of structure (byte n-grams of "
    "every part, parts, attributes, styles), grouped by workbook, names the writing program at most at chance + .10.",
    budget_s=3600,
)
def provenance() -> Figures:
    with tempfile.TemporaryDirectory(prefix="guildhall-provenance-") as name, OfficePool(workers=1) as office:
        folder = Path(name)
        originals, absent = _by_program(folder)
        programs = sorted(originals)
        assert len(programs) >= 4, f"too few programs: {programs}, {absent}"
        calculated: dict[bytes, Path] = {}
        served: list[tuple[int, int, dict[str, bytes]]] = []
        scrubbed: list[tuple[int, int, dict[str, bytes]]] = []
        same = 0
        for seed in range(BOOKS):
            finals = set()
            for label, program in enumerate(programs):
                place = folder / "copies" / f"{seed}-{label}"
                place.mkdir(parents=True)
                original = originals[program][seed]
                copy = _copied(original, place, office, calculated)
                served.append((seed, label, _parts(copy.out) | {"the list": "\n".join(copy.not_copied).encode()}))
                finals.add(copy.out.read_bytes() if copy.out else b"")
                scrub_file(original, place / "scrubbed.xlsx", kind=Kind.XLSX)
                scrubbed.append((seed, label, _parts(place / "scrubbed.xlsx")))
            same += len(finals) == 1
    from_copies, from_originals = (_accuracy(what, len(programs)) for what in (served, scrubbed))
    figures: Figures = {
        "workbooks": BOOKS,
        "programs": programs,
        "absent": absent,
        "chance": round(1 / len(programs), 3),
        "copies_byte_identical_over_all_programs": same,
        "accuracy_from_copies": round(from_copies, 3),
        "accuracy_from_scrubbed_originals": round(from_originals, 3),
        "stored_values": "computed by LibreOffice from the copy, whatever the file stored",
    }
    assert from_copies <= 1 / len(programs) + 0.10, figures
    assert from_originals > 0.9, f"the classifier is too weak to prove anything: {figures}"
    return figures


def _by_program(folder: Path) -> tuple[dict[str, list[Path]], dict[str, str]]:
    """The same workbooks by every program that is here, and why others are absent."""
    made: dict[str, list[Path]] = {}
    absent: dict[str, str] = {}
    books = [described(seed) for seed in range(BOOKS)]
    for at, (program, write) in enumerate(WRITERS.items()):
        made[program] = [folder / f"{at}-{seed}.xlsx" for seed in range(BOOKS)]
        for path, book in zip(made[program], books, strict=True):
            path.write_bytes(write(book))
    if shutil.which("soffice") is None:
        absent["LibreOffice"] = "not installed"
    else:
        saved = []
        for seed, book in enumerate(books):
            source = folder / f"for-libreoffice-{seed}.xlsx"
            source.write_bytes(by_xlsxwriter(book))
            saved.append(source)
        out = folder / "saved"
        profile = f"-env:UserInstallation=file://{folder}/profile"
        command = ["soffice", profile, "--headless", "--convert-to", "xlsx", "--outdir", str(out), *map(str, saved)]
        subprocess.run(command, check=True, capture_output=True, timeout=900)
        made["LibreOffice"] = [out / path.name for path in saved]
    modules = Path(os.environ.get("GUILDHALL_NODE_MODULES", "/nowhere"))
    if shutil.which("node") and (modules / "exceljs").is_dir():
        made["exceljs"] = [folder / f"exceljs-{seed}.xlsx" for seed in range(BOOKS)]
        by_exceljs(dict(zip(made["exceljs"], books, strict=True)), modules)
    else:
        absent["exceljs"] = "no node, or no exceljs in GUILDHALL_NODE_MODULES"
    return made, absent


def _copied(original: Path, place: Path, office: OfficePool, calculated: dict[bytes, Path]) -> CopiedWorkbook:
    """As `copy_workbook` does it, outside a room; drafts of the same bytes are calculated once."""
    draft = write_copy(original, place, kind="xlsx")
    assert draft.out is not None
    content = draft.out.read_bytes()
    if content not in calculated:
        calculated[content] = place / "calculated.xlsx"
        calculated[content].write_bytes(office.workbook(draft.out, content, LoadAs("xlsx"), calculate=True))
    return write_copy(original, place, kind="xlsx", calculated=calculated[content])


def _parts(book: Path | None) -> dict[str, bytes]:
    assert book is not None
    with zipfile.ZipFile(book) as archive:
        listing = " ".join(
            f"{one.filename}:{one.compress_type}:{one.date_time}:{one.create_system}" for one in archive.infolist()
        )
        return {name: archive.read(name) for name in archive.namelist()} | {"parts in order": listing.encode()}


def _features(parts: dict[str, bytes]) -> np.ndarray:
    """Hashed shares of byte 5-grams, of tags with their attributes' names, and of the parts themselves."""
    made = np.zeros(_BUCKETS)
    for name, data in parts.items():
        family = re.sub(r"\d+", "", name).encode()
        octets = np.frombuffer(data[:60_000], dtype=np.uint8).astype(np.uint64)
        grams = sum(octets[at : max(len(octets) - 4 + at, at)] * np.uint64(257**at) for at in range(5))
        np.add.at(
            made, ((grams + zlib.crc32(family)) * np.uint64(2654435761) >> np.uint64(18)) % np.uint64(_BUCKETS), 1
        )
        for tag in re.findall(rb"<[^>]{1,300}>", data[:200_000]):
            shape = re.sub(rb'"[^"]*"', b"", tag)
            made[zlib.crc32(b"tag" + shape) % _BUCKETS] += 1
        made[zlib.crc32(b"part" + family) % _BUCKETS] += 1
    root: NDArray[np.float64] = np.sqrt(made / max(made.sum(), 1))
    return root


def _accuracy(examples: Sequence[tuple[int, int, dict[str, bytes]]], classes: int) -> float:
    """Ridge regression on the features, tested on workbooks it has not seen; ties are drawn by lot."""
    matrix = np.stack([_features(parts) for _, _, parts in examples])
    books, labels = np.array([book for book, _, _ in examples]), np.array([label for _, label, _ in examples])
    rng = np.random.default_rng(26)
    hits = 0
    for fold in range(_FOLDS):
        test = books % _FOLDS == fold
        known, unknown = matrix[~test], matrix[test]
        middle, spread = known.mean(axis=0), known.std(axis=0) + 1e-4
        known, unknown = (known - middle) / spread, (unknown - middle) / spread
        wanted = np.eye(classes)[labels[~test]] - 1 / classes
        kernel = known @ known.T
        weights = np.linalg.solve(kernel + np.trace(kernel) / len(kernel) * 0.1 * np.eye(len(kernel)), wanted)
        said = (unknown @ known.T @ weights).round(9) + rng.uniform(0, 1e-10, (test.sum(), classes))
        hits += int((said.argmax(axis=1) == labels[test]).sum())
    return hits / len(examples)


@proof(
    "documents-workbook-hostile",
    "Every hostile workbook is copied with a list or withheld with a reason, within its limits; neither copying it nor "
    "opening and calculating the copy in LibreOffice calls anybody, and no copy names an address outside its words.",
    budget_s=3600,
)
def hostile() -> Figures:
    outcomes: dict[str, str] = {}
    slow: dict[str, float] = {}
    with (
        tempfile.TemporaryDirectory(prefix="guildhall-hostile-books-") as name,
        documents(Path(name) / "cache", workers=1) as look,
        _listening() as heard,
    ):
        folder = Path(name)
        for file, make in HOSTILE_WORKBOOKS.items():
            (folder / file).write_bytes(make())
            began = time.perf_counter()
            made = copy_workbook(folder / file, folder / f"{file}.copy.xlsx", office=look.office, rooms=look.rooms)
            slow[file] = round(time.perf_counter() - began, 1)
            assert (made.out is None) == bool(made.withheld), made
            outcomes[file] = (
                f"withheld: {made.withheld}"[:160] if made.withheld else "; ".join(made.not_copied[:-2]) or "copied"
            )
            if made.out is not None:
                _reaches_nowhere(made.out)
                if made.formulas and file != "array-all.xlsx":
                    converted(made.out, folder / "opened" / file, "csv")
            (folder / file).unlink()
        calls = list(heard)
    assert len(outcomes) >= 40, len(outcomes)
    assert not calls, calls
    assert max(slow.values()) < 200, slow
    return {
        "workbooks": len(outcomes),
        "withheld": sum(words.startswith("withheld") for words in outcomes.values()),
        "calls_home": len(calls),
        "slowest_s": dict(sorted(slow.items(), key=lambda one: -one[1])[:3]),
        "outcomes": outcomes,
    }


def _reaches_nowhere(copy: Path) -> None:
    """No relationship leads out, and no formula but a fixed link speaks of an address."""
    with zipfile.ZipFile(copy) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            assert b'TargetMode="External"' not in data, (copy.name, name)
            for formula in re.findall(rb"<f[^>]*>([^<]*)</f>", data):
                assert not re.search(rb"WEBSERVICE|\||\[|file:|RTD\(|DDE|INDIRECT\(.*(//|#\$)", formula), (
                    copy.name,
                    formula,
                )


@contextmanager
def _listening() -> Iterator[list[str]]:
    """Whoever calls at the port that hostile files name is noted."""
    heard: list[str] = []
    with socket.create_server(("127.0.0.1", BEACON)) as server:

        def listen() -> None:
            while True:
                try:
                    connection, address = server.accept()
                except OSError:
                    return
                heard.append(str(address))
                connection.close()

        threading.Thread(target=listen, daemon=True).start()
        yield heard
        server.shutdown(socket.SHUT_RDWR)
