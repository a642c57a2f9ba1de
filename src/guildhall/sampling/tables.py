"""Tables from outside: Parquet, CSV, JSON or JSON Lines by extension, as rows of plain values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from guildhall.errors import UnreadableFile
from guildhall.store.parquet import parquet_rows


def read_rows(path: Path, *, required: Sequence[str]) -> list[dict[str, Any]]:
    """All rows; `UnreadableFile` names what is missing."""
    try:
        rows = _rows(path)
    except FileNotFoundError as error:
        raise UnreadableFile(path, "is not there") from error
    except UnreadableFile:
        raise
    except Exception as error:  # the readers raise many kinds, all about the file
        raise UnreadableFile(path, f"cannot be read as a table ({str(error)[:120]})") from error
    if not rows:
        raise UnreadableFile(path, "holds no row")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise UnreadableFile(path, f"row {number} is no record of columns")
        if missing := [column for column in required if column not in row]:
            raise UnreadableFile(path, f"row {number} lacks the column {', '.join(missing)}")
    return rows


def _rows(path: Path) -> list[Any]:
    if path.suffix in {".jsonl", ".ndjson"}:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    if path.suffix == ".json":
        found = json.loads(path.read_text(encoding="utf-8"))
        return list(found) if isinstance(found, list) else list(found["results"])
    if path.suffix == ".parquet":
        path.stat()  # where there is none, that is what is said
        return list(parquet_rows(path))
    try:
        frame = pl.read_csv(path, infer_schema_length=None)
    except pl.exceptions.PanicException as error:  # no Exception by its kind, though it too is about the file
        raise ValueError(error) from error
    return frame.to_dicts()
