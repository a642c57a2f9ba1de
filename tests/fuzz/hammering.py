"""Hammer one parser in a process of its own: what it does to a bad input is watched from outside.

A parser may refuse an input only with the errors its target names. Anything else is a fault: another exception, a dead
process, an input that takes longer than `HANG_S` or stands still, or memory that keeps growing.
"""

from __future__ import annotations

import gc
import mmap
import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from types import FrameType

from tests.fuzz.mutating import MOST_BYTES, mutated

HANG_S = 10.0
"""Of processor time, since a busy machine is not the parser's fault."""
STANDSTILL_S = 120.0
"""Of the clock on the wall, for one that waits."""
LEAK_BYTES = 64 << 20
MEMORY_BYTES = 3 << 30
OPENING_S = 60.0
"""What importing and opening a target may take; it does not count as hammering."""
_WARM_CASES = 300


@dataclass(frozen=True)
class Target:
    """A parser of outside data: `read` takes the bytes and may raise `refuses` only."""

    name: str
    open: Callable[[Path], Callable[[bytes], object]]
    """Given an empty folder, the function to hammer."""
    seeds: Callable[[], Sequence[bytes]]
    refuses: tuple[type[BaseException], ...]
    words: Sequence[bytes] = ()
    hang_s: float = HANG_S


@dataclass(frozen=True)
class Fault:
    what: str
    case: bytes


@dataclass
class Hammered:
    """What came of it: cases tried, how many were refused, memory gained after warming up, faults with their inputs."""

    cases: int = 0
    refused: int = 0
    seconds: float = 0.0
    grown_bytes: int = 0
    faults: list[Fault] = field(default_factory=list)


class _Hang(BaseException):
    """Not an Exception, so that no parser's own handler takes it for a bad input."""


Find = Callable[[], Target]


def hammer(find: Find, folder: Path, *, seconds: float, seed: int, most_cases: int | None = None) -> Hammered:
    """Try mutated inputs for a time; a process that dies is replaced and its last input kept as a fault.

    Processes begin clean: one forked from here would inherit the locks of Polars' threads, held by nobody. So each
    finds its target by itself, and `find` is a function of a module.
    """
    found = Hammered()
    round_number = 0
    while found.seconds < seconds and len(found.faults) < 20:
        left = None if most_cases is None else most_cases - found.cases
        if left is not None and left <= 0:
            break
        _one_process(
            find, folder, found, seconds=seconds - found.seconds, seed=seed * 1000 + round_number, most_cases=left
        )
        round_number += 1
    return found


def _one_process(
    find: Find, folder: Path, found: Hammered, *, seconds: float, seed: int, most_cases: int | None
) -> None:
    last = folder / "last-case"
    last.write_bytes(bytes(8 + MOST_BYTES))
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.fuzz.targets"])
    ours, theirs = context.Pipe()
    child = context.Process(target=_hammering, args=(find, folder, last, theirs, seconds, seed, most_cases))
    child.start()
    theirs.close()
    if not _listen(ours, found, patience=seconds + OPENING_S + 2 * STANDSTILL_S):
        child.kill()
        child.join()
        kept = last.read_bytes()
        case = kept[8 : 8 + int.from_bytes(kept[:8], "little")]
        found.faults.append(Fault(f"the process died or stood still ({child.exitcode})", case))
        found.seconds += HANG_S
    child.join()


def _listen(ours: Connection, found: Hammered, *, patience: float) -> bool:
    """Take each fault as it is told, then the account; False when the process ends or falls silent without one."""
    ends = time.monotonic() + patience
    try:
        while ours.poll(max(0.0, ends - time.monotonic())):
            told = ours.recv()
            if isinstance(told, Fault):
                found.faults.append(told)
                continue
            found.cases += told.cases
            found.refused += told.refused
            found.seconds += told.seconds
            found.grown_bytes = max(found.grown_bytes, told.grown_bytes)
            return True
    except EOFError:
        pass
    return False


def _hammering(
    find: Find,
    folder: Path,
    last: Path,
    report: Connection,
    seconds: float,
    seed: int,
    most_cases: int | None,
) -> None:
    most = _pages(0) + MEMORY_BYTES  # on top of what is mapped already
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    room = folder / f"process-{os.getpid()}"
    room.mkdir()
    target = find()
    read, seeds, random = target.open(room), target.seeds(), Random(seed)
    found, warm, ends = Hammered(), 0, time.monotonic() + seconds
    faults = 0
    with last.open("r+b") as file:
        shared = mmap.mmap(file.fileno(), 0)
    while time.monotonic() < ends and faults < 5 and (most_cases is None or found.cases < most_cases):
        case = mutated(seeds, target.words, random)
        shared[:8] = len(case).to_bytes(8, "little")
        shared[8 : 8 + len(case)] = case
        fault = attempt(target, read, case, found)
        if fault is not None:
            report.send(fault)
            faults += 1
        found.cases += 1
        if found.cases == _WARM_CASES:
            warm = _resident()
    if warm:
        found.grown_bytes = max(0, _resident() - warm)
    found.seconds = seconds + time.monotonic() - ends
    report.send(found)


def attempt(target: Target, read: Callable[[bytes], object], case: bytes, found: Hammered) -> Fault | None:
    """One input, with the clock running."""
    try:
        with _clocks_running(target.hang_s):
            read(case)
    except target.refuses:
        found.refused += 1
    except _Hang:
        return Fault(f"took longer than {target.hang_s:g} s, or stood still for {STANDSTILL_S:g} s", case)
    except BaseException as error:  # noqa: BLE001 - this is what is looked for
        return Fault(f"{type(error).__name__}: {error}"[:300], case)
    return None


@contextmanager
def _clocks_running(hang_s: float) -> Iterator[None]:
    clocks = ((signal.SIGPROF, signal.ITIMER_PROF, hang_s), (signal.SIGALRM, signal.ITIMER_REAL, STANDSTILL_S))
    before = {number: signal.signal(number, _raise_hang) for number, _, _ in clocks}
    for _, clock, seconds in clocks:
        signal.setitimer(clock, seconds)
    try:
        yield
    finally:
        for number, clock, _ in clocks:
            signal.setitimer(clock, 0)
            signal.signal(number, before[number])


def _raise_hang(_number: int, _frame: FrameType | None) -> None:
    raise _Hang


def _resident() -> int:
    gc.collect()
    return _pages(1)


def _pages(column: int) -> int:
    return int(Path("/proc/self/statm").read_text().split()[column]) * os.sysconf("SC_PAGE_SIZE")
