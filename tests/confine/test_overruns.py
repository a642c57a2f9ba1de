"""Some ways to make the host hold more than a room was granted; all of them are in the proof `rooms-overruns`."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from proofs.rooms_overruns import Overrun, loose, overruns, take

from guildhall.confine.launch import UNPRIVILEGED_ID, is_root, may_mount, why_no_bubblewrap
from guildhall.engine.bubblewrap_config import Network

QUICK = {
    *("Unix stream queues", "tmpfs inodes", "tmpfs names of links", "TCP queues on loopback"),
    *("UDP queues on loopback", "netlink messages between processes", "a socket to the machine around this one"),
}
ONLY_BY_THE_KERNEL = {"memory", "sockets"}

pytestmark = pytest.mark.skipif(why_no_bubblewrap() is not None, reason="bubblewrap does not work on this machine")


@pytest.mark.parametrize("overrun", [one for one in overruns() if one.name in QUICK], ids=lambda one: one.name)
def test_a_room_holds_no_more_than_it_was_granted(overrun: Overrun) -> None:
    taken = take(overrun, kernel_limits=True)
    if taken.limits_held_by == "watch" and overrun.fills in ONLY_BY_THE_KERNEL:
        pytest.skip("no control group can be made on this machine: what is taken is stated, not held")
    if overrun.fills == "inodes" and not may_mount():
        pytest.skip("no file system can be mounted on this machine: inodes are not bounded")
    assert not loose(taken), taken.row


@pytest.mark.parametrize("name", ["open unlinked files", "unlinked files that are mapped and closed"])
def test_the_watch_alone_sees_files_that_no_folder_names(name: str) -> None:
    [overrun] = [one for one in overruns() if one.name == name]
    taken = take(overrun, kernel_limits=False)
    assert (taken.ended, taken.limits_held_by) == ("disk", "watch"), taken.row


def test_the_way_out_of_a_sandbox_is_its_users_alone() -> None:
    network = Network.open(["example.org"])
    try:
        [mount] = network.mounts
        for path in (mount.source, Path(mount.source, "proxy.sock")):
            found = path.stat()
            assert not stat.S_IMODE(found.st_mode) & 0o077, path
            assert found.st_uid == UNPRIVILEGED_ID or not is_root()
    finally:
        network.close()
