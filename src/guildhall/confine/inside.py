"""The first process of a room: starts commands, reaps them, and ends everything when the host lets go.

This file is run by the system's own Python inside the room (`python3 -I -S inside.py FD SETTINGS`), so it
imports only the standard library and nothing of ours. It talks over a SEQPACKET socket. A request names an
operation and brings its file descriptors along; the body travels in a memory file because a command line may
be a megabyte long. The work of each request happens in a child, so that a hostile path or pipe can hang
only that child. When the socket closes, this process ends, and the kernel ends the namespace with it.
"""

import ctypes
import json
import os
import resource
import selectors
import signal
import socket
import sys

PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_SET_CHILD_SUBREAPER = 4, 38, 36
FAILED_FILE_OPERATION = 120
CHUNK = 1 << 20


def main():
    channel = socket.socket(fileno=int(sys.argv[1]))
    settings = json.loads(sys.argv[2])
    protect(settings)
    running = {}  # pid -> request id
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
                    if not serve(channel, running, settings):
                        end_all()
                        os._exit(0)
                else:
                    os.read(wake, 4096)
            reap(channel, running)


def protect(settings):
    """Take the limits on, and become unreadable for those who will run beside us."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    if os.getpid() != 1:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if settings["seccomp"]:
            refuse_syscalls(libc, bytes.fromhex(settings["seccomp"]))
    for name, value in settings["rlimits"].items():
        resource.setrlimit(getattr(resource, name), (value, value))


def refuse_syscalls(libc, program):
    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

    wanted = Program(len(program) // 8, program)
    if libc.prctl(22, 2, ctypes.byref(wanted), 0, 0) != 0:  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
        raise OSError(ctypes.get_errno(), "seccomp filter refused")


def serve(channel, running, settings):
    """Handle one request; False when the host has let go."""
    message, fds, _, _ = socket.recv_fds(channel, 65536, 8)
    if not message:
        return False
    request = json.loads(message)
    if request["op"] == "end":
        end_one(request["id"], running)
    elif request["op"] == "end_all":
        end_all()
    else:
        begin(channel, running, request, fds, settings)
    for fd in fds:
        os.close(fd)
    return True


def begin(channel, running, request, fds, settings):
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
        be_child(request["op"], details, streams, failing, settings)
    os.close(failing)
    trouble = os.read(failed, 4096)
    os.close(failed)
    running[child] = request["id"]
    if trouble:
        os.waitpid(child, 0)
        del running[child]
        number, words = trouble.decode().split(" ", 1)
        code = 127 if int(number) == 2 else 126
        say(channel, {"id": request["id"], "status": code << 8, "refused": words, "errno": int(number)})


def be_child(op, details, streams, failing, settings):
    """Become the command (or do the file operation) in a session of its own; never returns."""
    try:
        os.setsid()
        for number, fd in enumerate(streams):
            os.dup2(fd, number)
        signal.set_wakeup_fd(-1)
        for name in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGINT, signal.SIGXFSZ):
            signal.signal(name, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CPU, (settings["cpu_s"], settings["cpu_s"] + 1))
        os.set_inheritable(failing, False)
        os.chdir(details["cwd"])
        if op == "exec":
            os.execvpe(details["command"][0], details["command"], details["env"])
        os.close(failing)
        file_operation(op, details)
    except OSError as error:
        os.write(failing, f"{error.errno} {error.strerror}: {error.filename or details.get('cwd')}".encode())
    finally:
        os._exit(126)


def file_operation(op, details):
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


def read_file(path, limit):
    # Without O_NONBLOCK a named pipe put where a file is expected would hold the reader for good.
    source = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if os.path.isdir(path):
        raise IsADirectoryError(21, "is a directory", path)
    if os.fstat(source).st_size > limit:
        raise OSError(27, "file too large", path)
    while chunk := os.read(source, CHUNK):
        write_all(1, chunk)


def write_file(path):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    while chunk := os.read(0, CHUNK):
        write_all(target, chunk)


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def reap(channel, running):
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


def end_one(wanted, running):
    """End a command, its session, and whoever still descends from it."""
    for leader, request in list(running.items()):
        if request == wanted:
            doomed = {pid for pid, (parent, session) in processes().items() if session == leader}
            for pid in doomed | {leader} | descendants(leader):
                kill(pid)


def end_all():
    """End every process but this one."""
    if os.getpid() == 1:
        try:
            os.kill(-1, signal.SIGKILL)  # in a namespace of our own, this means its processes only
        except ProcessLookupError:
            pass
        return
    while left := descendants(os.getpid()):
        for pid in left:
            kill(pid)
        for pid in left:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass


def processes():
    """pid -> (parent, session) of everything visible."""
    seen = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as stat:
                    fields = stat.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if fields[0] not in (b"Z", b"X"):
                seen[int(name)] = (int(fields[1]), int(fields[3]))
    return seen


def descendants(root):
    seen = processes()
    found, wave = set(), {root}
    while wave:
        wave = {pid for pid, (parent, _) in seen.items() if parent in wave} - found
        found |= wave
    return found - {root}


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def say(channel, message):
    try:
        channel.send(json.dumps(message).encode())
    except OSError:
        end_all()
        os._exit(0)


def read_all(fd):
    os.lseek(fd, 0, os.SEEK_SET)
    parts = []
    while part := os.read(fd, CHUNK):
        parts.append(part)
    return b"".join(parts)


if __name__ == "__main__":
    main()
