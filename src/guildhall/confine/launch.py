"""Starting the first process of a room: in bubblewrap where that works, under plain limits where it does not.

Who confined work runs as: never root, and able to reach exactly what it is given. The kernel does not enforce the
process limit for root, so a caller who is root hands the work folder to an unprivileged user and drops to it. Folders
that this user cannot reach (under somebody's private home, say) are first bound to a reachable place in a mount
namespace of the launcher's own, which vanishes with it.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import socket
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from guildhall.confine import bubblewrap, inside, seccomp
from guildhall.confine.bubblewrap import Mount
from guildhall.confine.cgroup import ControlGroup, open_group
from guildhall.confine.limits import MIB, How, RoomLimits
from guildhall.confine.tree import Tree
from guildhall.errors import MissingTool, RoomNotStarted

UNPRIVILEGED_ID = 64987
"""uid and gid on the host when the caller is root; nothing else should own files under it."""

_STAGE = """
echo 500 > /proc/self/oom_score_adj  # when memory runs out, the work goes first
while [ "$1" != -- ]; do
    case $1 in
        tmpfs:*) mount -t tmpfs -o "${1#tmpfs:}" tmpfs "$2" || exit 97 ;;
        *) mount --bind "$1" "$2" || exit 97 ;;
    esac
    shift 2
done
shift
"""
_AS_SOMEBODY_ELSE = f"setpriv --reuid={UNPRIVILEGED_ID} --regid={UNPRIVILEGED_ID} --clear-groups --no-new-privs --"
_IN_A_NAMESPACE = ["unshare", "--mount", "--propagation", "private"]
_AS_ITS_ROOT = ["--user", "--map-root-user"]


def is_root() -> bool:
    return os.geteuid() == 0


def hand_over(folder: Path) -> None:
    """Make `folder` and everything in it the unprivileged user's, where the caller is root.

    Links are not followed. Files are given away as they are: hand over copies, never hard links.
    """
    if not is_root():
        return
    os.chown(folder, UNPRIVILEGED_ID, UNPRIVILEGED_ID, follow_symlinks=False)
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            os.chown(Path(parent, name), UNPRIVILEGED_ID, UNPRIVILEGED_ID, follow_symlinks=False)


@functools.cache
def may_mount() -> bool:
    """Whether we can mount in a namespace of our own: as root, or where the kernel lets users have one."""
    if is_root():
        return True
    return subprocess.run([*_IN_A_NAMESPACE, *_AS_ITS_ROOT, "true"], capture_output=True, check=False).returncode == 0


@dataclass
class ReachablePaths:
    """Reachable stand-ins for unreachable paths, and file systems of a room's own.

    `prefix` is the command that sets them up, in a mount namespace that ends with the room, and drops root.
    """

    binds: list[tuple[Path | str, Path]] = field(default_factory=list)
    folder: Path | None = None

    def reachable(self, path: Path) -> Path:
        """`path` itself, or the stand-in by which the unprivileged user reaches it."""
        if not is_root() or _others_may_reach(path):
            return path
        return self._stand_in(path, folder=path.is_dir())

    def temporary(self, limits: RoomLimits) -> list[Path]:
        """A tmpfs of bounded size and number of files for each of `bubblewrap.TEMPORARY`; none where none can be."""
        if not may_mount():
            return []
        options = f"tmpfs:size={limits.temp_bytes},nr_inodes={limits.temp_files},mode=1777,nosuid,nodev"
        return [self._stand_in(options, folder=True) for _ in bubblewrap.TEMPORARY]

    def _stand_in(self, source: Path | str, *, folder: bool) -> Path:
        if self.folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="guildhall-stage-"))
            self.folder.chmod(0o755)
        stand_in = self.folder / str(len(self.binds))
        if folder:
            stand_in.mkdir()
        else:
            stand_in.touch()
        self.binds.append((source, stand_in))
        return stand_in

    def prefix(self) -> list[str]:
        if not is_root() and not self.binds:
            return []
        staged = [str(part) for bind in self.binds for part in bind]
        private = [*_IN_A_NAMESPACE, *([] if is_root() else _AS_ITS_ROOT)] if staged else []
        then = f'exec {_AS_SOMEBODY_ELSE if is_root() else ""} "$@"'
        return [*private, "sh", "-c", _STAGE + then, "sh", *staged, "--"]

    def clear(self) -> None:
        """Remove the stand-ins; they are empty outside the launcher's own mount namespace."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None


