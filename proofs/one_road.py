"""One road from a judgment to a number: 500 planted stores, every road to a figure held against a naive twin."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from tests.planted.ledger import group_of
from tests.planted.naive import count, judgments_of, policy_of
from tests.planted.roads import ROADS, unlike, unlike_on_a_wave
from tests.planted.store import planted_store

from proofs import Figures, proof

STORES = 500
SHOWN = 3
"""So many differences of a road are told; the first ones lead to the others."""


@proof(
    "one-road",
    "report, board, export, API, comparison, grades, accounts and peer marks agree with a naive count to the last "
    "digit on 500 planted stores, and counted and left out are all judgments",
    budget_s=2400,
)
def one_road() -> Figures:
    judgments = waves = 0
    roads: Counter[str] = Counter()
    first: dict[str, list[str]] = {}
    for seed in range(STORES):
        with tempfile.TemporaryDirectory() as folder:
            planted = planted_store(seed, Path(folder))
            for study in planted.studies:
                judgments += len(study.judgments)
                for group in {group_of(one.grader) for one in study.judgments}:
                    found = count(judgments_of(planted, study), policy_of(planted, study, group))
                    assert found.counted + sum(found.left_out.values()) == len(study.judgments), (seed, group)
            differ = {road: unlike(planted, road) for road in ROADS}
            if len(planted.studies) > 1:
                waves += 1
                differ["later wave"] = unlike_on_a_wave(planted)
        for road, figures in differ.items():
            roads[road] += bool(figures)
            if figures and len(first.setdefault(road, [])) < SHOWN:
                first[road].append(f"store {seed}: {min(figures.items())}")
    assert not first, f"roads that count otherwise, in so many stores: {dict(roads)}; first of each: {first}"
    return {"stores": STORES, "judgments": judgments, "stores_with_a_later_wave": waves, "roads": len(ROADS)}
