"""A folder of backups: each named by its time, the oldest removed when there are more than are wanted."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

_NAME = re.compile(r"\d{8}T\d{6}Z\.guildhall-backup\.tar")
"""Only files named by us are ever removed."""


def name_for(now: float) -> str:
    """The file name of a backup made at a time; names sort by it."""
    return f"{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%SZ}.guildhall-backup.tar"


def remove_older(folder: Path, *, keep: int) -> list[Path]:
    """Remove all but the newest backups of a folder; what was removed."""
    found = sorted(file for file in folder.iterdir() if _NAME.fullmatch(file.name))
    older = found[: max(0, len(found) - keep)]
    for file in older:
        file.unlink()
    return older