def _others_may_reach(path: Path) -> bool:
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in path.resolve().parents)


START_WITHIN_S = 20.0
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"


@dataclass
class Launched:
    """A first process that has said it is ready."""

    process: subprocess.Popen[bytes]
    channel: socket.socket
    how: How
    cwd: str
    env: dict[str, str]
    stage: ReachablePaths
    private_temp: Path | None = None
    group: ControlGroup | None = None

    def place(self, group: ControlGroup) -> None:
        """Let `group` hold everything that will be started; the launcher of a namespace stays outside of it."""
        try:
            for pid in Tree(self.process.pid).pids() or [self.process.pid]:
                group.place(pid)
        except OSError:
            group.remove()
        else:
            self.group = group

    def clear(self) -> None:
        """Remove what lies outside the work folder; bubblewrap's own temporary space is gone by itself."""
        if self.group is not None:
            self.group.remove()
        self.stage.clear()
        if self.private_temp is not None:
            shutil.rmtree(self.private_temp, ignore_errors=True)


def launch(
    *,
    work: Path,
    limits: RoomLimits,
    read_only: Sequence[Path],
    mounts: Sequence[Mount],
    env: Mapping[str, str],
    how: How,
    kernel_limits: bool,
) -> Launched:
    """The first process of a room, in a control group where `kernel_limits` are wanted and can be had."""
    hand_over(work)
    if how == "bubblewrap":
        launched = _in_bubblewrap(work=work, limits=limits, read_only=read_only, mounts=mounts, env=env)
    else:
        launched = _under_rlimits(work=work, limits=limits, env=env)
    group = open_group(limits, work=work) if kernel_limits else None
    if group is not None:
        launched.place(group)
    return launched


@functools.cache
def why_no_bubblewrap() -> str | None:
    """Why bubblewrap cannot confine work on this machine; None when it can. Tried once in a process."""
    with tempfile.TemporaryDirectory(prefix="guildhall-try-") as work:
        try:
            tried = launch(
                work=Path(work),
                limits=RoomLimits(),
                read_only=(),
                mounts=(),
                env={},
                how="bubblewrap",
                kernel_limits=False,
            )
        except (RoomNotStarted, MissingTool) as error:
            return str(error)
        tried.channel.close()
        tried.process.wait()
    return None


@functools.cache
def system_python() -> str:
    """An interpreter every user may run; one under root's home would be of no use inside."""
    for candidate in ("/usr/bin/python3", "/usr/local/bin/python3"):
        if os.access(candidate, os.X_OK):
            return candidate
    raise MissingTool("python3 under /usr", needed_for="confined work", fix="install the system's own Python")


