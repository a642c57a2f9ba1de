"""A private PostgreSQL on loopback for tests: started once, thrown away at the end."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

_ROOM_BYTES = 2 << 30


class NoPostgres(Exception):
    """The server programs are not installed."""


@dataclass
class Server:
    port: int
    folder: Path
    control: Callable[..., None] = lambda *_words: None
    """Runs pg_ctl with the words given."""

    def __post_init__(self) -> None:
        self._names = count(1)

    def restart(self) -> None:
        """Down without a word to its clients, and up again."""
        self.control("-m", "immediate", "-w", "restart")

    def url(self, name: str) -> str:
        return f"postgresql://guildhall@127.0.0.1:{self.port}/{name}"

    def drop(self, url: str) -> None:
        import psycopg

        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {_name(url)} WITH (FORCE)")

    def new_database(self) -> str:
        import psycopg

        name = f"test_{os.getpid()}_{next(self._names)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def copy(self, template: str, url: str) -> None:
        """Put a copy of one database in the place of another; nobody may be connected to either."""
        import psycopg

        self.drop(url)
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {_name(url)} TEMPLATE {_name(template)}")


@contextmanager
def private_postgres(*, fsync: bool = False) -> Iterator[Server]:
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="guildhall-pg-", dir="/tmp" if fsync else quickest()))
    as_user: list[str] = []
    if os.getuid() == 0:  # initdb refuses to run as root
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
        shutil.chown(folder, "postgres", "postgres")
    port = _free_port()
    data = folder / "data"
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8", "PGCTLTIMEOUT": "300"}

    def run(*command: str) -> None:
        subprocess.run([*as_user, *command], check=True, capture_output=True, cwd=folder, env=environment)

    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c max_connections=200"
    options += f" -c fsync={'on' if fsync else 'off'}"
    run(
        str(programs / "initdb"),
        "-D",
        str(data),
        "-U",
        "guildhall",
        "--auth=trust",
        "-E",
        "UTF8",
        "--locale=C.UTF-8",
        "--no-sync",
    )
    run(
        str(programs / "pg_ctl"),
        "-D",
        str(data),
        "-w",
        "-l",
        str(folder / "log"),
        "-o",
        options,
        "start",
    )
    try:
        yield Server(
            port,
            folder,
            partial(run, str(programs / "pg_ctl"), "-D", str(data), "-l", str(folder / "log"), "-o", options),
        )
    finally:
        run(str(programs / "pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def _name(url: str) -> str:
    return url.rpartition("/")[2]


def quickest() -> str:
    """Memory, where there is enough of it: a new database is three hundred files, and tests wait for every write."""
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _ROOM_BYTES
    return str(memory) if roomy else "/tmp"


def _programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        raise NoPostgres("PostgreSQL's server is not installed: apt-get install postgresql")
    return found[-1].parent


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
