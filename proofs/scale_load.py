"""A thousand graders at once: PostgreSQL and several web servers, with SQLite and one server beside it."""

from __future__ import annotations

from tests.postgres import private_postgres

from proofs import Figures, proof
from proofs._hall_serving import run_load

GRADERS, LASTS_S, SEED, SERVERS = 1000, 180.0, 20261116, 3
WANTED_P95_MS = 300.0


@proof(
    "scale-load",
    "1,000 graders in an open loop for 3 minutes (beat each 15 s, save each 20 s, page each 60 s, submit each 10 min) "
    "on PostgreSQL with three web servers: p95 under 300 ms, no error; the figure of SQLite with one server beside it.",
    tier="bench",
    budget_s=1500,
)
def a_thousand_graders() -> Figures:
    with private_postgres(fsync=True) as server:
        held = run_load(graders=GRADERS, lasts_s=LASTS_S, seed=SEED, database=server.new_database(), servers=SERVERS)
    figures = {"postgresql": held, "sqlite": run_load(graders=GRADERS, lasts_s=LASTS_S, seed=SEED)}
    assert not held["errors"], figures
    assert held["p95_ms"] < WANTED_P95_MS, figures
    return figures
