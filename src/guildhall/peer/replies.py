"""Reading grades from a file of replies: JSON lines (plain or gzipped), CSV or Parquet with a `text` column."""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from guildhall.domain.boswell import Reading
from guildhall.domain.grades import NO_GRADE
from guildhall.errors import UnknownName, UnreadableFile
from guildhall.peer.reader import read_grade
from guildhall.store.parquet import parquet_rows


def readings(path: Path, *, infer: bool = False) -> Iterator[dict[str, Any]]:
    """One row per reply: `id, grade, rule, span, confidence, reason` (and `inferred` where a grade is a suggestion)."""
    for number, row in enumerate(_rows(path), 1):
        if "text" not in row:
            raise UnknownName("column", "text", known=sorted(row))
        text = row["text"]
        if not isinstance(text, str):
            raise UnreadableFile(path, f"`text` of row {number} is not text")
        yield as_row(row.get("id", number), read_grade(text, infer=infer))


def as_row(key: Any, reading: Reading) -> dict[str, Any]:
    """The documented shape of a reading."""
    row = {
        "id": key,
        "grade": reading.grade or NO_GRADE,
        "rule": reading.rule,
        "span": list(reading.span) if reading.span else None,
        "confidence": reading.confidence,
        "reason": reading.reason.value if reading.reason else None,
    }
    return row | {"inferred": True} if reading.inferred else row


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    if not path.is_file():
        raise UnreadableFile(path, "there is no such file", fix="check the path")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".parquet"]:
        yield from parquet_rows(path)
        return
    rows = _csv_rows(path) if suffixes[-1:] == [".csv"] else _json_lines(path, gzipped=suffixes[-1:] == [".gz"])
    try:
        yield from rows
    except (UnicodeDecodeError, csv.Error, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UnreadableFile(path, f"it cannot be read as text ({error})") from error


def _csv_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open(newline="", encoding="utf-8-sig") as lines:
        yield from csv.DictReader(lines)


def _json_lines(path: Path, *, gzipped: bool) -> Iterator[Mapping[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") if gzipped else path.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UnreadableFile(path, f"line {number} is not JSON ({error})") from error
            if not isinstance(row, dict):
                raise UnreadableFile(path, f"line {number} is not a JSON object")
            yield row
