"""Rendering in full: the real deliverables, and the speed beside the alternatives."""

from __future__ import annotations

import collections
import re
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from guildhall.documents.looking import Documents, documents, each, files_below
from guildhall.documents.values import FileOutcome, LookOutcome
from proofs import ROOT, Figures, proof, realdata

IN_FLIGHT = 4
COVERAGE = ROOT / "docs" / "method" / "documents-coverage.md"
_CRASHES = ("crashed", "cannot be parsed (")
"""The second is how a room tells an exception that no parser of ours foresaw."""


@contextmanager
def _real_files() -> Iterator[list[Path]]:
    """Every deliverable of the public data, unpacked, and the dataset's own files."""
    with tempfile.TemporaryDirectory(prefix="guildhall-proof-") as folder:
        for packed in sorted(realdata("gdpval/clawwork").glob("*.tar.gz")):
            with tarfile.open(packed) as archive:
                sound = [member for member in archive if member.isfile() and ".." not in Path(member.name).parts]
                archive.extractall(Path(folder) / packed.name, members=sound)
        authentic = realdata("gdpval/authentic_files")
        yield [
            *files_below([Path(folder)]),
            *(path for path in files_below([authentic]) if path.name != "manifest.csv"),
        ]


@contextmanager
def _look() -> Iterator[Documents]:
    with tempfile.TemporaryDirectory(prefix="guildhall-proof-") as cache, documents(Path(cache)) as everything:
        yield everything


@proof(
    "documents-coverage",
    "every real deliverable is rendered, read, checked, scrubbed and scanned, or counted with a reason; none is lost",
    budget_s=3600,
)
def coverage() -> Figures:
    rows: dict[str, collections.Counter[tuple[str, str]]] = collections.defaultdict(collections.Counter)
    reasons: collections.Counter[tuple[str, str, str]] = collections.Counter()
    silent = []
    with _real_files() as files, _look() as look, tempfile.TemporaryDirectory() as out:
        wishes = {
            "render": look.render,
            "text": lambda file: look.text(file)[0],
            "check": look.check,
            "scrub": lambda file: look.scrub(file, out=Path(out) / file.parent.name),
            "tells": look.tells,
        }
        for wish, serve in wishes.items():
            outcomes = list(each(files, serve))
            assert len(outcomes) == len(files)
            for outcome in outcomes:
                rows[outcome.kind.value][wish, outcome.outcome.value] += 1
                if outcome.outcome is LookOutcome.OMITTED:
                    reasons[outcome.kind.value, wish, outcome.reason or ""] += 1
                if _silent(outcome, wish):
                    silent.append((wish, outcome.file))
        crashed = sum(count for (_, _, reason), count in reasons.items() if any(word in reason for word in _CRASHES))
        assert not silent, silent
        assert not crashed, reasons
        COVERAGE.write_text(_coverage_page(rows, reasons, len(files)), encoding="utf-8")
        return {
            "files": len(files),
            "ok": sum(count for row in rows.values() for (_, seen), count in row.items() if seen == "ok"),
            "omitted": sum(reasons.values()),
            "silent_losses": len(silent),
            "crashes": crashed,
        }


def _silent(outcome: FileOutcome, wish: str) -> bool:
    """Nothing made and nothing said."""
    if outcome.outcome is LookOutcome.OMITTED:
        return not outcome.reason
    return wish in ("render", "scrub") and not (outcome.out and all(path.stat().st_size for path in outcome.out))


def _coverage_page(
    rows: dict[str, collections.Counter[tuple[str, str]]],
    reasons: collections.Counter[tuple[str, str, str]],
    files: int,
) -> str:
    wishes = ("render", "text", "check", "scrub", "tells")
    lines = [
        "# What can be shown: coverage on real deliverables",
        "",
        f"Written by `make prove ONLY=documents-coverage` over the {files} deliverables and task files of the public",
        "GDPval data. A cell is *done / omitted*; an omission has a reason, listed below. Nothing is lost silently.",
        "",
        "| kind | files | " + " | ".join(wishes) + " |",
        "| --- | ---: | " + " | ".join("---:" for _ in wishes) + " |",
    ]
    for kind, row in sorted(rows.items()):
        cells = [f"{row[wish, 'ok']} / {row[wish, 'omitted']}" for wish in wishes]
        total = row["render", "ok"] + row["render", "omitted"]
        lines.append(f"| {kind} | {total} | " + " | ".join(cells) + " |")
    lines += ["", "## Reasons for omissions", ""]
    for (kind, wish, reason), count in sorted(reasons.items()):
        without_paths = re.sub(r"(?<![\w.])/[\w.-]+(/[\w.-]+)+", "...", reason)
        lines.append(f"- {kind}, {wish}: {without_paths} ({count})")
    return "\n".join(lines if reasons else [*lines, "None."]) + "\n"


