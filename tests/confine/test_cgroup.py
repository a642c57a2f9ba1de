"""Limits kept by the kernel: where a control group is made, what is written into it, and that none is left behind.

Version 2 and machines that are laid out otherwise are shown as folders of plain files: what is asked of the kernel
is tested there, not that the kernel does it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from guildhall.confine.cgroup import ControlGroup, kernel_bytes, open_group
from guildhall.confine.limits import MIB, RoomLimits
from guildhall.confine.room import start

LIMITS = RoomLimits(memory_bytes=200 * MIB, temp_bytes=8 * MIB, processes=32)
HOST = """
import sys, tempfile
from pathlib import Path
from guildhall.confine.room import start
room = start(work=Path(tempfile.mkdtemp(dir=sys.argv[1])))
group = room._launched.group
room.run(["sh", "-c", "sleep 300 &"])
print(group.memory if group else "", group.pids if group else "", flush=True)
sys.stdin.read()
"""


class Machine:
    """A faked `/proc/self` and the control groups it tells of."""

    def __init__(self, folder: Path) -> None:
        self.proc, self.folder = folder / "proc", folder / "cgroup"
        self.proc.mkdir()
        self.mounts: list[str] = []
        self.groups: list[str] = []

    def mount(self, kind: str, options: str, own: str, *, root: str = "/") -> Path:
        """A hierarchy and our own group in it; the folder of the latter."""
        top = self.folder / options.replace(",", "-")
        path = top / os.path.relpath(own, root)
        path.mkdir(parents=True)
        self.mounts.append(f"3{len(self.mounts)} 24 0:29 {root} {top} rw,nosuid shared:9 - {kind} cgroup rw,{options}")
        controllers = "" if kind == "cgroup2" else options
        self.groups.append(f"{len(self.groups)}:{controllers}:{own}")
        (self.proc / "mountinfo").write_text("\n".join(self.mounts) + "\n")
        (self.proc / "cgroup").write_text("\n".join(self.groups) + "\n")
        return path

    def open(self) -> ControlGroup | None:
        return open_group(LIMITS, work=self.proc, process=self.proc)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def delegated(group: Path, *, controllers: str = "cpu memory pids", enabled: str = "memory pids") -> None:
    (group / "cgroup.controllers").write_text(f"{controllers}\n")
    (group / "cgroup.subtree_control").write_text(f"{enabled}\n")


def emptied(group: ControlGroup) -> ControlGroup:
    """As the kernel's own: the files of a group vanish with it and do not hold it."""
    for folder in {group.memory, group.pids}:
        for file in folder.iterdir():
            file.unlink()
    return group


def test_a_delegated_group_of_version_2_holds_memory_swap_and_processes(machine: Machine):
    own = machine.mount("cgroup2", "nsdelegate", "/service")
    delegated(own)
    group = machine.open()
    assert group is not None
    assert (group.held_by, group.memory.parent, group.pids) == ("cgroup v2", own, group.memory)
    assert (group.memory / "memory.max").read_text() == str(216 * MIB)
    assert (group.memory / "pids.max").read_text() == "33"  # 32 and the room's first process
    group.place(4711)
    assert (group.memory / "cgroup.procs").read_text() == "4711"
    (group.memory / "memory.events").write_text("low 0\nhigh 0\nmax 12\noom 2\noom_kill 1\noom_group_kill 0\n")
    (group.memory / "memory.current").write_text("1000\n")
    (group.memory / "memory.peak").write_text("2000\n")
    assert (group.ended_for_memory(), group.used_bytes(), group.peak_bytes()) == (1, 1000, 2000)
    (group.memory / "memory.swap.max").write_text("max\n")
    group.hold(memory_bytes=5, processes=6)
    assert (group.memory / "memory.swap.max").read_text().startswith("0")
    (group.memory / "cgroup.procs").write_text("")
    assert emptied(group).remove(patience_s=0)
    assert sorted(path.name for path in own.iterdir()) == ["cgroup.controllers", "cgroup.subtree_control"]


def test_controllers_that_are_delegated_but_not_yet_passed_on_are_asked_for(machine: Machine):
    own = machine.mount("cgroup2", "nsdelegate", "/service")
    delegated(own, enabled="")
    group = machine.open()
    assert group is not None and group.held_by == "cgroup v2"
    assert (own / "cgroup.subtree_control").read_text().startswith("+memory +pids")


