"""Rows of a table from outside come back as they are; a file that would end its reader is refused."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from guildhall.errors import UnreadableFile
from guildhall.store import rows
from guildhall.store.rows import parquet_rows, read_rows

CRASHES = Path(__file__).parent.parent / "fuzz" / "crashes" / "parquet-rows"


def test_rows_come_back_with_lists_blanks_and_numbers(tmp_path: Path) -> None:
    rows = [{"id": "a", "files": ["x.pdf", "y.docx"], "hours": 1.5}, {"id": "b", "files": [], "hours": None}]
    pl.DataFrame(rows).write_parquet(tmp_path / "rows.parquet")
    assert list(parquet_rows(tmp_path / "rows.parquet")) == rows


def test_a_file_that_ends_its_reader_is_refused(tmp_path: Path) -> None:
    """It asks for two exabytes, at which the reader's process ends without an error that could be caught."""
    with pytest.raises(UnreadableFile, match="it ends its reader"):
        list(parquet_rows(CRASHES / "65469db47106cd4d"))
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(UnreadableFile, match="not a whole Parquet file"):
        list(parquet_rows(tmp_path / "cut.parquet"))


def test_a_reader_that_takes_too_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "LONGEST_S", 0.05)
    pl.DataFrame({"id": ["a"]}).write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(UnreadableFile, match=r"not read within 0\.05 s"):
        list(parquet_rows(tmp_path / "rows.parquet"))


@pytest.mark.parametrize("name", ["t.csv", "t.TSV"])
def test_cells_are_words_and_a_mark_of_byte_order_is_no_part_of_a_name(tmp_path: Path, name: str) -> None:
    between = "\t" if name.endswith("TSV") else ","
    (tmp_path / name).write_bytes(f"\ufefftask{between}score\n007{between}\n".encode())
    assert read_rows(tmp_path / name, required=("task", "score")) == [{"task": "007", "score": None}]


@pytest.mark.parametrize("text", ["", "task,score\n", "task,score\n1,2,3,4\n", '[{"task": 1}, 7]', "{}", "[" * 10_000])
def test_a_table_that_is_none_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / ("t.json" if text[:1] in {"[", "{"} else "t.csv")
    path.write_text(text)
    with pytest.raises(UnreadableFile, match=path.name):
        read_rows(path)
