"""A report over a million judgments: how long it takes and how much memory it holds."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from guildhall.store.workspace import Workspace
from proofs import ROOT, Figures, proof
from proofs._million import Large, load_large

LONGEST_S, MOST_MB = 20.0, 1536.0
RUNS = 5


@proof(
    "reports-million",
    "a report over 1,000,000 judgments, 300 models and 50 breakdown levels takes under 20 s and 1.5 GB on 2 cores",
    tier="bench",
    budget_s=1800,
)
def report_over_a_million_judgments() -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder) / "workspace"
        with Workspace.create(workspace) as made:
            load_large(made.store, Large())
        command = [sys.executable, "-m", "proofs._report_large", str(workspace), f"{folder}/report"]
        seen = [json.loads(subprocess.check_output(command, cwd=ROOT)) for _ in range(RUNS)]
        pages = {file.name: file.stat().st_size for file in (Path(folder) / "report").iterdir() if file.is_file()}
    median = sorted(seen, key=lambda one: one["seconds"])[RUNS // 2]
    figures: Figures = median | {"seconds_of_each": [round(one["seconds"], 1) for one in seen], "bytes": pages}
    assert median["judgments"] == 1_000_000 and median["models"] == 300 and median["breakdown_levels"] >= 50, figures
    assert median["megabytes"] < MOST_MB, figures
    assert median["seconds"] < LONGEST_S, figures
    return figures
