"""Statistics: right on real files, flat in memory, and silent where there is nothing sure to say."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from proofs import REALDATA, ROOT, Figures, proof, realdata
from proofs._bench import ONE_THREAD, peers_python

SCORES = {"0": 0.5, "1": 1.0, "2": 0.0}


def _pandalm(judge: str, field: str) -> Any:
    from guildhall.analysis.ratings_table import ratings_from_table
    from guildhall.analysis.tables import Table, encode

    people = json.loads(realdata("preferences/pandalm_testset-v1_3humans.json").read_text())
    rows: list[tuple[Any, ...]] = [
        (one["idx"], one["cmp_key"], f"annotator{n}", "human", SCORES[str(one[f"annotator{n}"])])
        for one in people
        for n in (1, 2, 3)
    ]
    rows += [
        (one["idx"], people[one["idx"]]["cmp_key"], "judge", "auto", SCORES.get(str(one[field])))
        for one in json.loads(realdata(f"preferences/{judge}").read_text())
    ]
    columns = zip(("sample", "model", "rater", "kind", "score"), zip(*rows, strict=True), strict=True)
    return ratings_from_table(Table({name: encode(cells) for name, cells in columns}, len(rows)))


def _llmfao() -> list[dict[str, str]]:
    with realdata("preferences/llmfao_votes.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@proof("statistics-right-agreement", "Agreement on PandaLM and LLMFAO equals the independent figures")
def right_agreement() -> Figures:
    from guildhall.analysis.agreement import agreement
    from guildhall.analysis.ratings_table import ratings_from_table
    from guildhall.analysis.tables import Table, encode

    oracle = json.loads(realdata("oracle.json").read_text())
    gpt, pandalm = (
        agreement(_pandalm(judge, field))
        for judge, field in (
            ("pandalm_judge_gpt35.json", "gpt_result"),
            ("pandalm_judge_pandalm7b.json", "pandalm_result"),
        )
    )
    rows = _llmfao()
    worth = {"left": 1.0, "tie": 0.5, "right": 0.0}
    columns: dict[str, list[Any]] = {
        "sample": [row["id"] for row in rows],
        "model": ["all"] * len(rows),
        "rater": [row["worker"] for row in rows],
        "kind": ["human"] * len(rows),
        "score": [worth[row["winner"]] for row in rows],
    }
    crowd = agreement(ratings_from_table(Table({n: encode(c) for n, c in columns.items()}, len(rows)))).human_human
    figures: dict[str, tuple[Any, float]] = {
        "pandalm_human_human": (gpt.human_human.value, oracle["pandalm"]["A_HH"]),
        "pandalm_human_gpt35": (gpt.human_auto.value, oracle["pandalm"]["A_HA_gpt35"]),
        "pandalm_human_pandalm7b": (pandalm.human_auto.value, oracle["pandalm"]["A_HA_pandalm7b"]),
        "llmfao_human_human": (crowd.value, oracle["llmfao"]["A_HH"]),
    }
    for name, (ours, theirs) in figures.items():
        assert abs(ours - theirs) < 1e-12, name
    assert (gpt.human_auto.n_samples, pandalm.human_auto.n_samples) == (936, 999)
    assert (crowd.n_samples, crowd.n_excluded) == (2124, 15)
    return {name: round(ours or 0.0, 10) for name, (ours, _) in figures.items()}


@proof(
    "statistics-right-ratings",
    "Half-tie ratings of LLMFAO equal the golden ratings, evalica and choix within 1e-8",
    budget_s=600,
)
def right_ratings() -> Figures:
    from guildhall.analysis.ratings import rate_counts
    from guildhall.analysis.votes import counts_of, votes_from_arrays

    rows = _llmfao()
    table = rate_counts(
        counts_of(votes_from_arrays(*([r[n] for r in rows] for n in ("left", "right", "winner")))), ties="half"
    )
    ours = {one.model: one.score.value or 0.0 for one in table.ratings}
    with realdata("preferences/llmfao_golden_ratings.csv").open(newline="") as file:
        golden = {
            r["item"]: np.log(float(r["score"])) for r in csv.DictReader(file) if r["algorithm"] == "bradley_terry"
        }
    peers = json.loads(_by_peers(_RATINGS_OF_PEERS, str(REALDATA / "preferences" / "llmfao_votes.csv")))
    apart = {}
    for name, theirs in (("golden", golden), *peers.items()):
        centre = float(np.mean(list(theirs.values())))
        apart[name] = max(abs(ours[model] - (score - centre)) for model, score in theirs.items())
        assert len(theirs) == 59
        assert apart[name] < 1e-8, (name, apart[name])
    return {"models": 59, "largest_difference": apart}


_RATINGS_OF_PEERS = """
import sys, json, csv, numpy as np, evalica, choix
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
kind = {"left": evalica.Winner.X, "tie": evalica.Winner.Draw, "right": evalica.Winner.Y}
found = evalica.bradley_terry([r["left"] for r in rows], [r["right"] for r in rows], [kind[r["winner"]] for r in rows],
                              tolerance=1e-13, limit=100000).scores
