"""What lies in a work folder: one look from inside the sandbox, taken as hearsay and checked again outside."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from guildhall.engine.agents import Room
from guildhall.errors import SandboxError

EntryKind = Literal["file", "link", "special"]

MOST_ENTRIES = 20_000

_LIST = """
import json, os, stat, sys
most = int(sys.argv[1])
count = 0
for folder, folders, names in os.walk(".", followlinks=False):
    for name in sorted(names) + [name for name in folders if os.path.islink(os.path.join(folder, name))]:
        path = os.path.join(folder, name)
        try:
            seen = os.lstat(path)
        except OSError:
            continue
        kind = "link" if stat.S_ISLNK(seen.st_mode) else "file" if stat.S_ISREG(seen.st_mode) else "special"
        to = os.readlink(path) if kind == "link" else None
        print(json.dumps([os.path.relpath(path, "."), kind, seen.st_size, to]))
        count += 1
        if count >= most:
            sys.exit(0)
"""

_CACHE_FOLDERS = {"__pycache__", ".cache", ".config", ".git", ".ipynb_checkpoints", ".local", "node_modules", ".venv"}
_CACHE_NAMES = {".DS_Store", "Thumbs.db", ".bash_history", ".python_history"}
_CACHE_ENDINGS = (".pyc", ".pyo", ".tmp", ".swp")
_CACHE_STARTS = ("~$", ".~lock.")


@dataclass(frozen=True)
class Entry:
    path: str
    kind: EntryKind
    size: int
    to: str | None = None

    @property
    def is_cache(self) -> bool:
        """Leavings of programs, which nobody means to deliver."""
        path = PurePosixPath(self.path)
        return (
            bool(_CACHE_FOLDERS.intersection(path.parts[:-1]))
            or path.name in _CACHE_NAMES
            or path.name.endswith(_CACHE_ENDINGS)
            or path.name.startswith(_CACHE_STARTS)
        )


async def take_inventory(room: Room) -> list[Entry]:
    """Every file, link and special file below the work folder; links are listed and never followed."""
    ran = await room.run(["python3", "-I", "-c", _LIST, str(MOST_ENTRIES)], timeout_s=120)
    if ran.code != 0:
        raise SandboxError(f"the work folder could not be listed: {ran.err.strip()[-300:]}")
    found = []
    for line in ran.out.splitlines():
        path, kind, size, to = json.loads(line)
        found.append(
            Entry(str(path), "file" if kind == "file" else "link" if kind == "link" else "special", int(size), to)
        )
    return found
