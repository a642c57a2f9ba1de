"""Many bad days in a row, on both databases."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from proofs import ROOT, Figures, proof

FAULTS, SEED = 204, 20261116
"""On each database; every kind comes about equally often."""


@proof(
    "scale-torture",
    "At least 200 faults on each database (processes killed, disk full or read-only, database restarted or cut off, "
    "provider cut off, clock jumps, damaged files, two servers, a silent worker): 0 lost, 0 duplicates, no orphan "
    "lease, no broken reference.",
    budget_s=3600,
)
def torture() -> Figures:
    databases = ("sqlite", "postgresql")
    with ThreadPoolExecutor(len(databases)) as side_by_side:
        struck = dict(zip(databases, side_by_side.map(_campaign, databases), strict=True))
    return {"lost": 0, "duplicates": 0, "orphan_leases": 0, "broken_references": 0} | struck


def _campaign(database: str) -> dict[str, int]:
    """How many faults of each kind struck; a campaign ends with an error at the first broken promise."""
    command = [sys.executable, "-m", "tests.torture", database, str(FAULTS), str(SEED)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    struck: dict[str, int] = json.loads(run.stdout)
    assert sum(struck.values()) == FAULTS
    return dict(sorted(struck.items()))