def _mixed_office(files: list[Path], count: int = 60) -> list[Path]:
    """Documents, sheets and decks in turn, in the order of their names, so that the set is always the same."""
    by_kind = [sorted(f for f in files if f.suffix == kind) for kind in (".docx", ".xlsx", ".pptx")]
    mixed = [group[place] for place in range(max(map(len, by_kind))) for group in by_kind if place < len(group)]
    return mixed[:count]


@proof(
    "documents-office-speed",
    "60 mixed Office files become page pictures at least 2 times faster than with one LibreOffice per file, 4 in flight"
    " each, and at least 5 times faster than one after the other; none is lost",
    tier="bench",
    budget_s=3600,
)
def office_speed() -> Figures:
    with _real_files() as files:
        chosen = _mixed_office(files)
        assert len(chosen) == 60
        with _look() as look:
            began = time.perf_counter()
            outcomes = list(each(chosen, look.render))
            ours_s = time.perf_counter() - began
        lost = sum(outcome.outcome is LookOutcome.OMITTED for outcome in outcomes)
        parallel_s, made = _one_office_per_file(chosen, in_flight=IN_FLIGHT)
        sequential_s, _ = _one_office_per_file(chosen, in_flight=1)
    figures = {
        "files": len(chosen),
        "pages": sum(outcome.pages or 0 for outcome in outcomes),
        "ours_s": round(ours_s, 1),
        "one_office_per_file_4_in_flight_s": round(parallel_s, 1),
        "one_after_the_other_s": round(sequential_s, 1),
        "lost_by_us": lost,
        "lost_by_one_office_per_file": len(chosen) - made,
        "times_faster_than_4_in_flight": round(parallel_s / ours_s, 2),
        "times_faster_than_one_after_the_other": round(sequential_s / ours_s, 2),
    }
    assert not lost, figures
    assert parallel_s >= 2 * ours_s, figures
    assert sequential_s >= 5 * ours_s, figures
    return figures


def _one_office_per_file(files: list[Path], *, in_flight: int) -> tuple[float, int]:
    """What most programs do: `soffice --convert-to pdf` with a profile of its own, then poppler's pdftoppm."""

    def convert(file: Path) -> bool:
        with tempfile.TemporaryDirectory(prefix="guildhall-plain-") as folder:
            profile = f"-env:UserInstallation=file://{folder}/profile"
            command = [
                "soffice",
                profile,
                "--headless",
                "--norestore",
                "--convert-to",
                "pdf",
                "--outdir",
                folder,
                str(file),
            ]
            subprocess.run(command, capture_output=True, timeout=300)
            pdf = Path(folder) / f"{file.stem}.pdf"
            if pdf.exists():
                subprocess.run(["pdftoppm", "-r", "110", "-png", str(pdf), f"{folder}/page"], capture_output=True)
            return pdf.exists() and any(Path(folder).glob("page*.png"))

    began = time.perf_counter()
    with ThreadPoolExecutor(in_flight) as pool:
        made = sum(pool.map(convert, files))
    return time.perf_counter() - began, made


@proof(
    "documents-pdf-speed",
    "PDF pages become pictures at least as fast as with poppler's pdftoppm, confinement included; median of 5",
    tier="bench",
    budget_s=900,
)
def pdf_speed() -> Figures:
    with _real_files() as files:
        chosen = sorted(file for file in files if file.suffix.lower() == ".pdf")[:20]
        ratios = []
        for _ in range(5):
            with _look() as look, tempfile.TemporaryDirectory() as folder:
                began = time.perf_counter()
                pages = sum(len(look.renderer.render(file).pages) for file in chosen)
                between = time.perf_counter()
                for number, file in enumerate(chosen):
                    subprocess.run(["pdftoppm", "-r", "110", "-png", str(file), f"{folder}/{number}"], check=True)
                ended = time.perf_counter()
                assert pages == len(list(Path(folder).glob("*.png")))
            ratios.append((ended - between) / (between - began))
    median = sorted(ratios)[2]
    assert median >= 1, ratios
    return {"files": len(chosen), "pages": pages, "times_faster_than_pdftoppm": round(median, 2)}


@proof(
    "documents-cache-speed",
    "a second rendering is served from the cache at least 100 times faster; median of 5",
    tier="bench",
)
def cache_speed() -> Figures:
    with _real_files() as files, _look() as look:
        chosen = _mixed_office(files, 15)
        began = time.perf_counter()
        first = [look.renderer.render(file) for file in chosen]
        made_s = time.perf_counter() - began
        served = []
        for _ in range(5):
            began = time.perf_counter()
            again = [look.renderer.render(file) for file in chosen]
            served.append(time.perf_counter() - began)
            assert all(one.from_cache for one in again)
    served_s = sorted(served)[2]
    assert [one.but(from_cache=False) for one in again] == first
    assert made_s >= 100 * served_s, (made_s, served_s)
    return {
        "files": len(chosen),
        "made_s": round(made_s, 2),
        "served_s": round(served_s, 4),
        "times_faster": round(made_s / served_s),
    }
