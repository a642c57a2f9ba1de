"""Statistics: seventeen rows side by side with the libraries of the field, each behind a correctness gate.

Every row runs our code and the peer in turn, in processes of their own on the same seeded data, and compares the best
run of each. Peers live in an environment of their own under `.prove/`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from proofs import ROOT, Figures, proof
from proofs import _bench_data as data
from proofs._bench import ONE_THREAD, Race, ours, peer, peers_python, race


def _at_least(run: Race, bar: float, **more: Any) -> Figures:
    assert run.ratio >= bar, f"{run.ratio:.1f} x is below the bar of {bar:g} x ({run.figures()})"
    return {**run.figures(), "bar": bar, **more}


def _cold(python: Path | str, script: str, environment: dict[str, str]) -> tuple[float, float, dict[str, Any]]:
    """Wall seconds and peak memory of a whole process, and the report it prints."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [str(python), str(ROOT / "proofs" / script), str(data.gold())],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **environment},
    )
    assert process.stdout is not None
    printed = process.stdout.read()
    assert process.wait() == 0, script
    took, report = time.perf_counter() - started, json.loads(printed.splitlines()[-1])
    return took, report["peak_kb"] / 1024, report


@proof(
    "statistics-bench-01-cold-report",
    "A whole GDPval-size analysis in a cold process is 25 x faster than the peers'",
    tier="bench",
    budget_s=900,
)
def cold_report() -> Figures:
    python = peers_python()
    runs = [
        (_cold(sys.executable, "_report_ours.py", ONE_THREAD), _cold(python, "_report_peers.py", {})) for _ in range(3)
    ]
    (_, ours_mb, mine), (_, peer_mb, theirs) = runs[-1]
    ours_s, peer_s = (min(run[side][0] for run in runs) for side in (0, 1))
    np.testing.assert_allclose(mine["rates"], theirs["rates"], atol=1e-12)
    np.testing.assert_array_equal(mine["cells"], theirs["cells"])
    np.testing.assert_allclose(mine["half_tie_intervals"], theirs["half_tie_intervals"], atol=0.006)
    for name in ("human_human", "human_auto"):
        np.testing.assert_allclose(mine[name], theirs[name], atol=0.0015)
    assert abs(mine["alpha"] - theirs["alpha"]) < 1e-12
    np.testing.assert_allclose(mine["ratings"], np.array(theirs["ratings"]) - np.mean(theirs["ratings"]), atol=2e-3)
    np.testing.assert_allclose(mine["ppi"], theirs["ppi"], atol=1e-9)
    assert ours_mb < 100, ours_mb
    assert peer_s / ours_s >= 25, f"{peer_s / ours_s:.1f} x ({ours_s:.3f} s against {peer_s:.2f} s)"
    return {
        "ratio": round(peer_s / ours_s, 1),
        "bar": 25,
        "ours_s": round(ours_s, 3),
        "peer_s": round(peer_s, 2),
        "ours_mb": round(ours_mb),
        "peer_mb": round(peer_mb),
    }


def _is_the_maximum(run: Race) -> dict[str, float]:
    """Our fit is at the maximum: its gradient says so, and so does choix."""
    choix = peer("choix_ratings").result["ratings"]
    apart = float(np.abs(run.ours["ratings"] - (choix - choix.mean())).max())
    gradient = float(run.ours["gradient"])
    assert gradient < 1e-12, gradient
    assert apart < 1e-8, apart
    return {"gradient": gradient, "from_choix": apart}


@proof(
    "statistics-bench-02-ratings-strings",
    "Bradley-Terry with sandwich on 1e7 string votes is 40 x arena-rank, in a tenth of its memory",
    tier="bench",
    budget_s=900,
)
def ratings_strings() -> Figures:
    data.votes_parquet(10_000_000, 300)
    run = race("strings", peer_repeats=2, rounds=2)
    assert run.ours_mb * 10 <= run.peer_mb, (run.ours_mb, run.peer_mb)
    return _at_least(run, 40, **_is_the_maximum(run))


@proof(
    "statistics-bench-03-ratings-categoricals",
    "Bradley-Terry with sandwich on 1e7 categorical votes is 150 x arena-rank",
    tier="bench",
    budget_s=900,
)
def ratings_categoricals() -> Figures:
    data.votes(10_000_000, 300)
    run = race("categoricals", peer_repeats=2, rounds=2)
    return _at_least(run, 150, **_is_the_maximum(run))


@proof(
    "statistics-bench-04-ratings-counts",
    "Bradley-Terry with sandwich from counts is 80 x arena-rank",
    tier="bench",
    budget_s=900,
)
def ratings_counts() -> Figures:
    data.votes(10_000_000, 300)
    run = race("counts", peer_repeats=2)
    errors = _sandwich_without_ridge(run.ours["ratings"])
    off = float(np.abs(run.ours["errors"] / errors - 1).max())
    assert off < 1e-3, off
    return _at_least(run, 80, half_widths_off=off, **_is_the_maximum(run))


