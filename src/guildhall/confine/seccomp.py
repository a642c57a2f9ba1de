"""System calls confined work never gets, as a kernel filter program.

Two reasons put a call on the list: it widens the kernel's attack surface without use to office work (bpf,
io_uring, keyrings, mounts, tracing of neighbours), or it holds memory that no process's size shows and that a
watcher would therefore miss (memory files, System V segments and messages). Of sockets only four families are left: a
network namespace does not hold the others back (AF_VSOCK reaches the machine around a virtual one). Of netlink only
what lists addresses and routes: on others users may queue messages for each other, which no control group counts.
"""

from __future__ import annotations

import errno
import platform
import struct

_LOAD_NUMBER = struct.pack("=HBBI", 0x20, 0, 0, 0)  # A = seccomp_data.nr
_LOAD_ARCH = struct.pack("=HBBI", 0x20, 0, 0, 4)  # A = seccomp_data.arch
_LOAD_FIRST_ARGUMENT = struct.pack("=HBBI", 0x20, 0, 0, 16)  # low half of args[0]
_ALLOW = struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)
_KILL = struct.pack("=HBBI", 0x06, 0, 0, 0x80000000)
_LOAD_THIRD_ARGUMENT = struct.pack("=HBBI", 0x20, 0, 0, 32)
_AF_UNIX, _AF_NETLINK, _NETLINK_ROUTE = 1, 16, 0
_FAMILIES = (_AF_UNIX, 2, 10)  # and INET, INET6
_X32_BIT = 0x40000000

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SOCKETS = {"x86_64": (41, 53), "aarch64": (198, 199)}  # socket, socketpair
_REFUSED: dict[str, tuple[int, int]] = {  # name -> (x86_64, aarch64)
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "migrate_pages": (256, 238),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "shmget": (29, 194),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}


def program(*, network_calls: bool, machine: str | None = None) -> bytes | None:
    """The filter for this machine; None where the call numbers are not known to us.

    `network_calls=False` also refuses every socket but local ones, for rooms without a network namespace.
    """
    machine = machine or platform.machine()
    if machine not in _ARCHITECTURES:
        return None
    column = list(_ARCHITECTURES).index(machine)
    lines = [_LOAD_ARCH, _skip_if_equal(_ARCHITECTURES[machine], 1), _KILL, _LOAD_NUMBER]
    if machine == "x86_64":
        lines += [struct.pack("=HBBI", 0x35, 0, 1, _X32_BIT), _refuse(errno.ENOSYS)]  # the x32 call table
    for numbers in _REFUSED.values():
        lines += [_skip_unless_equal(numbers[column], 1), _refuse(errno.ENOSYS)]
    one, other = _SOCKETS[machine]
    lines += [_skip_if_equal(one, 2), _skip_if_equal(other, 1), _ALLOW, _LOAD_FIRST_ARGUMENT]
    if network_calls:
        lines += [_skip_if_equal(family, 5 + len(_FAMILIES) - 1 - place) for place, family in enumerate(_FAMILIES)]
        lines += [_skip_if_equal(_AF_NETLINK, 1), _refuse(errno.EAFNOSUPPORT), _LOAD_THIRD_ARGUMENT]
        lines += [_skip_if_equal(_NETLINK_ROUTE, 1), _refuse(errno.EPROTONOSUPPORT)]
    else:
        lines += [_skip_if_equal(_AF_UNIX, 1), _refuse(errno.EACCES)]
    return b"".join([*lines, _ALLOW])


def _skip_if_equal(value: int, count: int) -> bytes:
    return struct.pack("=HBBI", 0x15, count, 0, value)


def _skip_unless_equal(value: int, count: int) -> bytes:
    return struct.pack("=HBBI", 0x15, 0, count, value)


def _refuse(number: int) -> bytes:
    return struct.pack("=HBBI", 0x06, 0, 0, 0x00050000 | number)
