"""The bubblewrap command line: what a room contains, and that it contains nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from guildhall.confine.limits import RoomLimits
from guildhall.errors import MissingTool

WORK = "/job"
"""Where the work folder is inside a room."""

TEMPORARY = ("/dev/shm", "/tmp")  # noqa: S108
"""Where a room's temporary space is inside; each is a tmpfs of its own."""

INSIDE_ID = 1000
PASSWD = f"root:x:0:0:root:/:/usr/sbin/nologin\nagent:x:{INSIDE_ID}:{INSIDE_ID}:agent:/tmp:/bin/bash\n"
GROUP = f"root:x:0:\nagent:x:{INSIDE_ID}:\n"

_SYSTEM_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_SYSTEM_SETTINGS = ("alternatives", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "libreoffice", "localtime",
                    "mime.types", "ghostscript", "papersize", "ImageMagick-6", "java-17-openjdk")  # fmt: skip


@dataclass(frozen=True)
class Mount:
    """A host path shown inside a room, read-only unless said otherwise."""

    source: Path
    target: str
    writable: bool = False


def command_line(
    *,
    mounts: Iterable[Mount],
    limits: RoomLimits,
    env: Mapping[str, str],
    temporary: Sequence[Path],
    seccomp_fd: int | None,
    passwd_fd: int,
    group_fd: int,
) -> list[str]:
    """bwrap and its arguments, up to and including the `--` before the first process.

    `temporary` are file systems made for `TEMPORARY`; without any, bwrap makes them, with no limit on their inodes.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise MissingTool("bubblewrap", needed_for="confined work", fix="install the package `bubblewrap`")
    line = [program, "--unshare-all", "--unshare-user", "--disable-userns", "--new-session", "--as-pid-1"]
    line += ["--uid", str(INSIDE_ID), "--gid", str(INSIDE_ID), "--hostname", "sandbox"]
    line += ["--cap-drop", "ALL", "--clearenv"]
    line += _system()
    line += ["--ro-bind-data", str(passwd_fd), "/etc/passwd", "--ro-bind-data", str(group_fd), "/etc/group"]
    line += ["--proc", "/proc", "--dev", "/dev"]
    # bwrap's own tmpfs on / and /dev may grow to half the machine's memory: close them, and bound the others.
    for number, target in enumerate(TEMPORARY):
        if temporary:
            line += ["--bind", str(temporary[number]), target]
        else:
            line += ["--size", str(limits.temp_bytes), "--perms", "1777", "--tmpfs", target]
    line += ["--remount-ro", "/dev"]
    for mount in mounts:
        line += ["--bind" if mount.writable else "--ro-bind", str(mount.source), mount.target]
    line += ["--remount-ro", "/", "--chdir", WORK]
    for name, value in env.items():
        line += ["--setenv", name, value]
    if seccomp_fd is not None:
        line += ["--seccomp", str(seccomp_fd)]
    return [*line, "--"]


def _system() -> Sequence[str]:
    """The operating system's programs, libraries and fonts; of /etc only what programs need to start."""
    line = ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM_FOLDERS:
        folder = Path("/", name)
        if folder.is_symlink():
            line += ["--symlink", str(folder.readlink()), str(folder)]
        elif folder.is_dir():
            line += ["--ro-bind", str(folder), str(folder)]
    for name in _SYSTEM_SETTINGS:
        line += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return [*line, "--ro-bind-try", "/var/cache/fontconfig", "/var/cache/fontconfig"]
