"""Rows of a Parquet file come back as they are; a file that would end its reader is refused, and ends nothing else."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from guildhall.errors import UnreadableFile
from guildhall.store import parquet
from guildhall.store.parquet import parquet_rows

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
    monkeypatch.setattr(parquet, "LONGEST_S", 0.05)
    pl.DataFrame({"id": ["a"]}).write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(UnreadableFile, match=r"not read within 0\.05 s"):
        list(parquet_rows(tmp_path / "rows.parquet"))
