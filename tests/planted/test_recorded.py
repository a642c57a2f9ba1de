"""What each road prints of a few planted stores, kept as a table: whoever corrects a road sees which numbers change."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from guildhall.errors import GuildhallError
from guildhall.store.workspace import Workspace
from tests.planted.roads import ROADS, Shown, Twin
from tests.planted.store import Shape, planted_store

RECORDED = Path(__file__).parent / "recorded.csv"
STORES = {
    "pairs": Shape(tasks=6, models=2, samples=1),
    "a model as baseline": Shape(tasks=6, models=3, samples=2, baseline="alpha"),
    "sets of four": Shape(tasks=6, models=3, samples=1, set_size=4, judges_set_size=4),
    "programs only": Shape(tasks=6, models=2, samples=1, people=False),
    "reworded tasks": Shape(tasks=6, models=2, samples=1, revised=True),
}
KEPT = ("leading /", "expert /", "judge:judge-a /")


def test_roads_print_what_is_recorded(tmp_path, request):
    """Run with --golden after a road was corrected, and read what changed."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["store", "figure", "naive", *ROADS])
    for seed, (name, shape) in enumerate(STORES.items()):
        planted = planted_store(seed, tmp_path / name, shape=shape)
        twin, shown = Twin(planted, planted.first), {}
        with Workspace.open(planted.workspace) as workspace:
            for road, (walk, _) in ROADS.items():
                try:
                    shown[road] = walk(workspace, twin)
                except GuildhallError:
                    shown[road] = {}
        told: Shown = twin.shown(twin.groups) | twin.leading() | twin.n_rows()
        for figure in sorted({*told, *(one for found in shown.values() for one in found)}):
            if figure.startswith(KEPT) and not figure.endswith((" / win", " / win_or_tie")):
                cells = [_cell(found.get(figure)) for found in (told, *shown.values())]
                table.writerow([name, figure, *cells])
    if request.config.getoption("--golden"):
        RECORDED.write_text(out.getvalue())
    assert out.getvalue() == RECORDED.read_text()


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
