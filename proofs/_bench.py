"""Running our side and a peer's side of a benchmark row, alternately, in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from proofs import ROOT, NotRun
from proofs._bench_data import FOLDER

PEERS = ROOT / ".prove" / "peers-statistics"
PACKAGES = (
    "arena-rank", "evalica", "choix", "krippendorff", "statsmodels", "ppi-python",
    "polars", "duckdb", "pandas", "numba", "scikit-learn", "pyarrow", "threadpoolctl",
)  # fmt: skip
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Ours runs with one BLAS thread, as we advise; peers keep their defaults."""


class Timed(NamedTuple):
    """Seconds of each run, memory above the loaded input, and what came out."""

    seconds: list[float]
    mb: float
    result: dict[str, Any]


class Race(NamedTuple):
    """The best run of each side: on a machine that others use too, it is what was least disturbed."""

    ours_s: float
    peer_s: float
    ours_mb: float
    peer_mb: float
    ours: dict[str, Any]
    peer: dict[str, Any]

    @property
    def ratio(self) -> float:
        return self.peer_s / self.ours_s

    def figures(self) -> dict[str, Any]:
        return {
            "ratio": round(self.ratio, 1),
            "ours_s": round(self.ours_s, 5),
            "peer_s": round(self.peer_s, 4),
            "ours_mb": self.ours_mb,
            "peer_mb": self.peer_mb,
        }


def peers_python() -> Path:
    """The interpreter of the peers' own environment, built on first use."""
    python = PEERS / "bin" / "python"
    if not (PEERS / "ready").exists():
        uv = str(Path(sys.executable).with_name("uv"))
        made = [
            subprocess.run(
                [uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(PEERS)],
                capture_output=True,
                text=True,
            ),
            subprocess.run(
                [uv, "pip", "install", "--quiet", "--python", str(python), *PACKAGES], capture_output=True, text=True
            ),
        ]
        if any(one.returncode for one in made):
            raise NotRun(f"the peers could not be installed: {made[-1].stderr[-300:]}")
        (PEERS / "ready").touch()
    return python


def run_side(python: Path | str, module: str, row: str, *, repeats: int, environment: dict[str, str]) -> Timed:
    """One side in a process of its own."""
    script = ROOT / "proofs" / "_bench_side.py"
    done = subprocess.run(
        [str(python), str(script), module, row, str(repeats), str(FOLDER)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=900,
    )
    if done.returncode:
        raise AssertionError(f"{module}.{row}: {done.stderr[-2000:]}")
    seen = json.loads(done.stdout.splitlines()[-1])
    with np.load(FOLDER / f"{module}-{row}.npz", allow_pickle=False) as stored:
        result = {name: stored[name] for name in stored.files}
    return Timed(seen["seconds"], seen["mb"], result)


def ours(row: str, *, repeats: int = 5) -> Timed:
    return run_side(sys.executable, "_bench_ours", row, repeats=repeats, environment=ONE_THREAD)


def peer(row: str, *, repeats: int = 1) -> Timed:
    return run_side(peers_python(), "_bench_peers", row, repeats=repeats, environment={})


def race(
    row: str, *, peer_row: str | None = None, peer_repeats: int = 2, rounds: int = 3, first_call: bool = False
) -> Race:
    """Ours and the peer's in turn. With `first_call` each of our runs is the first in a fresh process."""
    peers_python()
    mine, theirs = [], []
    for _ in range(rounds):
        mine += [ours(row, repeats=1) for _ in range(2)] if first_call else [ours(row)]
        theirs.append(peer(peer_row or row, repeats=peer_repeats))
    return Race(
        min(seconds for run in mine for seconds in run.seconds),
        min(seconds for run in theirs for seconds in run.seconds),
        max(run.mb for run in mine),
        min(run.mb for run in theirs),
        mine[-1].result,
        theirs[-1].result,
    )
