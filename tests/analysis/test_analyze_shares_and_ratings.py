"""`guildhall analyze win-rate|agreement|ratings` on plain files: the promised shapes, on tables and as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from guildhall.cli.analyze import app
from guildhall.errors import ImpossibleValue, MissingColumn, UnknownName

ESTIMATE = {
    "value", "interval", "level", "estimand", "target", "unit", "n_tasks", "effective_tasks", "effective_graders",
    "df_graders", "design_effect", "n_samples", "n_judgments", "n_excluded", "method", "seed", "why_no_interval",
}  # fmt: skip


def run(*arguments: object) -> Any:
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0
    return json.loads(result.stdout) if "--json" in arguments else result.stdout


@pytest.fixture
def judgments(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    lines = ["task,model,sample,grader,score,sector"]
    for task in range(24):
        for model in ("ada", "bea"):
            for grader in range(3):
                score = rng.choice(["0", "0.5", "1", ""], p=[0.4, 0.1, 0.45, 0.05])
                lines.append(f"t{task},{model},1,g{(task + grader) % 7},{score},s{task % 2}")
    path = tmp_path / "judgments.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    rows = []
    for sample in range(40):
        base = rng.integers(0, 3)
        for rater, kind in (("h1", "human"), ("h2", "human"), ("h3", "human"), ("judge", "auto"), ("judge", "auto")):
            score = float(np.clip(base + rng.integers(-1, 2), 0, 2)) / 2
            model = f"m{sample % 2}"
            rows.append(
                {"sample": sample, "model": model, "rater": rater, "kind": kind, "score": score, "task": sample // 4}
            )
    path = tmp_path / "ratings.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    rng = np.random.default_rng(2)
    lines = ["left,right,winner,grader"]
    for i in range(300):
        left, right = rng.choice(["ada", "bea", "cyd"], 2, replace=False)
        lines.append(f"{left},{right},{rng.choice(['left', 'right', 'tie'])},g{i % 20}")
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_win_rates_have_the_promised_shape(judgments):
    found = run("win-rate", judgments, "--json")
    assert [one["model"] for one in found["models"]] == ["ada", "bea"]
    for one in found["models"]:
        assert one["wins"] + one["ties"] + one["losses"] == one["half_tie"]["n_judgments"]
        for name in ("win", "win_or_tie", "half_tie"):
            assert set(one[name]) == ESTIMATE
            low, high = one[name]["interval"]
            assert low < one[name]["value"] < high
        assert one["half_tie"]["n_excluded"] > 0


def test_a_breakdown_shows_raw_band_and_pooled(judgments):
    found = run("win-rate", judgments, "--by", "sector", "--json")
    assert len(found["cells"]) == 4
    for cell in found["cells"]:
        assert set(cell["pooled"]["win"]) == ESTIMATE
        assert cell["levels"]["sector"] in ("s0", "s1")
        assert len(cell["band"]["half_tie"]) == 2
    assert "pooled" in run("win-rate", judgments, "--by", "sector")


@pytest.mark.parametrize("interval", ["t", "two-level", "tasks", "within-sample"])
def test_each_named_interval_is_named_in_the_output(judgments, interval):
    found = run("win-rate", judgments, "--interval", interval, "--json")
    words = {
        "t": "t over tasks",
        "two-level": "then grades",
        "tasks": "tasks resampled",
        "within-sample": "within samples",
    }
    assert words[interval] in found["models"][0]["half_tie"]["method"]


def test_kinds_of_grader_are_counted_so_that_nothing_pools_them_silently(tmp_path):
    path = tmp_path / "judgments.csv"
    rows = [f"t{i},m,{i % 2},{'expert' if i % 3 else 'crowd'}" for i in range(12)]
    path.write_text("task,model,score,grader_kind\n" + "\n".join(rows) + "\n")
    found = run("win-rate", path, "--by", "grader_kind", "--json")
    assert found["grader_kinds"] == {"crowd": 4, "expert": 8}
    assert {cell["levels"]["grader_kind"] for cell in found["cells"]} == {"crowd", "expert"}


def test_a_file_that_holds_its_rows_twice_is_said_to(tmp_path):
    rows = "".join(f"{n},m,1,g{n % 3},{n % 2}\n" for n in range(12))
    once, twice = tmp_path / "once.csv", tmp_path / "twice.csv"
    once.write_text(f"task,model,sample,grader,score\n{rows}")
    twice.write_text(f"task,model,sample,grader,score\n{rows}{rows}")
    said = [CliRunner().invoke(app, ["win-rate", str(file)]).stderr for file in (once, twice)]
    assert "judge again" not in said[0]
    assert "12 rows judge again what the same grader judged before" in said[1]


def test_agreement_has_the_promised_shape(ratings):
    found = run("agreement", ratings, "--within", "0.1", "--json")
    for name in ("human_human", "human_auto", "auto_auto"):
        assert set(found[name]) == ESTIMATE
        assert set(found["by_model"]["m0"][name]) == ESTIMATE
    assert found["human_human"]["unit"] == "task"
    assert set(found["best_constant"]) == {"verdict", "agreement", "margin", "beaten"}
    assert found["within"]["d"] == 0.1
    assert "best constant" not in run("agreement", ratings)  # notes stay off standard output


def test_as_published_is_named_as_such(ratings):
    found = run("agreement", ratings, "--as-published", "--json")
    assert "as published" in found["human_human"]["method"]
    assert found["human_human"]["interval"][0] > found["human_human"]["value"]


def test_ratings_have_the_promised_shape(votes):
    found = run("ratings", votes, "--json")
    assert [row["rank"] for row in found["rows"]] == [1, 2, 3]
    for row in found["rows"]:
        assert {"model", "score", "interval", "rank", "rank_interval"} <= set(row)
        assert set(row["estimate"]) == ESTIMATE
        assert row["estimate"]["unit"] == "grader"
    assert sum(row["score"] for row in found["rows"]) == pytest.approx(0, abs=1e-9)
    held = run("ratings", votes, "--anchor", "ada=2", "--ties", "half", "--position", "--json")
    assert {row["model"]: row["score"] for row in held["rows"]}["ada"] == 2
    assert "left side" in held["effects"]
    assert "ada" in run("ratings", votes)


def test_wrong_columns_names_and_scores_are_refused_by_name(judgments, ratings, votes, tmp_path):
    with pytest.raises(MissingColumn):
        run("win-rate", votes)
    with pytest.raises(UnknownName):
        run("win-rate", judgments, "--interval", "magic")
    with pytest.raises(UnknownName):
        run("agreement", ratings, "--interval", "magic")
    bad = tmp_path / "bad.csv"
    bad.write_text("task,model,score\na,m,0.7\n")
    with pytest.raises(ImpossibleValue):
        run("win-rate", bad)


def test_the_analysis_package_imports_numpy_and_scipys_special_functions_and_nothing_heavier():
    modules = ("outcomes", "breakdown", "agreement_report", "rating_files", "marks")
    heavy = ("scipy.stats", "scipy.optimize", "scipy.linalg", "pandas", "polars", "pyarrow", "numba", "pydantic")
    code = f"import sys, {', '.join(f'guildhall.analysis.{name}' for name in modules)}"
    code += f"; print([name for name in {heavy} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
