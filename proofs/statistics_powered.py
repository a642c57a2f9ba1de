"""Proofs for estimates that rest on more than people's votes: prediction-powered means, and savings."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from guildhall.analysis.ppi import PpiRows, ppi_mean
from guildhall.analysis.savings import savings_from_totals
from guildhall.domain.estimates import Success
from proofs import Figures, proof, realdata
from proofs._bench import peers_python

_PEER = """
import json, sys
import numpy as np
from ppi_py import classical_mean_ci, ppi_mean_ci
seen = []
for line in json.load(open(sys.argv[1])):
    human, auto, rest = (np.array(line[name]) for name in ("human", "auto", "rest"))
    tuned = np.ravel(ppi_mean_ci(human, auto, rest, alpha=0.05))
    fixed = np.ravel(ppi_mean_ci(human, auto, rest, alpha=0.05, lam=1.0))
    seen.append([float(one) for one in (*tuned, *fixed, *np.ravel(classical_mean_ci(human, alpha=0.05)))])
print(json.dumps(seen))
"""


@proof("statistics-right-ppi", "Prediction-powered and classical means equal ppi_py within 1e-12, from rows and counts")
def right_ppi() -> Figures:
    rng = np.random.default_rng(0)
    cases = []
    for n, more, agrees in ((80, 300, 0.8), (200, 5000, 0.5), (1000, 1000, 0.95), (300, 3000, 0.0), (5000, 200, 1.0)):
        human = rng.choice([0, 0.5, 1], n + more, p=[0.4, 0.2, 0.4])
        auto = np.where(rng.random(n + more) < agrees, human, rng.choice([0, 0.5, 1], n + more))
        cases.append({"human": human[:n].tolist(), "auto": auto[:n].tolist(), "rest": auto[n:].tolist()})
    # Mean verdicts of several sweeps are no halves: such rows are not counted but taken one by one.
    cases += [{name: one[name] if name == "human" else _means(one[name], rng) for name in one} for one in cases]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "cases.json"
        path.write_text(json.dumps(cases))
        command = [str(peers_python()), "-c", _PEER, str(path)]
        theirs = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=500).stdout)
    worst = 0.0
    for case, (low, high, fixed_low, fixed_high, plain_low, plain_high) in zip(cases, theirs, strict=True):
        human, auto, rest = (np.array(case[name]) for name in ("human", "auto", "rest"))
        said = np.concatenate([human, np.full(len(rest), np.nan)])
        chance = np.full(len(said), len(human) / len(said))
        rows = PpiRows(np.concatenate([auto, rest]), said, probability=chance)
        tuned, fixed = ppi_mean(rows), ppi_mean(rows, lam=1.0)
        pairs = [
            (tuned.estimate.interval, (low, high)),
            (fixed.estimate.interval, (fixed_low, fixed_high)),
            (tuned.classical.interval, (plain_low, plain_high)),
        ]
        worst = max(worst, *(abs(a - b) for ours, peers in pairs for a, b in zip(ours or (), peers, strict=True)))
    assert worst < 1e-12, worst
    return {"cases": len(cases), "largest_difference": worst}


def _means(verdicts: list[float], rng: np.random.Generator) -> list[float]:
    means: list[float] = (0.75 * np.array(verdicts) + 0.25 * rng.choice([0, 0.5, 1], len(verdicts))).tolist()
    return means


@proof("savings-table-2", "All 16 try-once and try-n cells of the paper's Table 2 come back within 0.01")
def table_2() -> Figures:
    reference = json.loads(realdata("gdpval/paper_reference_numbers.json").read_text())
    inputs = reference["speed_cost_inputs"]
    gaps = {}
    for row in reference["table2"]:
        for kind, unit in (("speed", "T_minutes"), ("cost", "C_usd")):
            human, review = inputs[f"H_{unit}"], inputs[f"R_{unit}"]
            found = savings_from_totals(
                human=human,
                review=review,
                model=human / row[kind]["naive"],
                win_rate=row["win"],
                w=Success.WIN_OR_TIE,
            )
            gaps[f"{row['model']} {kind} once"] = abs((found.try_once.value or 0) - row[kind]["try1"])
            gaps[f"{row['model']} {kind} n"] = abs((found.limit.value or 0) - row[kind]["tryn"])
    assert len(gaps) == 16
    assert max(gaps.values()) < 0.01, gaps
    return {"cells": len(gaps), "largest_gap": max(gaps.values())}
