"""A room that is a plain folder, for tests of what happens around a sandbox rather than in it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from guildhall.engine.agents import Ran


class FolderRoom:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def run(self, argv: list[str], *, stdin: str | None = None, timeout_s: float = 60) -> Ran:
        done = subprocess.run(
            [sys.executable if argv[0] == "python3" else argv[0], *argv[1:]],
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    async def read(self, path: str) -> bytes:
        return (self.folder / path).read_bytes()

    async def write(self, path: str, content: bytes) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
