"""A judge in a file is held to its own samples: what a constant verdict reaches there, and what swapping does to it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from guildhall.analysis.accountability import judges_of_file
from guildhall.cli.analyze import app
from guildhall.errors import ImpossibleValue

HEAD = ("sample", "model", "rater", "kind", "score", "order")


def file_of(folder: Path, rows: list[tuple[object, ...]], *, order: bool = True) -> Path:
    path = folder / "ratings.csv"
    with path.open("w", newline="") as out:
        table = csv.writer(out)
        table.writerow(HEAD if order else HEAD[:-1])
        table.writerows(rows if order else [row[:-1] for row in rows])
    return path


def ratings(rng: np.random.Generator, *, flips: float, right: float = 0.9) -> list[tuple[object, ...]]:
    """100 samples: people mostly say the human's work is better; the judge is asked in both orders."""
    rows: list[tuple[object, ...]] = []
    for sample in range(100):
        truth = float(rng.random() < 0.3)
        rows += [(sample, "m", f"p{who}", "human", truth if rng.random() < 0.9 else 1 - truth, "") for who in range(3)]
        first = truth if rng.random() < right else 1 - truth
        second = 1 - first if rng.random() < flips else first
        rows += [(sample, "m", "judge", "auto", first, "AB"), (sample, "m", "judge", "auto", second, "BA")]
    return rows


def said(file: Path) -> tuple[dict[str, Any], str]:
    made = CliRunner().invoke(app, ["agreement", str(file), "--json"])
    assert made.exit_code == 0, made.output
    return json.loads(made.stdout), CliRunner().invoke(app, ["agreement", str(file)], color=True).stderr


def test_a_judge_that_flips_on_half_of_all_swaps_is_said_to(tmp_path: Path) -> None:
    found, shown = said(file_of(tmp_path, ratings(np.random.default_rng(0), flips=0.48)))
    assert found["judges"]["judge"]["flips"]["value"] > 0.35
    assert "judge changes its verdict when the sides change places in" in shown
    assert "\x1b[31m" in shown, "it is said in red"


def test_a_judge_under_its_best_constant_verdict_is_said_to_be_in_red(tmp_path: Path) -> None:
    """It is right on two samples in five, where "always the human" is right on seven in ten."""
    found, shown = said(file_of(tmp_path, ratings(np.random.default_rng(1), flips=0.0, right=0.4)))
    [words] = found["judges"]["judge"]["warnings"]
    assert words.startswith("judge agrees with people less often than always-human, which looks at nothing (-")
    assert words in shown and "\x1b[31m" in shown


def test_a_judge_is_held_to_the_samples_it_judged_itself(tmp_path: Path) -> None:
    """Two judges, each asked about half of the samples: pooled, the good one would lend the bad one its agreement."""
    rng = np.random.default_rng(2)
    rows = ratings(rng, flips=0.0, right=1.0)
    rows = [(*row[:2], "bad" if row[2] == "judge" and int(str(row[0])) % 2 else row[2], *row[3:]) for row in rows]
    rows = [(*row[:4], 1.0 - float(str(row[4])), row[5]) if row[2] == "bad" else row for row in rows]
    found = judges_of_file(file_of(tmp_path, rows))
    assert found["judge"].warnings("judge") == []
    assert "less often" in found["bad"].warnings("bad")[0]


def test_a_judge_that_keeps_its_word_is_not_warned_of(tmp_path: Path) -> None:
    found, _ = said(file_of(tmp_path, ratings(np.random.default_rng(3), flips=0.1, right=0.98)))
    assert found["judges"]["judge"]["warnings"] == []
    assert found["judges"]["judge"]["position"]["interval"] is not None


def test_a_file_without_orders_says_nothing_of_them(tmp_path: Path) -> None:
    found = judges_of_file(file_of(tmp_path, ratings(np.random.default_rng(4), flips=0.5), order=False))
    assert found["judge"].flips is None and found["judge"].constant is not None


def test_more_than_two_orders_are_refused(tmp_path: Path) -> None:
    rows = [
        (*row[:5], f"o{at % 3}" if row[3] == "auto" else "")
        for at, row in enumerate(ratings(np.random.default_rng(5), flips=0.0))
    ]
    with pytest.raises(ImpossibleValue, match="two names"):
        judges_of_file(file_of(tmp_path, rows))
