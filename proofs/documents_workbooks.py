"""Workbooks to take away, in full: they say what the originals say and not which program wrote them."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import tarfile
import tempfile
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.documents.hostile_parts import BEACON
from tests.documents.hostile_workbooks import HOSTILE_WORKBOOKS
from tests.documents.second_reader import differences
from tests.documents.workbook_writers import WRITERS, converted, described

from guildhall.documents.copies import copy_workbook
from guildhall.documents.looking import documents
from guildhall.documents.values import CopiedWorkbook
from guildhall.documents.workbook_copy.writing import write_copy
from proofs import REALDATA, ROOT, Figures, proof

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
            (folder / f"{at}").mkdir(exist_ok=True)
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
            books = [one for one in packed if one.isfile() and one.name.endswith(".xlsx")]
            for number, one in enumerate(books):
                path = target / str(number) / Path(one.name).name
                path.parent.mkdir(parents=True)
                path.write_bytes(packed.extractfile(one).read())  # type: ignore[union-attr]
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
