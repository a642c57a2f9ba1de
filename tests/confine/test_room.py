"""Rooms, in both ways of confining: what goes in, what comes out, and what ends a command."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from guildhall.confine.cgroup import kernel_bytes
from guildhall.confine.launch import why_no_bubblewrap
from guildhall.confine.limits import MIB, How, RoomLimits
from guildhall.confine.room import Room, run, start
from guildhall.confine.tree import Tree
from guildhall.errors import RoomClosed
from tests.waiting import until

LIMITS = RoomLimits(
    wall_s=60,  # a guard against hanging: nothing below is expected to take as long
    cpu_s=20,
    memory_bytes=200 * MIB,
    processes=32,
    output_bytes=MIB,
    work_bytes=32 * MIB,
    temp_bytes=8 * MIB,
)
WAYS: list[How] = ["rlimits"] if why_no_bubblewrap() else ["bubblewrap", "rlimits"]
FORKED_MEMORY = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        block = b"x" * (90 * 1024**2)
        time.sleep(90)
time.sleep(90)
"""
MANY_PROCESSES = """
import os, time
for _ in range(200):
    try:
        if os.fork() == 0:
            time.sleep(90)
    except OSError:
        break
time.sleep(90)
"""
OPEN_EVERY_FAMILY = """
import json, socket
opened = {}
for family in socket.AddressFamily:
    opened[family.name] = False
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            socket.socket(family, kind).close()
            opened[family.name] = True
        except OSError:
            pass
print(json.dumps(opened))
"""


@pytest.fixture(params=WAYS)
def room(request, tmp_path):
    with start(work=tmp_path, limits=LIMITS, how=request.param) as opened:
        yield opened


@pytest.fixture(params=WAYS)
def held(request, tmp_path):
    """A room whose tree the kernel counts."""
    yield from opened_room(tmp_path, request.param, by="kernel")


@pytest.fixture(params=WAYS)
def watched(request, tmp_path):
    """A room whose tree only the watch counts, as on a machine without control groups."""
    yield from opened_room(tmp_path, request.param, by="watch")


@pytest.fixture(params=[(how, by) for how in WAYS for by in ("kernel", "watch")], ids="-".join)
def either(request, tmp_path):
    yield from opened_room(tmp_path, request.param[0], by=request.param[1])


def opened_room(work: Path, how: How, *, by: str) -> Iterator[Room]:
    with start(work=work, limits=LIMITS, how=how, kernel_limits=by == "kernel") as opened:
        if by == "kernel" and opened.limits_held_by == "watch":
            pytest.skip("no control group can be made on this machine")
        yield opened


def wait_until_empty(room: Room) -> None:
    """Until nobody but its first process lives in a room, seen from outside: the dead are reaped when it suits them."""
    until(lambda: len(Tree(room._launched.process.pid).pids()) <= (room.how == "bubblewrap"))


def test_output_code_and_input_come_through(room: Room):
    finished = room.run(["sh", "-c", "cat; echo oops >&2; exit 3"], stdin=b"a\0b" * 100_000)
    assert finished.stdout == b"a\0b" * 100_000
    assert finished.stderr == b"oops\n"
    assert (finished.code, finished.ended, finished.how) == (3, "exit", room.how)


def test_what_a_command_writes_lies_in_the_work_folder_and_nowhere_else(room: Room, tmp_path: Path):
    (tmp_path / "given.txt").write_text("given")
    assert room.run(["sh", "-c", "cp given.txt made.txt"]).ok
    assert (tmp_path / "made.txt").read_text() == "given"


def test_the_callers_environment_stays_outside(room: Room, monkeypatch):
    monkeypatch.setenv("API_KEY", "do-not-leak")
    assert b"do-not-leak" not in room.run(["env"]).stdout
    assert room.run(["sh", "-c", "echo $GIVEN"], env={"GIVEN": "yes"}).stdout == b"yes\n"


def test_a_command_that_cannot_start_says_why(room: Room):
    missing, closed = room.run(["no-such-program"]), room.run(["/etc/passwd"])
    assert (missing.code, missing.refused) == (127, 2)
    assert (closed.code, closed.refused) == (126, 13)
    assert b"no-such-program" in missing.stderr