def test_beside_our_own_group_only_where_ours_sets_no_limit_a_room_would_escape(machine: Machine):
    own = machine.mount("cgroup2", "nsdelegate", "/service/host")
    delegated(own, controllers="")
    delegated(own.parent)
    (own / "memory.max").write_text("max\n")
    group = machine.open()
    assert group is not None and group.memory.parent == own.parent
    (own / "memory.max").write_text("1000000\n")
    assert machine.open() is None


def test_version_1_is_taken_at_the_top_and_version_2_without_controllers_is_passed_over(machine: Machine):
    delegated(machine.mount("cgroup2", "unified", "/"), controllers="", enabled="")
    memory = machine.mount("cgroup", "memory", "/session/1")
    machine.mount("cgroup", "pids", "/")
    (memory / "memory.limit_in_bytes").write_text(f"{2**63 - 4096}\n")
    group = machine.open()
    assert group is not None and group.held_by == "cgroup v1"
    assert (group.memory.parent, group.pids.parent) == (memory.parent.parent, machine.folder / "pids")
    assert (group.memory / "memory.limit_in_bytes").read_text() == str(216 * MIB)
    assert (group.pids / "pids.max").read_text() == "33"
    (group.memory / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n")
    assert group.ended_for_memory() == 3


@pytest.mark.parametrize("limited", ["memory", "memory/session", "memory/session/1"])
def test_a_limit_around_us_in_version_1_holds_for_our_rooms_too(machine: Machine, limited: str):
    memory = machine.mount("cgroup", "memory", "/session/1")
    machine.mount("cgroup", "pids", "/session/1")
    (machine.folder / limited / "memory.limit_in_bytes").write_text(f"{500 * MIB}\n")
    group = machine.open()
    assert group is not None
    at_the_top = limited == "memory"  # that one holds for everybody in the hierarchy anyway
    assert group.memory.parent == (machine.folder / "memory" if at_the_top else memory)


def test_without_both_controllers_there_is_no_group(machine: Machine):
    assert machine.open() is None
    machine.mount("cgroup", "memory", "/")
    assert machine.open() is None


def test_where_nothing_may_be_written_there_is_no_group(machine: Machine):
    delegated(machine.mount("cgroup2", "nsdelegate", "/service"))
    (machine.proc / "mountinfo").write_text((machine.proc / "mountinfo").read_text().replace("/cgroup/", "/none/"))
    assert machine.open() is None


def test_files_that_live_in_memory_come_on_top_of_what_processes_may_hold(tmp_path: Path):
    device = tmp_path.stat().st_dev
    line = f"30 24 {os.major(device)}:{os.minor(device)} / {tmp_path} rw - %s none rw\n"
    limits = RoomLimits(memory_bytes=1000, temp_bytes=10, work_bytes=100)
    for kind, expected in (("ext4", 1020), ("tmpfs", 1220)):
        (tmp_path / "mountinfo").write_text(line % kind)
        assert kernel_bytes(limits, work=tmp_path, process=tmp_path) == expected


def test_groups_of_dead_owners_are_swept_and_those_of_the_living_and_of_strangers_stay(machine: Machine):
    own = machine.mount("cgroup2", "nsdelegate", "/service")
    delegated(own)
    mine = machine.open()
    assert mine is not None
    prefix, _, began, _ = mine.memory.name.rsplit("-", 3)
    dead = own / f"{prefix}-{os.getpid()}-{int(began) - 1}-0"  # one that had our number before us
    elsewhere = own / f"guildhall-room-1-{os.getpid()}-1-0"  # of another process namespace
    for folder in (dead, elsewhere, own / "somebody"):
        folder.mkdir()
    assert machine.open() is not None
    assert [folder.exists() for folder in (mine.memory, dead, elsewhere, own / "somebody")] == [True, False, True, True]


def test_a_room_whose_host_was_killed_leaves_nothing_once_another_room_is_opened(tmp_path: Path):
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with host:
        assert host.stdout is not None
        groups = [Path(word) for word in host.stdout.readline().split()]
        os.kill(host.pid, signal.SIGKILL)
    if not groups:
        pytest.skip("no control group can be made on this machine")
    (tmp_path / "later").mkdir()
    for _ in range(100):  # those inside may take a moment to die; each start tries again
        with start(work=tmp_path / "later"):
            pass
        if not any(group.exists() for group in groups):
            break
    assert [group for group in groups if group.exists()] == []
