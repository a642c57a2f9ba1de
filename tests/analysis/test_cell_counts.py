"""Counts of cells, from rows and from files read in chunks, against a plain dictionary."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from guildhall.analysis import files
from guildhall.analysis.outcomes import count_cell_file
from guildhall.cli.analyze import app
from guildhall.errors import ImpossibleValue, NothingJudged


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_counts_of_a_file_read_in_chunks_are_those_of_a_dictionary(tmp_path, monkeypatch, form):
    monkeypatch.setattr(files, "ROWS_A_CHUNK", 50)
    rng = np.random.default_rng(0)
    rows = [(f"m{rng.integers(3)}", f"o{rng.integers(5)}", rng.choice([0.0, 0.5, 1.0])) for _ in range(700)]
    frame = pl.DataFrame(rows, schema=["model", "occupation", "score"], orient="row")
    frame = frame.with_columns(pl.when(pl.int_range(pl.len()) % 50 == 0).then(None).otherwise("score").alias("score"))
    path = tmp_path / f"grades.{form}"
    frame.write_csv(path) if form == "csv" else frame.write_parquet(path, row_group_size=100)
    found = count_cell_file(path, ("model", "occupation"))
    wanted = Counter((model, occupation, score) for i, (model, occupation, score) in enumerate(rows) if i % 50)
    assert found.n_excluded == 14
    for i, model in enumerate(found.names[0]):
        for j, occupation in enumerate(found.names[1]):
            assert found.counts[i, j].tolist() == [wanted[model, occupation, score] for score in (0.0, 0.5, 1.0)]


def test_the_command_shows_each_cell_that_has_judgments_and_says_what_it_left_out(tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text("model,sector,score\nm,b,1\nm,a,0.5\nm,a,0\nn,b,1\nn,b,\nn,,0\nm,b,1\n")
    asked = ["count", str(path), "--by", "model", "--by", "sector"]
    shown = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)
    assert shown == {
        "cells": [
            {"levels": {"model": "m", "sector": "a"}, "losses": 1, "ties": 1, "wins": 0},
            {"levels": {"model": "m", "sector": "b"}, "losses": 0, "ties": 0, "wins": 2},
            {"levels": {"model": "n", "sector": "b"}, "losses": 0, "ties": 0, "wins": 1},
        ],
        "n_excluded": 2,
    }
    found = CliRunner().invoke(app, ["count", str(path)])
    assert "wins" in found.output
    assert "1 rows without a score" in found.output


def test_odd_scores_and_files_without_any_are_refused(tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text("model,score\nm,0.25\n")
    with pytest.raises(ImpossibleValue):
        count_cell_file(path, ("model",))
    path.write_text("model,score\nm,\n")
    with pytest.raises(NothingJudged):
        count_cell_file(path, ("model",))