def _in_bubblewrap(
    *, work: Path, limits: RoomLimits, read_only: Sequence[Path], mounts: Sequence[Mount], env: Mapping[str, str]
) -> Launched:
    stage = ReachablePaths()
    script = Path(inside.__file__)
    wanted = [
        *(Mount(path.absolute(), str(path.absolute())) for path in read_only),
        *mounts,
        Mount(work.absolute(), bubblewrap.WORK, writable=True),
        Mount(script, "/run/inside.py"),
    ]
    shown = [Mount(stage.reachable(mount.source), mount.target, mount.writable) for mount in wanted]
    full_env = _base_env("/tmp") | dict(env)  # noqa: S108 - a private one, inside
    settings = _settings(limits, processes=limits.processes + 1, program=None)
    try:
        with (
            _as_fd(bubblewrap.PASSWD.encode()) as passwd,
            _as_fd(bubblewrap.GROUP.encode()) as group,
            _as_fd(seccomp.program(network_calls=True) or b"") as filters,
        ):
            line = bubblewrap.command_line(
                mounts=shown,
                limits=limits,
                temporary=stage.temporary(limits),
                env=_base_env("/tmp"),  # noqa: S108
                seccomp_fd=filters if os.fstat(filters).st_size else None,
                passwd_fd=passwd,
                group_fd=group,
            )
            command = [*stage.prefix(), *line, system_python(), "-I", "-S", "/run/inside.py"]
            process, channel = _spawn(command, settings, keep=(passwd, group, filters))
    finally:
        stage.clear()
    return Launched(process, channel, "bubblewrap", bubblewrap.WORK, full_env, stage)


def _under_rlimits(*, work: Path, limits: RoomLimits, env: Mapping[str, str]) -> Launched:
    temp = Path(tempfile.mkdtemp(prefix="guildhall-room-"))
    script = temp / "inside.py"
    shutil.copyfile(inside.__file__, script)
    script.chmod(0o644)
    hand_over(temp)
    program = seccomp.program(network_calls=False)
    if program is None:
        raise RoomNotStarted("this processor is not one whose network calls can be refused")
    settings = _settings(limits, processes=None, program=program)
    stage = ReachablePaths()
    reached = stage.reachable(work.absolute())
    command = [*stage.prefix(), system_python(), "-I", "-S", str(script)]
    try:
        process, channel = _spawn(command, settings, keep=())
    except BaseException:
        stage.clear()
        shutil.rmtree(temp, ignore_errors=True)
        raise
    return Launched(process, channel, "rlimits", str(reached), _base_env(str(temp)) | dict(env), stage, temp)


def _base_env(temp: str) -> dict[str, str]:
    return {"PATH": PATH, "HOME": temp, "TMPDIR": temp, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "dumb"}


def _settings(limits: RoomLimits, *, processes: int | None, program: bytes | None) -> str:
    rlimits = {
        "RLIMIT_CORE": 0,
        "RLIMIT_DATA": limits.memory_bytes + 64 * MIB,  # a kernel-kept bound for each process, above the tree's
        "RLIMIT_FSIZE": limits.file_bytes,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_NOFILE": limits.open_files,
    }
    if processes is not None:  # counted for the room's own user namespace; without one it would count the host's
        rlimits["RLIMIT_NPROC"] = processes
    return json.dumps({"rlimits": rlimits, "seccomp": program.hex() if program else None})


def _spawn(
    command: list[str], settings: str, *, keep: tuple[int, ...]
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start the first process and wait until it says it is ready."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with tempfile.TemporaryFile() as complaints, theirs:
        process = subprocess.Popen(
            [*command, str(theirs.fileno()), settings],
            stdin=subprocess.DEVNULL,
            stdout=complaints,
            stderr=complaints,
            env={"PATH": PATH},
            cwd="/",
            pass_fds=(theirs.fileno(), *keep),
            start_new_session=True,
        )
        theirs.close()
        try:
            ours.settimeout(START_WITHIN_S)
            ready = ours.recv(4096)
        except OSError as error:
            ready, why = b"", str(error)
        else:
            why = ""
        if not ready:
            ours.close()
            process.kill()
            process.wait()
            raise RoomNotStarted(_first_lines(complaints) or why or "it ended at once")
    ours.settimeout(None)
    return process, ours


def _first_lines(complaints: IO[bytes]) -> str:
    complaints.seek(0)
    return complaints.read(600).decode(errors="replace").strip()


@contextmanager
def _as_fd(content: bytes) -> Iterator[int]:
    """A descriptor from which `content` can be read once."""
    with tempfile.TemporaryFile() as holder:
        holder.write(content)
        holder.seek(0)
        yield holder.fileno()