def test_a_command_ends_at_its_time_and_its_children_with_it(room: Room):
    mine = f"77.{os.getpid()}"  # without a room of its own a command sees the whole machine's processes
    finished = room.run(["sh", "-c", f"sleep {mine} & sleep {mine}"], wall_s=0.3)
    assert finished.ended == "wall"
    # On a busy machine those told to end may be seen a moment longer; were one left, this would end at its time.
    assert room.run(["sh", "-c", f"while ps -eo args | grep '[s]leep {mine}'; do sleep 0.02; done"]).ok


def test_the_kernel_holds_the_memory_of_the_whole_tree(held: Room, tmp_path: Path):
    finished = held.run(["python3", "-c", FORKED_MEMORY])
    at_most = kernel_bytes(LIMITS, work=tmp_path)
    assert finished.ended == "memory"
    assert finished.limits_held_by == held.limits_held_by
    assert held.kernel_peak_bytes is not None
    assert finished.peak_bytes <= at_most
    assert LIMITS.memory_bytes / 2 < held.kernel_peak_bytes <= at_most
    wait_until_empty(held)


def test_the_watch_ends_a_whole_tree_for_its_memory_and_the_record_says_who_watched(watched: Room):
    finished = watched.run(["python3", "-c", FORKED_MEMORY])
    assert (finished.ended, finished.limits_held_by) == ("memory", "watch")
    assert finished.peak_bytes > LIMITS.memory_bytes
    assert watched.kernel_peak_bytes is None
    wait_until_empty(watched)


def test_a_room_ended_for_its_memory_can_be_used_and_ended_again(either: Room):
    for _ in range(3):
        assert either.run(["python3", "-c", FORKED_MEMORY]).ended == "memory"
        assert either.run(["echo", "here"]).stdout == b"here\n"


def test_a_command_whose_child_the_kernel_ended_is_not_taken_for_one_that_ended_well(held: Room):
    eats = f"python3 -c \"import time; a = b'x' * {60 * MIB}; time.sleep(90)\""
    assert held.run(["sh", "-c", f"{' & '.join([eats] * 5)} & wait; true"]).ended == "memory"


def test_more_processes_than_allowed_end_everything(either: Room):
    finished = either.run(["python3", "-c", MANY_PROCESSES])
    assert finished.ended == "processes"
    if either.how == "bubblewrap" or either.limits_held_by != "watch":  # else nobody but the watch counts them
        assert finished.peak_processes <= LIMITS.processes
    wait_until_empty(either)
    assert either.run(["echo", "here"]).stdout == b"here\n"


def test_temporary_files_take_nothing_from_the_memory_of_a_room(tmp_path: Path):
    limits = LIMITS.but(temp_bytes=64 * MIB)
    fill = "head -c 63M /dev/zero > /tmp/full; head -c 63M /dev/zero > /dev/shm/full"
    hold = f"a = b'x' * {150 * MIB}; print('held')"
    if "bubblewrap" not in WAYS:
        pytest.skip("temporary space is in memory only where bubblewrap works")
    with start(work=tmp_path, limits=limits, how="bubblewrap") as room:
        assert room.run(["sh", "-c", fill]).ok
        assert room.run(["python3", "-c", hold]).stdout == b"held\n"


def test_a_closed_room_leaves_no_control_group_behind(tmp_path: Path):
    rooms = [start(work=tmp_path, limits=LIMITS) for _ in range(3)]
    groups = [room._launched.group for room in rooms]
    rooms[0].run(["sh", "-c", "sleep 90 &"])
    rooms[1].run(["python3", "-c", FORKED_MEMORY])
    for room in rooms:
        room.close()
    assert [folder for group in groups if group for folder in (group.memory, group.pids) if folder.exists()] == []


@pytest.mark.skipif("bubblewrap" not in WAYS, reason="bubblewrap does not work on this machine")
def test_only_the_usual_families_of_sockets_can_be_opened(tmp_path: Path):
    finished = run(["python3", "-c", OPEN_EVERY_FAMILY], work=tmp_path, limits=LIMITS, how="bubblewrap")
    opened = {name for name, could in json.loads(finished.stdout).items() if could}
    assert {"AF_UNIX", "AF_INET", "AF_NETLINK"} <= opened <= {"AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"}


def test_without_a_network_of_its_own_only_local_sockets_can_be_opened(tmp_path: Path):
    finished = run(["python3", "-c", OPEN_EVERY_FAMILY], work=tmp_path, limits=LIMITS, how="rlimits")
    assert {name for name, could in json.loads(finished.stdout).items() if could} == {"AF_UNIX"}


