"""The protocol for intervals: every one of them, 2,016 seeded runs over 24 cells, and the table in the docs.

Resumable: what a sitting showed is kept under `.prove/coverage/`, by the code it rests on, and not run again.
"""

from __future__ import annotations

import ast
import hashlib
import json
import math
from pathlib import Path

from proofs import ROOT, Figures, proof
from proofs import _sittings_findings as findings
from proofs import _sittings_marks as marks
from proofs import _sittings_powered as powered
from proofs import _sittings_rates as rates
from proofs._examining import RUNS, Record, Sitting, examine, holm, p_value

FAILS_BELOW = 0.001
PAGE = ROOT / "docs" / "method" / "coverage.md"
START, END = "<!-- table: written by the proof coverage-protocol -->", "<!-- end of table -->"
SITTINGS: dict[str, Sitting] = {**rates.SITTINGS, **powered.SITTINGS, **marks.SITTINGS, **findings.SITTINGS}


@proof(
    "coverage-protocol",
    "every interval holds the truth as often as it says: 2,016 seeded runs each, exact tests, p >= 0.001 after Holm",
    tier="bench",
    budget_s=5400,
)
def coverage_protocol() -> Figures:
    records = [record for name in SITTINGS for record in _kept(name)]
    adjusted = holm([p_value(record) for record in records])
    write_table(records, adjusted)
    failed = {
        record.interval: round(record.coverage, 4)
        for record, p in zip(records, adjusted, strict=True)
        if p < FAILS_BELOW
    }
    assert not failed, f"intervals that do not cover as they say: {failed}"
    return {
        "intervals": len(records),
        "runs_each": RUNS,
        "smallest_p_after_holm": min(adjusted),
        "coverage": {record.interval: round(record.coverage, 4) for record in records},
    }


def _kept(name: str) -> list[Record]:
    """A sitting's records, from an earlier run of the same code where there is one."""
    folder = ROOT / ".prove" / "coverage"
    path = folder / f"{name.replace(' ', '-').replace(',', '')}-{digest_of_code(SITTINGS[name].__module__)}.json"
    if path.exists():
        return [Record(*row) for row in json.loads(path.read_text())]
    records = examine(name, SITTINGS[name])
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records))
    return records


def digest_of_code(module: str, *, below: tuple[str, ...] = ("guildhall.analysis.", "proofs.")) -> str:
    """A digest of a module and of everything of ours that it imports, directly or not, from these packages."""
    waiting, seen = [module], set()
    digest = hashlib.sha256()
    while waiting:
        module = waiting.pop()
        path = _file_of(module, below)
        if module in seen or path is None:
            continue
        seen.add(module)
        tree = ast.parse(path.read_text())
        waiting += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    for module in sorted(seen):
        path = _file_of(module, below)
        digest.update(module.encode() + (path.read_bytes() if path else b""))
    return digest.hexdigest()[:16]


def _file_of(module: str, below: tuple[str, ...]) -> Path | None:
    """The file of a module of these packages; None for anything else."""
    if not module.startswith(below):
        return None
    root = ROOT / "src" if module.startswith("guildhall") else ROOT
    path = root / Path(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None)


def write_table(records: list[Record], adjusted: list[float], *, start: str = START) -> None:
    """Put the table into the method page, between its marks."""
    rows = [
        "| interval | claim | runs | coverage | worst cell | width ratio | p after Holm |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for record, p in zip(records, adjusted, strict=True):
        ratio = "" if record.width_ratio is None or math.isnan(record.width_ratio) else f"{record.width_ratio:.2f}"
        shown = "none made" if record.kind == "as published" else f"{p:.2g}"
        worst = f"{record.worst_cell:.1%}" if record.worst_cell < 1 else ""
        rows.append(
            f"| {record.interval} | {record.kind} | {record.n} | {record.coverage:.1%} | {worst} | {ratio} | {shown} |"
        )
    page = PAGE.read_text()
    before, rest = page.split(start)
    _, after = rest.split(END, 1)
    PAGE.write_text(before + start + "\n\n" + "\n".join(rows) + "\n\n" + END + after)