names = sorted({r[s] for r in rows for s in ("left", "right")})
wins = np.zeros((len(names), len(names)))
for r in rows:
    i, j, won = names.index(r["left"]), names.index(r["right"]), {"left": 1.0, "tie": 0.5, "right": 0.0}[r["winner"]]
    wins[i, j] += won
    wins[j, i] += 1 - won
dense = choix.ilsr_pairwise_dense(wins, max_iter=10000, tol=1e-12)
logs = {n: float(np.log(found[n])) for n in names}
print(json.dumps({"evalica": logs, "choix": dict(zip(names, map(float, dense)))}))
"""


def _by_peers(code: str, *arguments: str) -> str:
    done = subprocess.run([str(peers_python()), "-c", code, *arguments], capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()[-1]


@proof("statistics-right-intervals", "Task-level, two-level and paper-style intervals on real files equal brute force")
def right_intervals() -> Figures:
    """PandaLM's 999 pairs as tasks and its three people as graders, against resampling draw by draw."""
    from guildhall.analysis.outcomes import outcomes_from_arrays
    from guildhall.analysis.win_rates import INTERVALS, win_rates

    people = json.loads(realdata("preferences/pandalm_testset-v1_3humans.json").read_text())
    scores = np.array([[SCORES[str(one[f"annotator{n}"])] for n in (1, 2, 3)] for one in people])
    outcomes = outcomes_from_arrays(
        task=np.repeat(range(len(scores)), 3).tolist(), model=["first"] * scores.size, score=scores.ravel()
    )
    figures: dict[str, Any] = {}
    drawn = _resampled_rates(scores, np.random.default_rng(0))
    for kind in INTERVALS:
        measured = win_rates(outcomes, interval=kind)[0].half_tie
        assert measured.interval is not None
        assert measured.value is not None
        assert abs(measured.value - scores.mean()) < 1e-12
        if kind == "always-valid":  # resampling knows no peeking: it must hold what one look would give
            assert measured.interval[0] < drawn["tasks"][0] < drawn["tasks"][1] < measured.interval[1]
        else:
            np.testing.assert_allclose(measured.interval, drawn["tasks" if kind == "t" else kind], atol=0.004)
        figures[kind] = [round(end, 4) for end in measured.interval]
    assert max(figures["two-level"][0], figures["tasks"][0]) < figures["within-sample"][0]
    return figures


def _resampled_rates(scores: Any, rng: np.random.Generator, rounds: int = 4000) -> dict[str, Any]:
    n, found = len(scores), {"tasks": [], "two-level": [], "within-sample": []}  # type: ignore[var-annotated]
    for _ in range(rounds):
        picked = rng.integers(0, n, n)
        grades = rng.integers(0, 3, (n, 3))
        found["tasks"].append(scores[picked].mean())
        found["two-level"].append(np.take_along_axis(scores[picked], grades, axis=1).mean())
        found["within-sample"].append(np.take_along_axis(scores, grades, axis=1).mean())
    return {kind: np.quantile(means, [0.025, 0.975]) for kind, means in found.items()}


@proof(
    "statistics-right-alpha",
    "Krippendorff's alpha equals the reference library on its published examples",
    budget_s=600,
)
def right_alpha() -> Figures:
    from guildhall.analysis.chance_corrected import krippendorff_alpha

    nan = None
    example = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
    counts = np.array([[sum(row[u] == v for row in example) for v in range(1, 6)] for u in range(12)])
    code = (
        "import sys, json, numpy as np; from krippendorff import alpha;"
        "data = np.array(json.loads(sys.argv[1]), float);"
        "print(json.dumps([alpha(data, level_of_measurement=m) for m in ('nominal', 'ordinal', 'interval')]))"
    )
    theirs = json.loads(_by_peers(code, json.dumps(example)))
    ours = [krippendorff_alpha(counts, metric=metric) for metric in ("nominal", "ordinal", "interval")]
    np.testing.assert_allclose(np.array(ours, dtype=float), theirs, atol=1e-12)
    return dict(zip(("nominal", "ordinal", "interval"), (round(a or 0.0, 6) for a in ours), strict=True))


