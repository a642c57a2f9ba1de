"""The first process of a room: starts commands, reaps them, and ends everything when the host lets go.

This file is run by the system's own Python inside the room (`python3 -I -S inside.py FD SETTINGS`), so it
imports only the standard library and nothing of ours; paths are text, since `pathlib` would double the time a
room takes to start. It talks over a SEQPACKET socket. A request names an operation and brings its file
descriptors along; the body travels in a file because a command line may be a megabyte long. The work of each
request happens in a child, so that a hostile path or pipe can hang only that child. When the socket closes,
this process ends, and the kernel ends the namespace with it.
"""

# ruff: noqa: PTH103, PTH120, PTH123, PTH208, S606

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import json
import os
import resource
import selectors
import signal
import socket
import stat
import sys
import time
from typing import Any, NoReturn

PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 4, 22, 36, 38
SECCOMP_MODE_FILTER = 2
FAILED_FILE_OPERATION = 120
CHUNK = 1 << 20

Message = dict[str, Any]
Running = dict[int, int]  # pid -> request id


def main() -> NoReturn:
    channel = socket.socket(fileno=int(sys.argv[1]))
    protect(json.loads(sys.argv[2]))
    running: Running = {}
    wake, woken = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # pid 1 ignores what it does not handle
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken)
    say(channel, {"ready": True})
    with selectors.DefaultSelector() as watched:
        watched.register(channel, selectors.EVENT_READ)
        watched.register(wake, selectors.EVENT_READ)
        while True:
            for key, _ in watched.select():
                if key.fileobj is channel:
                    if not serve(channel, running):
                        end_all()
                        os._exit(0)
                else:
                    os.read(wake, 4096)
            reap(channel, running)


def protect(settings: Message) -> None:
    """Take the limits on, and become unreadable for those who will run beside us."""
    libc().prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    if os.getpid() != 1:
        libc().prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        libc().prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if settings["seccomp"]:
            refuse_syscalls(bytes.fromhex(settings["seccomp"]))
    for name, value in settings["rlimits"].items():
        resource.setrlimit(getattr(resource, name), (value, value))


@functools.cache
def libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def refuse_syscalls(program: bytes) -> None:
    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))

    wanted = Program(len(program) // 8, program)
    if libc().prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(wanted), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp filter refused")


def serve(channel: socket.socket, running: Running) -> bool:
    """Handle one request; False when the host has let go."""
    message, fds, _, _ = socket.recv_fds(channel, 65536, 8)
    if not message:
        return False
    request = json.loads(message)
    if request["op"] == "end":
        end_one(request["id"], running)
    elif request["op"] == "end_all":
        end_all()
        say(channel, {"id": 0, "status": 0})
    else:
        begin(channel, running, request, fds)
    for fd in fds:
        os.close(fd)
    return True


def begin(channel: socket.socket, running: Running, request: Message, fds: list[int]) -> None:
    body, *streams = fds
    details = json.loads(read_all(body))
    failed, failing = os.pipe()
    try:
        child = os.fork()
    except OSError as error:
        os.close(failed)
        os.close(failing)
        say(channel, {"id": request["id"], "status": 126 << 8, "refused": error.strerror, "errno": error.errno})
        return
    if child == 0:
        os.close(failed)
        be_child(request["op"], details, streams, failing)
    os.close(failing)
    trouble = os.read(failed, 4096)
    os.close(failed)
    running[child] = request["id"]
    if trouble:
        os.waitpid(child, 0)
        del running[child]
        said, _, words = trouble.decode(errors="replace").partition(" ")
        number = int(said) if said.isdecimal() else errno.EIO  # the child was within its neighbours' reach by then
        code = 127 if number == errno.ENOENT else 126
        say(channel, {"id": request["id"], "status": code << 8, "refused": words, "errno": number})


def be_child(op: str, details: Message, streams: list[int], failing: int) -> NoReturn:
    """Become the command (or do the file operation) in a session of its own; never returns."""
    try:
        os.setsid()
        for number, fd in enumerate([*streams, failing]):
            os.dup2(fd, number, inheritable=number < 3)
        failing = 3
        os.closerange(4, 1 << 20)  # the channel above all: a command that held it could speak for us
        signal.set_wakeup_fd(-1)
        go_first()
        for name in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGINT):
            signal.signal(name, signal.SIG_DFL)
        os.chdir(details["cwd"])
        if op == "exec":
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            os.execvpe(details["command"][0], details["command"], details["env"])
        os.close(failing)
        file_operation(op, details)
    except OSError as error:
        what = details["cwd"] if error.filename == details["cwd"] else details["command"][0]
        os.write(failing, f"{error.errno} {what}: {error.strerror}".encode())
    finally:
        os._exit(126)


