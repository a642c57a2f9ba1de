"""The same rows give the same codes whatever the file, and hostile files are refused by name."""

from __future__ import annotations

import csv
import json

import numpy as np
import polars as pl
import pytest

from guildhall.analysis import files
from guildhall.analysis.files import column_names, read_table, stream_table
from guildhall.analysis.tables import SPARSE, Coded, distinct, encode
from guildhall.errors import ImpossibleValue, MissingColumn, NothingJudged, UnreadableFile

ROWS = [
    {"task": "t1", "model": "ada", "score": "1"},
    {"task": "t,2", "model": 'be "a"', "score": "0.5"},
    {"task": "t1", "model": "line\nbreak", "score": ""},
    {"task": "t3", "model": "ada", "score": "0"},
]


def words(column: Coded) -> list[str | None]:
    return [None if code < 0 else column.names[code] for code in column.codes.tolist()]


@pytest.fixture(params=["csv", "csv by arrow", "jsonl", "parquet", "parquet by polars"])
def rows_file(request, tmp_path, monkeypatch):
    kind = request.param
    path = tmp_path / f"rows.{kind.split()[0]}"
    if kind.startswith("csv"):
        monkeypatch.setattr(files, "SMALL_FILE_BYTES", 0 if "arrow" in kind else 10**9)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(ROWS[0]))
            writer.writeheader()
            writer.writerows(ROWS)
    elif kind == "jsonl":
        path.write_text("\n".join(json.dumps({**row, "score": row["score"] or None}) for row in ROWS))
    else:
        monkeypatch.setattr(files, "_has_pyarrow", lambda: "polars" not in kind)
        scores = [float(row["score"]) if row["score"] else None for row in ROWS]
        pl.DataFrame(ROWS).with_columns(pl.Series("score", scores)).write_parquet(path)
    return path


def test_all_forms_of_file_give_the_same_rows(rows_file):
    table = read_table(rows_file, required=("task", "model"), optional=("score", "absent"))
    assert table.n_rows == 4
    assert words(table.coded("model")) == [row["model"] for row in ROWS]
    assert words(table.coded("task")) == [row["task"] for row in ROWS]
    np.testing.assert_array_equal(table.numbers("score"), [1.0, 0.5, np.nan, 0.0])
    assert "absent" not in table
    assert column_names(rows_file) == ["task", "model", "score"]


def test_a_missing_column_is_named(rows_file):
    with pytest.raises(MissingColumn, match="rater"):
        read_table(rows_file, required=("rater",))


def test_chunks_with_dictionaries_of_their_own_join_into_one(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "ROWS_A_CHUNK", 3)
    path = tmp_path / "rows.csv"
    names = ["b", "a", "b", "c", "a", "d", "b"]
    path.write_text("model\n" + "\n".join(names) + "\n")
    assert len(list(stream_table(path, required=("model",)))) == 3
    assert words(read_table(path, required=("model",)).coded("model")) == names


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("rows.csv", b"model,score\n\xff\xfe,1\n", UnreadableFile),
        ("rows.csv", b"model,score\na\n", UnreadableFile),
        ("rows.csv", b"", MissingColumn),
        ("rows.csv", b"model,score\n", NothingJudged),
        ("rows.jsonl", b"[1, 2]\n", UnreadableFile),
        ("rows.jsonl", b"{\n", UnreadableFile),
        ("rows.parquet", b"PAR1 not really", UnreadableFile),
        ("rows.txt", b"model,score\n", UnreadableFile),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(tmp_path, name, content, error):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(error):
        read_table(path, required=("model", "score"))


def test_a_nan_written_as_a_value_is_refused_and_an_empty_cell_is_unknown(tmp_path):
    for word in ("nan", "inf", "half"):
        with pytest.raises(ImpossibleValue, match="score"):
            encode(["1", word]).numbers("score")
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"score": [1.0, float("nan")]}).write_parquet(path)
    with pytest.raises(ImpossibleValue):
        read_table(path, required=("score",))


@pytest.mark.parametrize("size", [9, 100 * SPARSE])
def test_keys_are_told_apart_by_marks_as_by_sorting(size):
    keys = np.random.default_rng(0).integers(0, 9, 50)
    for found, sorted_ in zip(distinct(keys, size), np.unique(keys, return_inverse=True), strict=True):
        assert found.tolist() == sorted_.tolist()
