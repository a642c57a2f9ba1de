"""How much a folder full of hostile files holds."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

DEEPEST = 100
"""Folders nested deeper than this are an attack on whoever walks them, and count as past the limit."""


@dataclass(frozen=True)
class Size:
    bytes: int = 0
    files: int = 0
    unmeasurable: bool = False  # nested too deep, or a folder its owner closed to everybody


def measure(folder: Path, *, give_up_after: int) -> Size:
    """Bytes on disk and entries below `folder`, links not followed; stops counting past `give_up_after` entries."""
    used, files = 0, 0
    waiting = [(str(folder), 0)]
    while waiting:
        path, depth = waiting.pop()
        if depth > DEEPEST:
            return Size(used, files, unmeasurable=True)
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    files += 1
                    if files > give_up_after:
                        return Size(used, files)
                    used += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, depth + 1))
        except PermissionError:
            return Size(used, files, unmeasurable=True)
        except OSError:
            continue  # removed while we looked
    return Size(used, files)
