"""The public data as its hub lays it out: real files where they are at hand, stand-ins under the published names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl

CARD = "---\nlicense: cc-by-4.0\npretty_name: GDPval\n---\n# GDPval\n"


def hub_layout(folder: Path, realdata: Path, *, tasks: int = 220) -> Path:
    """`data/*.parquet`, `README.md`, `reference_files/` and `deliverable_files/` of the newer generation."""
    lines = (realdata / "gdpval/gdpval_tasks_220.jsonl").read_text().split("\n")[:tasks]
    rows = []
    for told in map(json.loads, lines):
        listed = {kind: [one["path"] for one in told[kind]] for kind in ("reference_files", "deliverable_files")}
        facts = {name: told[name] for name in ("task_id", "sector", "occupation", "prompt", "rubric_pretty")}
        rows.append(facts | listed)
        for path in (*listed["reference_files"], *listed["deliverable_files"]):
            _place(folder / path, realdata / "gdpval/authentic_files" / path)
    (folder / "data").mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows).write_parquet(folder / "data/train-00000-of-00001.parquet")
    (folder / "README.md").write_text(CARD)
    return folder


def _place(path: Path, real: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if real.is_file():
        shutil.copyfile(real, path)
    else:
        path.write_text(f"a stand-in for {path.name} of {path.parent.name}")
