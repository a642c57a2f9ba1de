"""Every interval of a report against planted truths: 2,016 whole studies through the store, by METHOD's protocol.

Resumable: what a round of 24 studies showed is kept under `.prove/planted/`, by the code it rests on.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from proofs import ROOT, Figures, proof
from proofs._examining import RUNS, Record, Seen, holm, p_value, records_of
from proofs._planted_intervals import intervals_of
from proofs._planted_study import Desk, report_of_run, seen_in_run
from proofs._planted_truths import Planted, truths_of
from proofs.coverage import FAILS_BELOW, digest_of_code, write_table
from proofs.simulator import CELLS

START = "<!-- table: written by the proof reports-planted-study -->"
PROCESSES = 2
KEPT = ROOT / ".prove" / "planted"
IN_MEMORY = "/dev/shm"
ONE_CORE = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
KEEPS_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(2**31), "MALLOC_TRIM_THRESHOLD_": str(2**32)}
"""Resampling takes and gives back the same few megabytes again and again; asking the system each time costs a third."""
FEWEST_GIVEN = 200
"""An interval that hardly any study shows is not examined by showing that it held."""
TRUTHS, STUDY = "proofs._planted_truths", "proofs._planted_study"
WHOLE = ("guildhall.analysis.", "guildhall.reports.", "guildhall.store.verdict", "guildhall.study.", "proofs.")


@proof(
    "reports-planted-study",
    "every interval of a report holds what was planted: 2,016 studies through the store, p >= 0.001 after Holm",
    tier="bench",
    budget_s=5400,
)
def planted_study() -> Figures:
    # Named once, before anything runs: whoever changes code meanwhile changes nothing here.
    truths = KEPT / f"truths-{digest_of_code(TRUTHS, below=('proofs.',))}"
    rounds = KEPT / f"rounds-{digest_of_code(STUDY, below=WHOLE)}"
    _make_missing(partial(_find_truths, truths), truths, len(CELLS))
    _make_missing(partial(_run_round, truths, rounds), rounds, RUNS // len(CELLS))
    records = _examined(rounds)
    adjusted = holm([p_value(record) for record in records])
    write_table(records, adjusted, start=START)
    failed = {
        record.interval: f"{record.held} of {record.n}, p {p:.2g}"
        for record, p in zip(records, adjusted, strict=True)
        if p < FAILS_BELOW
    }
    assert not failed, f"intervals that do not cover as they say: {failed}"
    families: dict[str, int] = {}
    for record in records:
        family = record.interval.removesuffix(", where rare")
        families[family] = families.get(family, 0) + record.n
    unseen = [family for family, given in families.items() if given < FEWEST_GIVEN]
    assert not unseen, f"planted, and shown by hardly any report: {unseen}"
    with tempfile.TemporaryDirectory() as folder:
        shown = intervals_of(report_of_run(Desk(Path(folder)), 1))
    return {
        "studies": RUNS,
        "intervals_in_one_report": sum(one.interval is not None for one in shown.values()),
        "kinds_of_interval": len(families),
        "smallest_p_after_holm": min(adjusted),
        "coverage": {record.interval: round(record.coverage, 4) for record in records},
    }


def _examined(rounds: Path) -> list[Record]:
    """What all rounds together showed of each interval."""
    rows: dict[str, list[tuple[int, Seen]]] = {}
    for number in range(RUNS // len(CELLS)):
        for cell, *seen in json.loads(_file(rounds, number).read_text()):
            one = Seen(*seen)
            rows.setdefault(one.interval, []).append((cell, one))
    return [record for interval, own in rows.items() for record in records_of(interval, own)]


def _make_missing(make: Callable[[int], None], folder: Path, times: int) -> None:
    """Make what is not yet there, in processes that each use one core."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [number for number in range(times) if not _file(folder, number).exists()]
    os.environ |= ONE_CORE | KEEPS_MEMORY
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        list(pool.map(make, missing))


def _file(folder: Path, number: int) -> Path:
    return folder / f"{number:02d}.json"


def _keep(path: Path, data: object) -> None:
    """Written under another name first: what is there is whole."""
    half = path.with_suffix(".half")
    half.write_text(json.dumps(data))
    half.rename(path)


def _find_truths(folder: Path, number: int) -> None:
    _keep(_file(folder, number), truths_of(CELLS[number]))


def _run_round(truths: Path, rounds: Path, number: int) -> None:
    """One study in each cell."""
    seen: list[tuple[object, ...]] = []
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None) as folder:
        desk = Desk(Path(folder))
        for cell in range(len(CELLS)):
            kept = json.loads(_file(truths, cell).read_text())
            planted = {address: Planted(*one) for address, one in kept.items()}
            run = number * len(CELLS) + cell
            seen += [(cell, *one) for one in seen_in_run(report_of_run(desk, run), planted, run)]
    _keep(_file(rounds, number), seen)
