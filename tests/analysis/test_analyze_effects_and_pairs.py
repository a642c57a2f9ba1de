"""`guildhall analyze effects`, prediction-powered ratings, Elo and the interval one may peek at, on plain files."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from guildhall.analysis.ppi_models import read_pair_ppi
from guildhall.analysis.ppi_ratings import ppi_ratings
from guildhall.analysis.sequential import confidence_sequence
from guildhall.analysis.tables import joint_counts
from guildhall.cli.analyze import app
from guildhall.errors import ImpossibleValue, InputError, NothingJudged, TooFew


def run(*arguments: object) -> Any:
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0
    return json.loads(result.stdout) if "--json" in arguments else result.stdout


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def swayed(*, tasks: int = 150) -> list[dict[str, Any]]:
    """Two graders, who are the two models: the first shown and their own gain 15 points, ann is 10 points stricter."""
    rng = np.random.default_rng(0)
    rows = []
    for task in range(tasks):
        for model in ("ann", "bob"):
            for grader in ("ann", "bob"):
                first, kin = int(rng.random() < 0.5), int(model == grader)
                chance = 0.4 + 0.15 * first + 0.15 * kin - 0.1 * (grader == "ann")
                row = {"task": task, "model": model, "grader": grader, "score": int(rng.random() < chance)}
                rows.append({**row, "shown_first": first, "kin": kin})
    return rows


def test_planted_effects_are_found_and_those_the_file_is_silent_on_are_absent_with_the_reason(tmp_path):
    shown = run("effects", write(tmp_path / "judged.csv", swayed()), "--json")
    for name in ("position", "kin"):
        low, high = shown["effects"][name]["interval"]
        assert low < 0.15 < high
        assert shown["effects"][name]["value"] > 0.05
    assert shown["effects"]["drift"]["value"] is None
    assert shown["effects"]["length"]["why_no_interval"] == "the judgments do not say"
    assert shown["severities"]["ann"]["value"] < 0 < shown["severities"]["bob"]["value"]
    assert "position" in run("effects", tmp_path / "judged.csv")


def test_a_row_with_an_empty_cell_takes_no_part_in_the_effect_that_needs_it(tmp_path):
    rows = swayed(tasks=30)
    for row in rows[:20]:
        row["shown_first"] = ""
    shown = run("effects", write(tmp_path / "judged.csv", rows), "--json")
    assert shown["effects"]["position"]["n_judgments"] == len(rows) - 20
    assert shown["effects"]["kin"]["n_judgments"] == len(rows)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"shown_first": 2}, ImpossibleValue),
        ({"score": 0.7}, ImpossibleValue),
        ({"grader": ""}, ImpossibleValue),
        ({"length_ratio": 0}, ImpossibleValue),
    ],
)
def test_effects_refuse_what_no_judgment_can_say(tmp_path, change, error):
    rows = [row | {"length_ratio": 1.5} for row in swayed(tasks=5)]
    rows[3] |= change
    with pytest.raises(error):
        run("effects", write(tmp_path / "judged.csv", rows))


def test_effects_refuse_a_file_without_any_score(tmp_path):
    rows = [row | {"score": ""} for row in swayed(tasks=5)]
    with pytest.raises(NothingJudged):
        run("effects", write(tmp_path / "judged.csv", rows))


def compared(*, tasks: int = 120) -> list[dict[str, Any]]:
    rng = np.random.default_rng(1)
    rows = []
    for task in range(tasks):
        for left, right, gap in (("ada", "bea", 0.5), ("bea", "cyd", 0.4), ("cyd", "ada", -0.9)):
            human = float(rng.random() < 1 / (1 + np.exp(-gap)))
            auto = human if rng.random() < 0.85 else 1 - human
            rows.append({"task": task, "left": left, "right": right, "auto": auto, "human": human if task < 40 else ""})
    return rows


def test_pairs_with_few_human_labels_become_ratings_with_narrower_intervals(tmp_path):
    path = write(tmp_path / "pairs.csv", compared())
    shown = run("ppi", path, "--json")
    assert [one["model"] for one in shown["models"]] == ["ada", "bea", "cyd"]
    assert shown["effective_human_n"] > 120
    for one in shown["models"]:
        (low, high), (plain_low, plain_high) = one["estimate"]["interval"], one["classical"]["interval"]
        assert high - low < plain_high - plain_low
    direct = ppi_ratings(read_pair_ppi(path))
    assert shown["lambda"] == direct.lam
    assert "ada" in run("ppi", path)


def test_ratings_from_labels_on_one_task_are_refused(tmp_path):
    rows = [row | {"human": row["auto"] if row["task"] == 0 else ""} for row in compared(tasks=20)]
    with pytest.raises(TooFew):
        run("ppi", write(tmp_path / "pairs.csv", rows))


def test_a_bootstrap_is_laid_beside_the_interval_and_refused_where_votes_go_together(tmp_path):
    rng = np.random.default_rng(0)
    path, lines = tmp_path / "votes.csv", ["left,right,winner,task"]
    for vote in range(1200):
        left, right = rng.choice(4, 2, replace=False)
        winner = "left" if rng.random() < 1 / (1 + np.exp((left - right) / 2)) else "right"
        lines.append(f"m{left},m{right},{winner},t{vote % 60}")
    path.write_text("\n".join(lines))
    asked = ("ratings", path, "--cluster", "none", "--bootstrap", "400")
    rows = run(*asked, "--json")["rows"]
    assert [row["model"] for row in rows] == ["m0", "m1", "m2", "m3"]
    for row in rows:
        assert row["bootstrap"]["interval"] == pytest.approx(row["interval"], abs=0.05)
        assert row["bootstrap"]["value"] == row["score"]
        assert (row["bootstrap"]["seed"], row["estimate"]["seed"]) == (0, None)
    assert run(*asked, "--json", "--seed", "1")["rows"] != rows
    assert "bootstrap" in run(*asked)
    with pytest.raises(InputError, match="independent"):
        run("ratings", path, "--bootstrap", "400")


def test_elo_is_shown_beside_the_ratings_when_asked_for_and_not_otherwise(tmp_path):
    rows = [
        {"left": a, "right": b, "winner": w} for a, b, w in (("x", "y", "left"), ("y", "z", "tie"), ("z", "x", "left"))
    ]
    path = write(tmp_path / "votes.csv", [*rows, {"left": "x", "right": "y", "winner": "right"}])
    shown = run("ratings", path, "--elo", "--json")
    assert sum(row["elo"] for row in shown["rows"]) == pytest.approx(3000)
    assert "Elo" in run("ratings", path, "--elo")
    assert "elo" not in run("ratings", path, "--json")["rows"][0]


def test_the_interval_one_may_peek_at_is_the_confidence_sequence_of_tasks_in_their_order(tmp_path):
    rng = np.random.default_rng(3)
    score = rng.integers(0, 2, size=60).tolist()
    rows = [{"task": f"t{i}", "model": "ada", "score": value} for i, value in enumerate(score)]
    shown = run("win-rate", write(tmp_path / "judged.csv", rows), "--interval", "always-valid", "--json")
    usual = run("win-rate", tmp_path / "judged.csv", "--json")
    expected = confidence_sequence(np.array(score, dtype=float)).now
    assert tuple(shown["win"]["interval"]) == expected.interval
    assert shown["win"]["interval"][0] < usual["win"]["interval"][0]
    assert "valid at every look" in shown["win"]["method"]


def test_counting_in_spans_side_by_side_is_counting(monkeypatch):
    monkeypatch.setattr("guildhall.analysis.tables.ROWS_A_SPAN", 100)
    monkeypatch.setattr("guildhall.analysis.tables.ROWS_A_BLOCK", 7)
    rng = np.random.default_rng(4)
    codes = [rng.integers(0, n, 1234) for n in (3, 4, 2)]
    weight = rng.random(1234)
    plain, weighed = np.zeros((3, 4, 2)), np.zeros((3, 4, 2))
    np.add.at(plain, tuple(codes), 1)
    np.add.at(weighed, tuple(codes), weight)
    np.testing.assert_array_equal(joint_counts(codes, (3, 4, 2)), plain)
    np.testing.assert_allclose(joint_counts(codes, (3, 4, 2), weight=weight), weighed)
