"""The hall under the load of 300 graders, on SQLite."""

from __future__ import annotations

from proofs import Figures, proof
from proofs._hall_serving import run_load

GRADERS, LASTS_S, SEED = 300, 120.0, 20261116
WANTED_P95_S = 0.25


@proof(
    "hall-load",
    "300 graders in an open loop (beat each 15 s, save each 20 s, page each 60 s, submit each 10 min) on SQLite: "
    "p95 under 250 ms, no error.",
    budget_s=900,
)
def three_hundred_graders() -> Figures:
    figures = run_load(graders=GRADERS, lasts_s=LASTS_S, seed=SEED)
    assert not figures["errors"], figures
    assert figures["p95_ms"] < 1000 * WANTED_P95_S, figures
    return figures