@proof(
    "statistics-flat-memory",
    "Ratings of 10,000,000 votes from Parquet peak under 600 MB, in time linear in bytes read",
    budget_s=900,
)
def flat_memory() -> Figures:
    from proofs import _bench_data as data

    large, small = data.votes_parquet(10_000_000, 300), data.votes_parquet(1_000_000, 300)
    runs = {n: [_rated_apart(path) for _ in range(3)] for n, path in ((1, small), (10, large))}
    peak = max(run["peak_mb"] for run in runs[10])
    counting = {n: min(run["counting_s"] for run in some) for n, some in runs.items()}
    fitting = {n: min(run["fitting_s"] for run in some) for n, some in runs.items()}
    size = large.stat().st_size / small.stat().st_size
    assert peak < 600, peak
    assert counting[10] / counting[1] < 1.6 * size, counting
    assert fitting[10] < 3 * fitting[1], fitting
    return {
        "peak_mb": round(peak),
        "peak_mb_at_a_tenth": round(max(run["peak_mb"] for run in runs[1])),
        "bytes_ratio": round(size, 2),
        "counting_ratio": round(counting[10] / counting[1], 2),
        "fitting_ratio": round(fitting[10] / fitting[1], 2),
    }


def _rated_apart(path: Path) -> dict[str, float]:
    code = f"""
import time, json
from pathlib import Path
from guildhall.analysis.ratings import rate_counts
from guildhall.analysis.votes import count_vote_file
started = time.perf_counter()
counts = count_vote_file(Path({str(path)!r}))
counted = time.perf_counter()
rate_counts(counts)
fitted = time.perf_counter()
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")).split()[1]
print(json.dumps({{"counting_s": counted - started, "fitting_s": fitted - counted, "peak_mb": int(peak) / 1024}}))
"""
    import os

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **ONE_THREAD}, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr[-2000:]
    seen: dict[str, float] = json.loads(done.stdout)
    return seen


def _refused(what: Callable[[], Any], error: str) -> str:
    try:
        what()
    except Exception as caught:  # noqa: BLE001 - the name is the claim
        assert type(caught).__name__ == error, f"{type(caught).__name__} instead of {error}: {caught}"
        return f"{error}: {caught}"
    raise AssertionError(f"{error} was expected and nothing was raised")


@proof("statistics-refuses", "What cannot be estimated is refused by name or has no interval, with the reason")
def refuses() -> Figures:
    from guildhall.analysis.agreement import agreement
    from guildhall.analysis.outcomes import outcomes_from_arrays
    from guildhall.analysis.ratings import rate_votes
    from guildhall.analysis.ratings_table import ratings_from_table
    from guildhall.analysis.tables import Table, encode
    from guildhall.analysis.votes import votes_from_arrays
    from guildhall.analysis.win_rates import win_rates

    def rates(scores: list[float], tasks: list[Any] | None = None) -> Any:
        return win_rates(
            outcomes_from_arrays(task=tasks or list(range(len(scores))), model=["m"] * len(scores), score=scores)
        )[0]

    def rated(left: str, right: str, winners: list[str]) -> Any:
        return rate_votes(votes_from_arrays(list(left), list(right), winners))

    def agreed(rows: list[tuple[Any, ...]]) -> Any:
        columns = zip(("sample", "model", "rater", "kind", "score"), zip(*rows, strict=True), strict=True)
        return agreement(ratings_from_table(Table({name: encode(cells) for name, cells in columns}, len(rows))))

    refused = {
        "NaN": _refused(lambda: rates([1.0, float("nan")]), "ImpossibleValue"),
        "score 0.7": _refused(lambda: rates([1.0, 0.7]), "ImpossibleValue"),
        "unknown winner": _refused(lambda: rated("a", "b", ["both"]), "UnknownName"),
        "unknown kind of rater": _refused(lambda: agreed([(1, "m", "r", "robot", 1.0)]), "UnknownName"),
        "one model": _refused(lambda: rated("a", "a", ["tie"]), "ImpossibleValue"),
        "all ties": _refused(lambda: rated("ab", "ba", ["tie", "tie"]), "OnlyTies"),
        "disconnected graph": _refused(lambda: rated("abcd", "badc", ["left"] * 4), "DisconnectedGraph"),
        "separation": _refused(lambda: rated("a", "b", ["left"]), "SeparatedModels"),
        "empty input": _refused(lambda: rates([]), "NothingJudged"),
        "no votes": _refused(lambda: rated("a", "b", [""]), "NothingJudged"),
    }
    alone = agreed([(i, "m", "r", "human", i % 2) for i in range(9)]).human_human
    one_task, ties = rates([1.0, 0.0, 1.0], tasks=["t"] * 3).half_tie, rates([0.5] * 40).half_tie
    absent = {"one rater": alone, "one task": one_task, "all ties": ties}
    for name, measured in absent.items():
        assert measured.interval is None, name
        assert measured.why_no_interval, name
    assert alone.value is None
    return {"refused": refused, "no_interval": {name: one.why_no_interval for name, one in absent.items()}}
