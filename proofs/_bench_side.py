"""One side of a benchmark, ours or a peer's, in a process of its own: `_bench_side.py MODULE ROW REPEATS FOLDER`.

MODULE (a file beside this one) has a function per row that takes the data folder and returns what to time; its
result (numbers, arrays) is written to FOLDER/MODULE-ROW.npz for the correctness gate. Needs NumPy and nothing of ours.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from pathlib import Path

import numpy as np


def peak_mb() -> float:
    """Peak resident memory since the last reset."""
    status = Path("/proc/self/status").read_text()
    return float(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def main() -> None:
    module, row, repeats, folder = sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4])
    sys.path.insert(0, str(Path(__file__).parent))
    work = getattr(importlib.import_module(module), row)(folder)
    Path("/proc/self/clear_refs").write_text("5")
    before = peak_mb()
    seconds, result = [], None
    for _ in range(repeats):
        started = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - started)
    memory = peak_mb() - before
    np.savez(folder / f"{module}-{row}.npz", **(result or {}))
    print("\n" + json.dumps({"seconds": seconds, "mb": round(memory, 1), "peak_mb": round(peak_mb(), 1)}))
    sys.stdout.flush()
    # Peers leave pools and threads behind; nothing of theirs is wanted any more.
    os._exit(0)


if __name__ == "__main__":
    main()
