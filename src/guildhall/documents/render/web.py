"""HTML as people see it: printed by Chromium in a room without network, where there is one."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from guildhall.confine.limits import MIB, RoomLimits
from guildhall.confine.room import start
from guildhall.documents.confined import limit_in_words
from guildhall.documents.values import Omission
from guildhall.errors import UnreadableFile

LIMITS = RoomLimits(
    wall_s=30, cpu_s=20, memory_bytes=768 * MIB, processes=400, file_bytes=256 * MIB, work_bytes=512 * MIB
)
_BROWSERS = ("/usr/lib/chromium/chromium", "/usr/lib64/chromium-browser/chromium-browser", "/opt/google/chrome/chrome")
"""The programs themselves: the scripts around them want settings a room does not have."""
_FLAGS = (
    "--headless",
    "--no-sandbox",  # the room is one, and allows none inside it
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--no-first-run",
    "--no-pdf-header-footer",
    "--virtual-time-budget=4000",
)
_LINKED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\bsrc\s*=\s*[\"']?(?!data:)[^\s>]"
    r"|<link\b[^>]*\bstylesheet\b|@import\b",
    re.IGNORECASE,
)


def browser() -> str | None:
    """A Chromium that can run in a room, or None."""
    return next((path for path in _BROWSERS if Path(path).exists()), None)


def printed(file: Path, page: str, *, program: str) -> bytes:
    """The page as a PDF, its own scripts run; `UnreadableFile` when it hangs or crashes the browser."""
    with tempfile.TemporaryDirectory(prefix="guildhall-web-") as folder:
        work = Path(folder)
        (work / "page.html").write_text(page, encoding="utf-8", errors="replace")
        command = [program, *_FLAGS, "--user-data-dir=/tmp/profile", "--print-to-pdf=page.pdf", "page.html"]
        with start(work=work, limits=LIMITS) as room:
            finished = room.run(command)
            if finished.ended != "exit":
                raise UnreadableFile(file, f"was stopped at its {limit_in_words(finished, LIMITS)}")
            try:
                return room.read_file("page.pdf", limit_bytes=LIMITS.file_bytes)
            except OSError as error:
                raise UnreadableFile(file, f"crashed on it (exit code {finished.code})") from error


def unfetched(page: str) -> tuple[Omission, ...]:
    """What the page would load from elsewhere; nothing is fetched for it."""
    count = len(_LINKED.findall(page))
    reason = "files and addresses that a page loads are not fetched"
    return (Omission(what="linked resources", reason=reason, count=count),) if count else ()