def test_too_much_output_ends_a_command_and_the_rest_is_counted(room: Room):
    finished = room.run(["yes"])
    assert finished.ended == "output"
    assert len(finished.stdout) == LIMITS.output_bytes
    assert finished.omitted > 0


def test_a_full_work_folder_ends_a_command_but_not_the_clearing_up(room: Room):
    filled = room.run(["sh", "-c", "for i in $(seq 40); do head -c 2M /dev/zero > f$i; sleep 0.03; done; sleep 90"])
    assert filled.ended == "disk"
    assert room.run(["sh", "-c", "sleep 0.4; rm f*; sleep 0.3"]).ok


def test_the_processor_time_of_a_tree_is_limited(tmp_path: Path):
    finished = run(
        ["sh", "-c", "while :; do :; done & while :; do :; done"], work=tmp_path, limits=LIMITS.but(cpu_s=0.5)
    )
    assert finished.ended == "cpu"


def test_background_processes_and_temporary_files_persist_between_commands(room: Room):
    beat = "(i=0; while :; do i=$((i+1)); echo $i >> $TMPDIR/beat; sleep 0.02; done) &"
    begun = room.run(["sh", "-c", f"echo kept > $TMPDIR/note; touch $TMPDIR/beat; {beat}"])
    assert begun.ended == "exit"
    wait = "n=$(wc -l < $TMPDIR/beat); until [ $(wc -l < $TMPDIR/beat) -gt $n ]; do sleep 0.01; done; cat $TMPDIR/note"
    for _ in range(2):  # it goes on beating during one command and during the next
        assert room.run(["sh", "-c", wait]).stdout == b"kept\n"


def test_files_are_read_and_written_as_the_room_sees_them(room: Room):
    room.write_file("new/folder/file.bin", b"\xff\0data")
    assert room.read_file("new/folder/file.bin", limit_bytes=100) == b"\xff\0data"
    for path, kind in (("new", IsADirectoryError), ("nothing", FileNotFoundError)):
        with pytest.raises(kind):
            room.read_file(path, limit_bytes=100)
    with pytest.raises(OSError, match="too large"):
        room.read_file("new/folder/file.bin", limit_bytes=3)


def test_a_pipe_in_place_of_a_file_holds_nobody_up(room: Room):
    room.run(["mkfifo", "trap"])
    assert room.read_file("trap", limit_bytes=100) == b""  # not a TimeoutError at the room's limit


def test_commands_run_side_by_side(room: Room):
    met = "touch $$.here; until [ $(ls | grep -c here) = 4 ]; do sleep 0.01; done; echo met"
    said: list[bytes] = []
    threads = [threading.Thread(target=lambda: said.append(room.run(["sh", "-c", met]).stdout)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == [b"met\n"] * 4  # none of them ends before all have begun


def test_a_closed_room_takes_no_more_work(tmp_path: Path):
    room = start(work=tmp_path, limits=LIMITS)
    room.close()
    room.close()
    assert not room.alive
    with pytest.raises(RoomClosed, match="start a new one"):
        room.run(["true"])


def test_closing_a_room_ends_what_runs_in_it(tmp_path: Path):
    room = start(work=tmp_path, limits=LIMITS)
    endings = []
    command = ["sh", "-c", "touch begun; sleep 90"]
    thread = threading.Thread(target=lambda: endings.append(room.run(command).ended))
    thread.start()
    while not (tmp_path / "begun").exists() and thread.is_alive():
        time.sleep(0.01)
    room.close()
    thread.join()
    assert endings == ["lost"]


def test_a_warm_room_starts_nothing_but_the_command(room: Room):
    parents = {room.run(["sh", "-c", "echo $PPID"]).stdout for _ in range(5)}
    assert len(parents) == 1  # how few milliseconds that takes is a proof of its own
    wait_until_empty(room)


@pytest.mark.skipif("bubblewrap" not in WAYS, reason="bubblewrap does not work on this machine")
def test_a_folder_nobody_else_may_enter_can_still_be_worked_in_and_read_from(tmp_path: Path):
    private = tmp_path / "private"
    (private / "work").mkdir(parents=True)
    (private / "tools").mkdir()
    (private / "tools" / "tool.txt").write_text("sharp")
    private.chmod(0o700)
    finished = run(
        ["sh", "-c", f"cat {private}/tools/tool.txt; touch {private}/tools/x || echo refused"],
        work=private / "work",
        read_only=[private / "tools"],
        how="bubblewrap",
    )
    assert finished.stdout == b"sharprefused\n"
