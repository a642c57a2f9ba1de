"""The attempts of `sandbox_attempts.txt`, the bait laid out for them on the host, and the judge of each."""

from __future__ import annotations

import contextlib
import secrets
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from guildhall.confine.limits import MIB, Ended, Finished, Limits
from guildhall.confine.room import start

LIMITS = Limits(
    wall_s=6,
    cpu_s=3,
    memory_bytes=256 * MIB,
    processes=48,
    file_bytes=32 * MIB,
    output_bytes=MIB,
    work_bytes=48 * MIB,
    work_files=2000,
    temp_bytes=24 * MIB,
)
LIMITS_OF = {
    "six processes of 500 MB under 1 GiB": LIMITS.but(memory_bytes=1024 * MIB, cpu_s=10, wall_s=15),
    # On a busy machine three seconds of processor, or thousands of files, take longer than six of the clock.
    "spin": LIMITS.but(wall_s=30),
    "fill the work folder": LIMITS.but(wall_s=30),
    "more files than allowed": LIMITS.but(wall_s=30),
    "folders nested without end": LIMITS.but(wall_s=30),
    "leave a child that holds the output open": LIMITS.but(wall_s=3),
}
LATE_BY_AT_MOST_S = 3.0
OVER_BY_AT_MOST = 1.75
"""A watcher looks every 20 ms; between two looks a tree may grow, but not by this much."""


@dataclass(frozen=True)
class Attempt:
    kind: str
    name: str
    ended: tuple[str, ...]
    script: str

    @property
    def limits(self) -> Limits:
        return LIMITS_OF.get(self.name, LIMITS)


@dataclass(frozen=True)
class Judged:
    """What became of an attempt; `wrong` is empty when it was contained."""

    attempt: Attempt
    ended: Ended
    code: int
    wall_s: float
    peak_mib: float
    wrong: tuple[str, ...]


def attempts() -> tuple[Attempt, ...]:
    """All of them, in the order of the file."""
    found = []
    for block in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").split("\n=== ")[1:]:
        head, _, script = block.partition("\n")
        named, _, ended = head.partition(" -> ")
        kind, _, name = named.partition(": ")
        found.append(Attempt(kind, name, tuple(ended.split(", ")) if ended else ("exit",), script))
    return tuple(found)


@contextlib.contextmanager
def bait() -> Iterator[dict[str, str]]:
    """Things on the host worth stealing: a secret file, servers, and a process that carries a mark."""
    mark = f"bait-{secrets.token_hex(8)}"
    with (
        tempfile.TemporaryDirectory(prefix="guildhall-bait-") as folder,
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX) as named,
        subprocess.Popen(["cat", "-", mark], env={"SECRET": mark}, stdin=subprocess.PIPE) as process,
    ):
        Path(folder).chmod(0o755)
        secret = Path(folder, "secret.txt")
        secret.write_text(mark, encoding="utf-8")
        abstract.bind(f"\0{mark}")
        abstract.listen()
        named.bind(f"{folder}/named.sock")
        named.listen()
        try:
            yield {
                "@SECRET@": str(secret),
                "@PORT@": str(server.getsockname()[1]),
                "@ABSTRACT@": mark,
                "@SOCKET@": f"{folder}/named.sock",
                "@MARK@": mark,
            }
        finally:
            process.kill()


def judge(attempt: Attempt, facts: dict[str, str]) -> Judged:
    """Make the attempt in a room of its own, and say what was not as it should be."""
    script = attempt.script
    for name, fact in facts.items():
        script = script.replace(name, fact)
    with tempfile.TemporaryDirectory(prefix="guildhall-attempt-") as parent:
        work = Path(parent, "work")
        work.mkdir()
        began = time.monotonic()
        with start(work=work, limits=attempt.limits, how="bubblewrap") as room:
            finished = room.run(["python3", "-"], stdin=script.encode())  # not in argv, where it would see itself
            still_works = room.run(["echo", "here"]).stdout == b"here\n"
        seconds = time.monotonic() - began
        subprocess.run(["rm", "-rf", str(work)], check=True)  # folders may be nested deeper than Python removes
    wrong = tuple(_complaints(attempt, finished, seconds, facts, still_works=still_works))
    peak_mib = round(finished.peak_bytes / MIB, 1)
    return Judged(attempt, finished.ended, finished.code, round(finished.wall_s, 2), peak_mib, wrong)


def _complaints(
    attempt: Attempt, finished: Finished, seconds: float, facts: dict[str, str], *, still_works: bool
) -> Iterator[str]:
    if b"ESCAPED" in finished.stdout or b"ESCAPED" in finished.stderr.replace(b"print('ESCAPED'", b""):
        yield f"it got out: {finished.stdout[:80]!r}"
    if facts["@MARK@"].encode() in finished.stdout:
        yield "it saw the mark"
    if finished.ended not in attempt.ended:
        yield f"it ended by {finished.ended} ({finished.code}), not by {attempt.ended}: {finished.stderr[-120:]!r}"
    if seconds > attempt.limits.wall_s + LATE_BY_AT_MOST_S:
        yield f"it took {seconds:.1f} s"
    if finished.peak_bytes > attempt.limits.memory_bytes * OVER_BY_AT_MOST:
        yield f"it held {finished.peak_bytes // MIB} MiB"
    if finished.peak_processes > attempt.limits.processes + 1:
        yield f"it had {finished.peak_processes} processes"
    if not still_works:
        yield "the room was of no use afterwards"
