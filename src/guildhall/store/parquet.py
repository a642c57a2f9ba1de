"""Rows of a Parquet file from outside, read in a process of its own.

A damaged file can make the reader ask for more memory than there is, which ends its process on the spot, with no error
to catch. So the reader is another process: if it ends like that, the file is refused and nothing else is lost.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from guildhall.errors import UnreadableFile

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
