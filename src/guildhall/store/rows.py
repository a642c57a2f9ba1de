"""Tables from outside (Parquet, CSV, TSV, JSON, JSON Lines by their ending) as rows of plain values.

A damaged Parquet file can make the reader ask for more memory than there is, which ends its process on the spot, with
no error to catch. So its reader is another process: if it ends like that, the file is refused and nothing else is lost.
Cells of CSV and TSV are words: nothing is guessed, and an id such as 007 keeps its zeros.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from guildhall.errors import UnreadableFile

LISTS = ("results", "rows", "data", "votes")
"""Under which name a JSON object may hold its rows."""
LONGEST_S = 600.0
_READ = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
import polars
polars.read_parquet(sys.argv[1]).write_ipc(sys.argv[2])
"""


def parquet_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Each row by the names of its columns. Raises `UnreadableFile` before the first where the file is damaged."""
    import polars as pl

    with tempfile.TemporaryDirectory(prefix="guildhall-parquet-") as folder:
        sound = Path(folder) / "rows.arrow"
        _rewrite(path, sound)
        rows = pl.read_ipc(sound.read_bytes())
    yield from rows.iter_rows(named=True)


def _rewrite(path: Path, sound: Path) -> None:
    command = [sys.executable, "-I", "-c", _READ, str(path.absolute()), str(sound)]
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=LONGEST_S, check=False, env={}
        )
    except subprocess.TimeoutExpired as error:
        raise UnreadableFile(path, f"not read within {LONGEST_S:g} s", fix="download it again") from error
    if ended.returncode:
        last_words = (ended.stderr.strip().splitlines() or ["no reason given"])[-1]
        why = "it ends its reader" if ended.returncode < 0 else last_words[:120]
        raise UnreadableFile(path, f"not a whole Parquet file ({why})", fix="download it again")


def read_rows(path: Path, *, required: Sequence[str] = ()) -> list[dict[str, Any]]:
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
    kind = path.suffix.lower()
    if kind == ".parquet":
        path.stat()  # where there is none, that is what is said
        return list(parquet_rows(path))
    if kind in {".jsonl", ".ndjson"}:
        return [json.loads(line) for line in path.read_text(encoding="utf-8-sig").split("\n") if line.strip()]
    if kind == ".json":
        found = json.loads(path.read_text(encoding="utf-8-sig"))
        return list(found) if isinstance(found, list) else list(next(found[name] for name in LISTS if name in found))
    # Here, because commands that only list would wait a tenth of a second for it.
    import polars as pl

    try:
        frame = pl.read_csv(path, infer_schema=False, separator="\t" if kind in {".tsv", ".tab"} else ",")
    except pl.exceptions.PanicException as error:  # no Exception by its kind, though it too is about the file
        raise ValueError(error) from error
    return frame.to_dicts()
