"""The kinds of faults, each done to a round that is under way: what it acknowledged before it broke must stand."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random

from guildhall.errors import CorruptBlob
from guildhall.store.checking import examine_workspace
from guildhall.store.workspace import Workspace
from tests.postgres import Server
from tests.torture.ground import Child, Ground
from tests.torture.wire import Wire

MOST_WORDS = 10
"""How many acknowledgements an undisturbed round gives."""
DAYS_S = 5 * 86400.0


@dataclass
class Scene:
    """What a fault may lay hands on."""

    ground: Ground
    rng: Random
    provider: Wire
    database: Wire | None = None
    """The wire to PostgreSQL; None on SQLite."""
    server: Server | None = None

    def midway(self, child: Child) -> None:
        """A random moment of the child's work."""
        child.wait_for(self.rng.randrange(MOST_WORDS))
        time.sleep(self.rng.uniform(0, 0.01))

    def ended(self, child: Child) -> None:
        child.wait()
        self.ground.acknowledged |= child.said


Fault = Callable[[Scene, int], None]


def worker_killed(scene: Scene, number: int) -> None:
    child = scene.ground.child(number)
    scene.midway(child)
    child.signal(signal.SIGKILL)
    scene.ended(child)


def disk_full(scene: Scene, number: int) -> None:
    """No file can grow beyond a point that is reached somewhere on the way."""
    wal = scene.ground.address.path / "guildhall.sqlite-wal"
    room = (wal.stat().st_size if wal.exists() else 0) + scene.rng.randrange(1, 40_000)

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    scene.ended(scene.ground.child(number, before=limit))


def disk_read_only(scene: Scene, number: int) -> None:
    """The workspace's folder cannot be written to, seen from a mount namespace of the child's own."""
    scene.ended(scene.ground.child(number, before=lambda: _read_only(scene.ground.address.path)))


def provider_cut(scene: Scene, number: int) -> None:
    child = scene.ground.child(number)
    scene.midway(child)
    scene.provider.cut()
    scene.ended(child)
    scene.provider.mend()


def clock_jumped(scene: Scene, number: int) -> None:
    """A worker dies; the next one's clock is days ahead or behind."""
    worker_killed(scene, number)
    scene.ground.settle(number, skew_s=scene.rng.choice((-DAYS_S, DAYS_S)))


def blob_damaged(scene: Scene, number: int) -> None:
    """One byte of a file changes: it is never handed out, the deep look names it, and a good copy mends it."""
    scene.ground.settle(number)
    with Workspace.at_address(scene.ground.address) as workspace:
        digest = scene.rng.choice(list(workspace.blobs.each()))
        place = workspace.blobs.path(digest)
        good = place.read_bytes()
        spot = scene.rng.randrange(len(good))
        place.chmod(0o644)
        place.write_bytes(good[:spot] + bytes([good[spot] ^ 1]) + good[spot + 1 :])
        try:
            workspace.blobs.read(digest)
        except CorruptBlob:
            pass
        else:
            raise AssertionError("a damaged file was handed out")
        found = {(fault.check, fault.subject) for fault in examine_workspace(workspace).faults}
        assert found == {("files", digest)}, found
        place.unlink()
        assert workspace.blobs.put(good) == digest


def two_at_once(scene: Scene, number: int) -> None:
    """Two processes do the same round of the same workspace."""
    children = [scene.ground.child(number) for _ in range(2)]
    for child in children:
        scene.ended(child)


def worker_silent(scene: Scene, number: int) -> None:
    """A worker stops answering with leases in hand; another takes over; then the first wakes up and goes on."""
    child = scene.ground.child(number)
    child.wait_for(scene.rng.randrange(MOST_WORDS))
    _stop_outside_a_transaction(scene, child)
    scene.ground.let_leases_run_out()
    scene.ground.settle(number)
    child.signal(signal.SIGCONT)
    scene.ended(child)


def writer_killed_in_transaction(scene: Scene, number: int) -> None:
    """Another program holds SQLite's write lock with a transaction half written, and is killed."""
    near, far = os.pipe()
    holder = os.fork()
    if holder == 0:
        with closing(sqlite3.connect(scene.ground.address.path / "guildhall.sqlite", isolation_level=None)) as held:
            held.execute("BEGIN IMMEDIATE")
            held.execute("UPDATE slots SET holder = 'nobody'")
            os.write(far, b"x")
            signal.pause()
    os.read(near, 1)
    child = scene.ground.child(number)
    time.sleep(scene.rng.uniform(0.05, 0.2))
    os.kill(holder, signal.SIGKILL)
    os.waitpid(holder, 0)
    for end in (near, far):
        os.close(end)
    scene.ended(child)


def database_restarted(scene: Scene, number: int) -> None:
    """PostgreSQL goes down without a word and comes up again."""
    assert scene.server is not None
    child = scene.ground.child(number)
    scene.midway(child)
    scene.server.restart()
    scene.ended(child)


def database_cut(scene: Scene, number: int) -> None:
    assert scene.database is not None
    child = scene.ground.child(number)
    scene.midway(child)
    scene.database.cut()
    scene.ended(child)
    scene.database.mend()


EVERYWHERE: Mapping[str, Fault] = {
    "worker killed": worker_killed,
    "disk full": disk_full,
    "disk read-only": disk_read_only,
    "provider cut off": provider_cut,
    "clock jumped": clock_jumped,
    "blob damaged": blob_damaged,
    "two at once": two_at_once,
    "worker silent": worker_silent,
}
ON_SQLITE: Mapping[str, Fault] = {"writer killed in transaction": writer_killed_in_transaction}
ON_POSTGRES: Mapping[str, Fault] = {"database restarted": database_restarted, "database cut off": database_cut}


def _stop_outside_a_transaction(scene: Scene, child: Child) -> None:
    """A process stopped inside SQLite's write lock would hold up everybody: that is another fault than this one."""
    for _ in range(200):
        child.signal(signal.SIGSTOP)
        os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        if scene.database is not None or _writable(scene.ground.address.path):
            return
        child.signal(signal.SIGCONT)
        time.sleep(0.003)


def _writable(path: Path) -> bool:
    with closing(sqlite3.connect(path / "guildhall.sqlite", timeout=0.05, isolation_level=None)) as probe:
        try:
            probe.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        probe.execute("ROLLBACK")
    return True


_NEW_NAMESPACE, _REMOUNT_READ_ONLY, _BIND, _PRIVATE = 0x00020000, 0x20 | 0x1 | 0x1000, 0x1000, 0x40000 | 0x4000


def _read_only(path: Path) -> None:
    system = ctypes.CDLL(None, use_errno=True)
    place = str(path).encode()
    steps = (
        system.unshare(_NEW_NAMESPACE),
        system.mount(b"none", b"/", None, _PRIVATE, None),
        system.mount(place, place, None, _BIND, None),
        system.mount(place, place, None, _REMOUNT_READ_ONLY, None),
    )
    if any(steps):
        raise OSError(ctypes.get_errno(), "no mount namespace to be had")
