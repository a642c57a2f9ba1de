"""`guildhall analyze ppi|power|savings` on plain files: the promised shapes, and refusals by name."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from guildhall.cli.analyze import app
from guildhall.errors import ImpossibleValue, MissingColumn, UnknownName, UnreadableFile


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


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(0)
    rows = []
    for model, skill in (("ada", 0.55), ("bea", 0.4), ("new", 0.5)):
        for task in range(80):
            human = float(rng.random() < skill)
            auto = human if rng.random() < 0.8 else 1 - human
            shown = "" if model == "new" or task % 2 else human
            rows.append({"task": task, "model": model, "sample": 1, "auto": auto, "human": shown, "probability": 0.5})
    return write(tmp_path / "scores.csv", rows)


def test_ppi_prints_the_estimate_the_classical_one_and_the_effective_number(scores):
    shown = run("ppi", scores, "--json")
    ada, _, new = shown["models"]
    assert ada["estimate"]["interval"][0] < ada["estimate"]["value"] < ada["estimate"]["interval"][1]
    assert ada["classical"]["n_judgments"] == 40
    assert ada["effective_human_n"] > 40
    assert new["estimate"]["interval"] is None
    assert "transported" in new["estimate"]["why_no_interval"]
    assert "ada" in run("ppi", scores)


def test_one_model_alone_is_shown_at_the_top_level_too(scores, tmp_path):
    with scores.open() as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == "ada"]
    shown = run("ppi", write(tmp_path / "one.csv", rows), "--json")
    assert shown["estimate"] == shown["models"][0]["estimate"]
    assert shown["effective_human_n"] == shown["models"][0]["effective_human_n"]


def test_ppi_refuses_a_convention_or_column_nobody_knows(scores):
    with pytest.raises(UnknownName, match="half_tie"):
        run("ppi", scores, "--convention", "wins")
    with pytest.raises(MissingColumn, match="occupation"):
        run("ppi", scores, "--strata", "occupation")


TOTALS = {
    "human_minutes": 404,
    "human_cost": 361,
    "review_minutes": 109,
    "review_cost": 86,
    "models": [{"model": "gpt-5", "win_rate": 0.39, "minutes": 404 / 90, "cost": 361 / 474}],
}


def test_savings_from_averages_have_the_promised_shape(tmp_path):
    (tmp_path / "totals.json").write_text(json.dumps(TOTALS))
    shown = run("savings", tmp_path / "totals.json", "--n", "1,5", "--w", "win_or_tie", "--json")
    (row,) = shown["models"]
    assert shown["w"] == "win_or_tie"
    assert row["speed"]["naive"] == pytest.approx(90)
    assert row["speed"]["try_once"] == pytest.approx(1.12, abs=0.01)
    assert row["cost"]["limit"] == pytest.approx(1.63, abs=0.01)
    assert list(row["speed"]["try_n"]) == ["1", "5"]
    assert row["speed"]["estimates"]["try_once"]["interval"] is None
    assert "gpt-5" in run("savings", tmp_path / "totals.json")


def test_savings_from_rows_have_intervals_and_leave_unpriced_tasks_out(tmp_path):
    rng = np.random.default_rng(1)
    rows = [
        {
            "task": task,
            "model": "ada",
            "human_minutes": rng.lognormal(5, 0.5),
            "review_minutes": 60,
            "minutes": 5,
            "human_cost": 300,
            "review_cost": 50,
            "cost": "" if task < 5 else rng.uniform(0.5, 2),
            "wins": rng.binomial(9, 0.4),
            "judgments": 9,
        }
        for task in range(40)
    ]
    (row,) = run("savings", write(tmp_path / "tasks.csv", rows), "--json")["models"]
    assert row["speed"]["estimates"]["try_once"]["n_tasks"] == 40
    assert row["cost"]["estimates"]["try_once"]["n_tasks"] == 35
    low, high = row["speed"]["estimates"]["try_n"]["3"]["interval"]
    assert low < row["speed"]["try_n"]["3"] < high


@pytest.mark.parametrize(
    ("text", "error"),
    [("{", UnreadableFile), ("[]", UnreadableFile), ('{"models": [{"win_rate": "high"}]}', MissingColumn)],
)
def test_savings_refuse_files_that_hold_no_averages(tmp_path, text, error):
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(error):
        run("savings", tmp_path / "bad.json")


def test_savings_refuse_tries_that_are_no_numbers(tmp_path):
    (tmp_path / "totals.json").write_text(json.dumps(TOTALS))
    with pytest.raises(ImpossibleValue):
        run("savings", tmp_path / "totals.json", "--n", "many")
    with pytest.raises(UnknownName):
        run("savings", tmp_path / "totals.json", "--w", "luck")


def test_power_plans_from_a_file_and_from_assumptions(tmp_path):
    rng = np.random.default_rng(2)
    rows = [
        {"task": task, "model": "ada", "sample": sample, "score": float(rng.random() < chance)}
        for task, chance in enumerate(rng.beta(2, 2, 30))
        for sample in range(2)
        for _ in range(3)
    ]
    (plan,) = run("power", write(tmp_path / "judged.csv", rows), "--json")["models"]
    assert (plan["tasks"], plan["samples"], plan["graders"]) == (30, 2, 3)
    assert plan["for_width"]["tasks"] > 30
    assert plan["best"] == "another task"
    assumed = run("power", "--rate", "0.45", "--models", "7", "--json")
    assert assumed["graders"]["graders_per_task"] == 63
    assert "judgments" in run("power", tmp_path / "judged.csv")
    assert "63 graders" in run("power", "--models", "7")
