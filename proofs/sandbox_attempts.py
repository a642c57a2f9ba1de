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

from guildhall.confine.cgroup import kernel_bytes
from guildhall.confine.limits import MIB, ROOM_WIDE, Ended, Finished, HeldBy, RoomLimits
from guildhall.confine.room import start

LIMITS = RoomLimits(
    wall_s=30,  # far more than any attempt needs, on a busy machine too: those that wait for it have one of their own
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
    "six processes of 500 MB under 1 GiB": LIMITS.but(memory_bytes=1024 * MIB, cpu_s=10),
    "shell fork bomb": LIMITS.but(wall_s=6),
    "spin in short-lived children nobody waits for": LIMITS.but(wall_s=6),
    "sleep through every polite signal": LIMITS.but(wall_s=3),
    "leave a child that holds the output open": LIMITS.but(wall_s=20),  # the child would hold it for longer
}
HANGS_AFTER_S = 60.0
"""So long after its time limit an attempt counts as one that was not ended; no promise of how soon it is."""


@dataclass(frozen=True)
class Attempt:
    kind: str
    name: str
    ended: tuple[str, ...]
    script: str

    @property
    def limits(self) -> RoomLimits:
        return LIMITS_OF.get(self.name, LIMITS)


@dataclass(frozen=True)
class Judged:
    """What became of an attempt; `wrong` is empty when it was contained."""

    attempt: Attempt
    ended: Ended
    limits_held_by: HeldBy
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


def judge(attempt: Attempt, facts: dict[str, str], *, kernel_limits: bool = True) -> Judged:
    """Make the attempt in a room of its own, and say what was not as it should be.

    Where the kernel counts the tree, its memory never passed what it may hold. Where a watch does, how far a burst
    came before it was seen is recorded and nothing is promised; either way nobody lives on after a limit.
    """
    script = attempt.script
    for name, fact in facts.items():
        script = script.replace(name, fact)
    with tempfile.TemporaryDirectory(prefix="guildhall-attempt-") as parent:
        work = Path(parent, "work")
        work.mkdir()
        began = time.monotonic()
        at_most = kernel_bytes(attempt.limits, work=work)
        with start(work=work, limits=attempt.limits, how="bubblewrap", kernel_limits=kernel_limits) as room:
            finished = room.run(["python3", "-"], stdin=script.encode())  # not in argv, where it would see itself
            left = room.run(["sh", "-c", "echo /proc/[0-9]*"]).stdout.split()  # its first process, and this shell
            peak = finished.peak_bytes if room.kernel_peak_bytes is None else room.kernel_peak_bytes
        seconds = time.monotonic() - began
        subprocess.run(["rm", "-rf", str(work)], check=True)  # folders may be nested deeper than Python removes
    wrong = tuple(_complaints(attempt, finished, seconds, facts, left=len(left)))
    if finished.limits_held_by != "watch" and peak > at_most:
        wrong += (f"it held {peak // MIB} MiB of {at_most // MIB}",)
    return Judged(
        attempt,
        finished.ended,
        finished.limits_held_by,
        finished.code,
        round(finished.wall_s, 2),
        round(peak / MIB, 1),
        wrong,
    )


def _complaints(
    attempt: Attempt, finished: Finished, seconds: float, facts: dict[str, str], *, left: int
) -> Iterator[str]:
    if b"ESCAPED" in finished.stdout or b"ESCAPED" in finished.stderr.replace(b"print('ESCAPED'", b""):
        yield f"it got out: {finished.stdout[:80]!r}"
    if facts["@MARK@"].encode() in finished.stdout:
        yield "it saw the mark"
    if finished.ended not in attempt.ended:
        yield f"it ended by {finished.ended} ({finished.code}), not by {attempt.ended}: {finished.stderr[-120:]!r}"
    if seconds > attempt.limits.wall_s + HANGS_AFTER_S:
        yield f"it took {seconds:.1f} s"
    if finished.peak_processes > attempt.limits.processes + 1:
        yield f"it had {finished.peak_processes} processes"
    if left == 0:
        yield "the room was of no use afterwards"
    if finished.ended in ROOM_WIDE and left > 2:
        yield f"{left - 2} processes outlived the end of everything"
