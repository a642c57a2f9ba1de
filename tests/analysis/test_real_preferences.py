"""Figures of public preference data that others computed too."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from guildhall.analysis.agreement import agreement
from guildhall.analysis.ratings import rate_counts
from guildhall.analysis.ratings_table import RatingsTable, ratings_from_table
from guildhall.analysis.tables import Table, encode
from guildhall.analysis.votes import counts_of, votes_from_arrays

SCORES = {0: 0.5, 1: 1.0, 2: 0.0}


def pandalm(realdata: Path, judge: str, field: str) -> RatingsTable:
    folder = realdata / "preferences"
    people = json.loads((folder / "pandalm_testset-v1_3humans.json").read_text())
    rows: list[tuple[Any, ...]] = [
        (one["idx"], one["cmp_key"], f"annotator{n}", "human", SCORES[one[f"annotator{n}"]])
        for one in people
        for n in (1, 2, 3)
    ]
    for one in json.loads((folder / judge).read_text()):
        verdict = str(one[field])
        score = SCORES[int(verdict)] if verdict in ("0", "1", "2") else None
        rows.append((one["idx"], people[one["idx"]]["cmp_key"], "judge", "auto", score))
    names = ("sample", "model", "rater", "kind", "score")
    columns = zip(*rows, strict=True)
    return ratings_from_table(Table({n: encode(c) for n, c in zip(names, columns, strict=True)}, len(rows)))


@pytest.mark.parametrize(
    ("judge", "field", "human_auto", "n"),
    [
        ("pandalm_judge_gpt35.json", "gpt_result", 0.7768874643874644, 936),
        ("pandalm_judge_pandalm7b.json", "pandalm_result", 0.7355689022355689, 999),
    ],
)
def test_pandalm_agreements_are_those_of_the_oracle(realdata, judge, field, human_auto, n):
    found = agreement(pandalm(realdata, judge, field))
    assert found.human_human.value == pytest.approx(0.9369369369369369, abs=1e-12)
    assert found.human_auto.value == pytest.approx(human_auto, abs=1e-12)
    assert found.human_auto.n_samples == n


def test_llmfao_agreement_and_ratings_are_those_of_the_oracle(realdata):
    folder = realdata / "preferences"
    with (folder / "llmfao_votes.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    worth = {"left": 1.0, "tie": 0.5, "right": 0.0}
    columns: dict[str, list[Any]] = {
        "sample": [row["id"] for row in rows],
        "model": ["all"] * len(rows),
        "rater": [row["worker"] for row in rows],
        "kind": ["human"] * len(rows),
        "score": [worth[row["winner"]] for row in rows],
    }
    ratings = ratings_from_table(Table({name: encode(cells) for name, cells in columns.items()}, len(rows)))
    measured = agreement(ratings).human_human
    assert measured.value == pytest.approx(0.6978499686126804, abs=1e-12)
    assert (measured.n_samples, measured.n_excluded) == (2124, 15)

    with (folder / "llmfao_golden_ratings.csv").open(newline="") as file:
        golden = {(row["algorithm"], row["item"]): float(row["score"]) for row in csv.DictReader(file)}
    counts = counts_of(votes_from_arrays(*([row[name] for row in rows] for name in ("left", "right", "winner"))))
    for ties, algorithm in (("half", "bradley_terry"), ("davidson", "newman")):
        table = rate_counts(counts, ties=ties)  # type: ignore[arg-type]
        ours = {one.model: one.score.value or 0.0 for one in table.ratings}
        theirs = np.log([golden[algorithm, model] for model in ours])
        np.testing.assert_allclose(list(ours.values()), theirs - theirs.mean(), atol=1e-8)
