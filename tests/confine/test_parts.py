"""The parts a room is made of."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from guildhall.confine.bubblewrap import command_line
from guildhall.confine.limits import RoomLimits
from guildhall.confine.seccomp import program
from guildhall.confine.tree import Tree
from guildhall.confine.watch import DEEPEST, measure


def test_a_folder_is_measured_by_what_it_takes_on_disk(tmp_path: Path):
    (tmp_path / "real").write_bytes(b"x" * 100_000)
    with (tmp_path / "sparse").open("wb") as sparse:
        sparse.truncate(10**9)
    (tmp_path / "link").symlink_to("/usr")
    size = measure(tmp_path, give_up_after=100)
    assert size.files == 3
    assert 100_000 <= size.bytes < 200_000


def test_counting_stops_where_the_limit_is_passed_anyway(tmp_path: Path):
    for number in range(20):
        (tmp_path / str(number)).touch()
    assert measure(tmp_path, give_up_after=5).files == 6


def test_a_folder_nested_without_end_is_unmeasurable(tmp_path: Path):
    deep = tmp_path
    for _ in range(DEEPEST + 2):
        deep /= "d"
    deep.mkdir(parents=True)
    assert measure(tmp_path, give_up_after=10_000).unmeasurable


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("network_calls", [True, False])
def test_a_filter_is_a_well_formed_program(machine, network_calls):
    code = program(network_calls=network_calls, machine=machine)
    assert code is not None
    lines = list(struct.iter_unpack("=HBBI", code))
    assert lines[-1] == (0x06, 0, 0, 0x7FFF0000)  # whatever is not refused is allowed
    for number, (operation, if_true, if_false, _) in enumerate(lines):
        if operation & 0x07 == 0x05:  # a jump stays inside the program
            assert number + 1 + max(if_true, if_false) < len(lines)


def test_no_filter_is_invented_for_an_unknown_machine():
    assert program(network_calls=True, machine="s390x") is None


def test_a_process_counts_its_descendants_and_not_itself():
    child = os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "5")
    try:
        tree = Tree(os.getpid())
        assert child in tree.pids()
        assert os.getpid() not in tree.pids()
        assert tree.look().tasks >= 1
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


def test_a_room_shares_no_namespace_and_no_writable_root():
    line = command_line(mounts=(), limits=RoomLimits(), env={}, temporary=(), seccomp_fd=3, passwd_fd=4, group_fd=5)
    assert {"--unshare-all", "--disable-userns", "--new-session", "--clearenv"} <= set(line)
    assert "--share-net" not in line
    assert line[line.index("--chdir") - 2 : line.index("--chdir")] == ["--remount-ro", "/"]