def _sandwich_without_ridge(ratings: Any) -> Any:
    """Standard errors by the textbook, row by row of the table of outcomes."""
    votes = np.load(data.votes(10_000_000, 300))
    table = np.zeros((3, 300, 300))
    np.add.at(table, (votes["outcome"], votes["left"], votes["right"]), 1.0)
    share = 1 / (1 + np.exp(ratings[None, :] - ratings[:, None]))
    bread, meat = np.zeros((300, 300)), np.zeros((300, 300))
    for outcome, score in enumerate((1.0, 0.5, 0.0)):
        for matrix, weight in (
            (bread, table[outcome] * share * (1 - share)),
            (meat, table[outcome] * (score - share) ** 2),
        ):
            both = weight + weight.T
            matrix += np.diag(both.sum(axis=1)) - both
    inverse = np.linalg.pinv(bread)
    return np.sqrt(np.diag(inverse @ meat @ inverse))


def _matches_the_sandwich() -> dict[str, float]:
    found = ours("bootstrap_10000", repeats=1).result
    off = found["bootstrap"] / found["sandwich"] - 1
    assert float(np.abs(off).max()) < 0.03, off
    return {"half_widths_off_at_10000_rounds": round(float(np.abs(off).max()), 4)}


@proof(
    "statistics-bench-05-bootstrap-fastchat",
    "100 bootstrap rounds of ratings on 1e6 votes are 200 x FastChat's",
    tier="bench",
    budget_s=900,
)
def bootstrap_fastchat() -> Figures:
    data.votes(1_000_000, 100)
    return _at_least(race("bootstrap_100", peer_repeats=1), 200, **_matches_the_sandwich())


@proof(
    "statistics-bench-06-bootstrap-arena-rank",
    "20 bootstrap rounds of ratings on 1e6 votes are 500 x arena-rank's",
    tier="bench",
    budget_s=900,
)
def bootstrap_arena_rank() -> Figures:
    data.votes(1_000_000, 100)
    return _at_least(race("bootstrap_20", peer_repeats=1, rounds=1), 500, **_matches_the_sandwich())


@proof(
    "statistics-bench-07-bootstrap-evalica",
    "1000 bootstrap rounds of ratings at GDPval size are 300 x evalica's",
    tier="bench",
    budget_s=900,
)
def bootstrap_evalica() -> Figures:
    data.votes(13_860, 8)
    run = race("bootstrap_gold", peer_repeats=1, rounds=2)
    off = float(np.abs(run.ours["bootstrap"] / run.ours["sandwich"] - 1).max())
    assert off < 0.1, off
    return _at_least(run, 300, half_widths_off_at_1000_rounds=round(off, 4))


def _within_two_steps(run: Race, truth: Any) -> dict[str, float]:
    off = float(np.abs(run.ours["interval"] - truth).max() / float(run.ours["step"]))
    assert off <= 2.0, off
    return {"steps_off_a_million_rounds": round(off, 2)}


def _million_rounds(human: Any) -> Any:
    """Quantiles of a million literal rounds, drawn type by type: how many samples of a type take which value."""
    rng = np.random.default_rng(1)
    kinds, times = np.unique(np.sort(human, axis=1), axis=0, return_counts=True)
    total = np.zeros(1_000_000)
    for kind, n in zip(kinds.tolist(), times.tolist(), strict=True):
        drawn = [abs(x - y) + abs(x - z) + abs(y - z) for x, y, z in product(kind, repeat=3)]
        steps, ways = np.unique(drawn, return_counts=True)
        total += rng.multinomial(n, ways / 27, size=1_000_000) @ steps
    return np.quantile(1 - total / (6 * len(human)), [0.025, 0.975])


@proof(
    "statistics-bench-08-human-human-numpy",
    "The human-human interval at GDPval size, first call, is 50 x 1000 NumPy rounds",
    tier="bench",
    budget_s=900,
)
def human_human_numpy() -> Figures:
    truth = _million_rounds(np.load(data.gold())["human"].reshape(-1, 3))
    run = race("human_human", peer_repeats=2, first_call=True)
    return _at_least(run, 50, **_within_two_steps(run, truth))


@proof(
    "statistics-bench-09-human-human-scipy",
    "The human-human interval at GDPval size is 100 x scipy.stats.bootstrap, and the corrected one covers",
    tier="bench",
    budget_s=900,
)
def human_human_scipy() -> Figures:
    truth = _million_rounds(np.load(data.gold())["human"].reshape(-1, 3))
    run = race("human_human", peer_row="human_human_scipy", peer_repeats=2)
    covered = _coverage_of_fixed_samples()
    assert 0.93 <= covered <= 0.98, covered
    return _at_least(run, 100, coverage=covered, **_within_two_steps(run, truth))