def go_first() -> None:
    """When memory runs out, the kernel takes the work and not the process that starts it."""
    libc().prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # as after exec; until then the file is not ours to write
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "wb", buffering=0) as score:
        score.write(b"1000")


def file_operation(op: str, details: Message) -> NoReturn:
    """Read a file to stdout or write stdin to a file; an OSError goes to stderr as `errno`."""
    try:
        if op == "read":
            read_file(details["path"], details["limit"])
        else:
            write_file(details["path"])
    except OSError as error:
        os.write(2, str(error.errno).encode())
        os._exit(FAILED_FILE_OPERATION)
    os._exit(0)


def read_file(path: str, limit: int) -> None:
    # Without O_NONBLOCK a named pipe put where a file is expected would hold the reader for good.
    source = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    found = os.fstat(source)
    if stat.S_ISDIR(found.st_mode):
        raise OSError(errno.EISDIR, "is a directory", path)
    if found.st_size > limit:
        raise OSError(errno.EFBIG, "file too large", path)
    while chunk := os.read(source, CHUNK):
        write_all(1, chunk)


def write_file(path: str) -> None:
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    while chunk := os.read(0, CHUNK):
        write_all(target, chunk)


def write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def reap(channel: socket.socket, running: Running) -> None:
    """Collect whoever has ended; only commands are reported, orphans just leave."""
    while True:
        try:
            child, status, used = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if child == 0:
            return
        if child in running:
            say(channel, {"id": running.pop(child), "status": status, "cpu_s": used.ru_utime + used.ru_stime})


def end_one(wanted: int, running: Running) -> None:
    """End a command, its session, and whoever still descends from it."""
    for leader, request in list(running.items()):
        if request == wanted:
            doomed = {pid for pid, (_, session) in processes().items() if session == leader}
            for pid in doomed | {leader} | descendants(leader):
                kill(pid)


def end_all() -> None:
    """End every process but this one."""
    if os.getpid() == 1:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)  # in a namespace of our own, this means its processes only
        # Memory is given back only as each one dies: until then it would be held against whatever is run next.
        patience = time.monotonic() + 2
        while processes().keys() - {1} and time.monotonic() < patience:
            time.sleep(0.002)
        return
    while left := descendants(os.getpid()):
        for pid in left:
            kill(pid)


def processes() -> dict[int, tuple[int, int]]:
    """pid -> (parent, session) of everything visible."""
    seen: dict[int, tuple[int, int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if fields[0] not in (b"Z", b"X"):
                seen[int(name)] = (int(fields[1]), int(fields[3]))
    return seen


def descendants(root: int) -> set[int]:
    seen = processes()
    found: set[int] = set()
    wave = {root}
    while wave:
        wave = {pid for pid, (parent, _) in seen.items() if parent in wave} - found
        found |= wave
    return found - {root}


def kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def say(channel: socket.socket, message: Message) -> None:
    try:
        channel.send(json.dumps(message).encode())
    except OSError:
        end_all()
        os._exit(0)


def read_all(fd: int) -> bytes:
    os.lseek(fd, 0, os.SEEK_SET)
    parts = []
    while part := os.read(fd, CHUNK):
        parts.append(part)
    return b"".join(parts)


if __name__ == "__main__":
    main()
