"""Many bad days in a row, on both databases."""

from __future__ import annotations

import json
import subprocess
import sys

from proofs import ROOT, Figures, proof

FAULTS, SEED = 204, 20261116
"""On each database; every kind comes about equally often."""
CLAIM = (
    "At least 200 faults on {} (processes killed, disk full or read-only, {}, provider cut off, clock jumps, damaged "
    "files, two servers, a silent worker): 0 lost, 0 duplicates, no orphan lease, no broken reference."
)


@proof("scale-torture-sqlite", CLAIM.format("SQLite", "a writer killed in its transaction"), budget_s=3600)
def torture_sqlite() -> Figures:
    return _campaign("sqlite")


@proof("scale-torture-postgresql", CLAIM.format("PostgreSQL", "database restarted or cut off"), budget_s=3600)
def torture_postgresql() -> Figures:
    return _campaign("postgresql")


def _campaign(database: str) -> Figures:
    """How many faults of each kind struck; a campaign ends with an error at the first broken promise."""
    command = [sys.executable, "-m", "tests.torture", database, str(FAULTS), str(SEED)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    struck: dict[str, int] = json.loads(run.stdout)
    assert sum(struck.values()) == FAULTS
    nothing = {"lost": 0, "duplicates": 0, "orphan_leases": 0, "broken_references": 0}
    return nothing | {"faults": dict(sorted(struck.items()))}