def _coverage_of_fixed_samples(rounds: int = 2000) -> float:
    from guildhall.analysis.agreement import pair_disagreement_law
    from guildhall.analysis.ratings_table import types_from_matrix

    rng = np.random.default_rng(2)
    mixes = rng.dirichlet([1.0, 0.5, 1.0], size=220)
    distance = np.abs(np.subtract.outer([0.0, 0.5, 1.0], [0.0, 0.5, 1.0]))
    truth = float(np.einsum("ni,ij,nj->n", mixes, distance, mixes).mean())
    held = 0
    for _ in range(rounds):
        drawn = (rng.random((220, 3))[:, :, None] > mixes.cumsum(axis=1)[:, None, :2]).sum(axis=2).astype(np.int8)
        law = pair_disagreement_law(types_from_matrix(drawn))
        assert law is not None
        low, high = law.interval(0.95)
        held += low <= truth <= high
    return held / rounds


@proof(
    "statistics-bench-10-human-auto-numpy",
    "The human-auto interval at GDPval size, first call, is 10 x 1000 NumPy rounds",
    tier="bench",
    budget_s=900,
)
def human_auto_numpy() -> Figures:
    data.gold()
    run = race("human_auto", peer_repeats=2, first_call=True)
    off = float(np.abs(run.ours["interval"] - run.peer["interval"]).max())
    assert off < 0.001, off
    return _at_least(run, 10, interval_off_1000_rounds=round(off, 6))


@proof(
    "statistics-bench-11-human-human-large",
    "The human-human interval on 3e6 ratings is 150 x 100 NumPy rounds",
    tier="bench",
    budget_s=900,
)
def human_human_large() -> Figures:
    data.rating_matrix(1_000_000)
    run = race("human_human_large", peer_repeats=1)
    off = float(np.abs(run.ours["interval"] - run.peer["interval"]).max())
    assert off < 0.0005, off
    return _at_least(run, 150, interval_off_100_rounds=round(off, 6))


@proof(
    "statistics-bench-12-alpha",
    "Krippendorff's alpha of 3e6 ratings is 20 x the reference library's, and equal",
    tier="bench",
    budget_s=900,
)
def alpha() -> Figures:
    data.rating_matrix(1_000_000)
    run = race("alpha", peer_repeats=2)
    off = abs(float(run.ours["alpha"]) - float(run.peer["alpha"]))
    assert off < 1e-12, off
    return _at_least(run, 20, off=off)


@proof(
    "statistics-bench-13-ppi",
    "A prediction-powered mean over 1e7 automatic scores is 10 x ppi_py, in a hundredth of its memory, and equal",
    tier="bench",
    budget_s=900,
)
def ppi() -> Figures:
    data.predictions(10_000_000)
    run = race("ppi", peer_repeats=2)
    off = float(np.abs(run.ours["interval"] - run.peer["interval"]).max())
    assert off < 1e-12, off
    assert run.ours_mb * 100 <= run.peer_mb, (run.ours_mb, run.peer_mb)
    return _at_least(run, 10, off=off)


@proof(
    "statistics-bench-14-medians",
    "Medians and bias of 1e7 marks among 300 models are 8 x pandas, and equal",
    tier="bench",
    budget_s=900,
)
def medians() -> Figures:
    data.marks(10_000_000)
    run = race("medians", peer_repeats=2)
    np.testing.assert_array_equal(run.ours["medians"], run.peer["medians"])
    np.testing.assert_allclose(run.ours["bias"], run.peer["bias"], atol=1e-12)
    return _at_least(run, 8)


@proof(
    "statistics-bench-15-breakdown",
    "A breakdown of 1e7 categorical grades is 3 x polars, and equal",
    tier="bench",
    budget_s=900,
)
def breakdown() -> Figures:
    data.grades(10_000_000)
    run = race("breakdown", peer_repeats=3)
    np.testing.assert_array_equal(run.ours["counts"], run.peer["counts"])
    return _at_least(run, 3)


@proof(
    "statistics-bench-16-breakdown-file",
    "A breakdown of 1e7 string grades in a Parquet file is 2 x duckdb, and equal",
    tier="bench",
    budget_s=900,
)
def breakdown_file() -> Figures:
    data.grades(10_000_000)
    run = race("breakdown_file", peer_repeats=3)
    np.testing.assert_array_equal(run.ours["counts"], run.peer["counts"])
    return _at_least(run, 2)


@proof("statistics-bench-17-elo", "Compiled Elo over 1e7 votes is 50 x evalica, and equal", tier="bench", budget_s=900)
def elo() -> Figures:
    data.votes(10_000_000, 300)
    run = race("elo", peer_repeats=1, rounds=2)
    off = float(np.abs(run.ours["ratings"] - run.peer["ratings"]).max())
    assert off < 1e-9 * 1000, off
    return _at_least(run, 50, off=off)
