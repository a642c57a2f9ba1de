"""What the engine costs: beside plain Inspect, in calls a second, and in memory over a long run."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from proofs import ROOT, Figures, proof

SAMPLES, ROUNDS = 200, 5
CALLS = 1000
MANY = 5000


@proof(
    "sampling-overhead",
    "with a model that answers at once, our evals are at most 10 % slower than plain inspect eval on the same work",
    tier="bench",
    budget_s=900,
)
def overhead() -> Figures:
    """Interleaved rounds, each in a process of its own; the median of each side is compared."""
    seen: dict[str, list[dict[str, Any]]] = {"plain": [], "tuned": [], "ours": []}
    for _ in range(ROUNDS):
        for who, runs in seen.items():
            runs.append(_run(who, SAMPLES))
    wall = {who: median(run["wall_s"] for run in runs) for who, runs in seen.items()}
    processor = {who: median(run["cpu_s"] for run in runs) for who, runs in seen.items()}
    ratio = wall["ours"] / wall["plain"]
    assert ratio <= 1.10, f"{ratio:.3f} of plain Inspect's time"
    return {
        "ratio_to_plain": round(ratio, 3),
        "ratio_to_plain_processor_time": round(processor["ours"] / processor["plain"], 3),
        "ratio_to_plain_without_live_view": round(wall["ours"] / wall["tuned"], 3),
        "samples_per_second": {who: round(SAMPLES / seconds, 1) for who, seconds in wall.items()},
        "rounds": ROUNDS,
    }


@proof(
    "sampling-calls-per-second",
    "one-shot calls run at 500 or more a second through the engine, each recorded before and after",
    tier="bench",
    budget_s=300,
)
def calls_per_second() -> Figures:
    from guildhall.engine.calls import Call
    from guildhall.engine.oneshot import run_calls
    from guildhall.engine.terms import Terms
    from guildhall.store.ledger import Ledger
    from guildhall.store.workspace import Workspace

    rates, processor = [], []
    with tempfile.TemporaryDirectory() as name, Workspace.create(Path(name) / "ws") as workspace:
        run_calls([Call.ask("scripted/echo", "warm")], workspace=workspace, terms=Terms(run="warm"))
        for number in range(ROUNDS):
            calls = [Call.ask("scripted/echo", f"round {number}, question {index}") for index in range(CALLS)]
            started, used = time.perf_counter(), time.process_time()
            answers = run_calls(calls, workspace=workspace, terms=Terms(run=f"round-{number}"))
            rates.append(CALLS / (time.perf_counter() - started))
            processor.append(CALLS / (time.process_time() - used))
            assert len(answers.replies) == CALLS
            assert Ledger(workspace.store).spent(run=f"round-{number}").usage.calls == CALLS
    figures = f"{median(rates):.0f} calls a second, {median(processor):.0f} a second of processor time"
    assert median(rates) >= 500, figures
    return {
        "calls_per_second": round(median(rates)),
        "calls_per_second_of_processor_time": round(median(processor)),
        "rounds": [round(rate) for rate in rates],
    }


@proof(
    "sampling-memory",
    "memory stays flat over 5,000 samples: at the end it is not more than 10 % above what it was at 1,000",
    tier="bench",
    budget_s=900,
)
def memory() -> Figures:
    marks = {int(count): size for count, size in _run("ours", MANY)["marks"].items()}
    growth = marks[MANY] / marks[1000] - 1
    assert growth <= 0.10, f"grew by {growth:.1%}"
    return {
        "mb_at": {count: round(marks[count], 1) for count in (1000, 2000, 3000, 4000, 5000)},
        "growth": round(growth, 4),
    }


def _run(who: str, count: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "proofs._overhead", who, str(count)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=800)
    assert done.returncode == 0, done.stderr[-1500:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
