"""A workspace: one folder that holds the database (or its address), the files by digest, and the logs.

guildhall.toml      settings; the database URL when it is not the folder's own SQLite file
guildhall.sqlite    the records
blobs/              files by digest
logs/               evaluation logs
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from types import TracebackType
from typing import Self

from guildhall.errors import NoWorkspace, UnreadableFile
from guildhall.store.blobs import Blobs
from guildhall.store.database import open_database, shown_url, upgrade
from guildhall.store.records import Store

SETTINGS = "guildhall.toml"
FORMAT = 1


class Workspace:
    """An open workspace; a context manager that closes its database."""

    def __init__(self, path: Path, *, url: str, store: Store) -> None:
        self.path, self.url, self.store = path, url, store
        self.blobs = Blobs(path / "blobs")
        self.logs = path / "logs"

    @classmethod
    def create(cls, path: Path, *, database: str | None = None) -> Workspace:
        """Make a workspace, or open the one that is there already."""
        if not (path / SETTINGS).exists():
            (path / "blobs").mkdir(parents=True, exist_ok=True)
            url = database or _own_sqlite(path)
            engine = open_database(url)
            upgrade(engine)
            engine.dispose()
            _write_settings(path / SETTINGS, database)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> Workspace:
        url = _url_of(path)
        return cls(path, url=url, store=Store.open(url))

    @classmethod
    def upgrade(cls, path: Path) -> Workspace:
        """Bring an older workspace to this version's schema."""
        engine = open_database(_url_of(path))
        upgrade(engine)
        engine.dispose()
        return cls.open(path)

    @classmethod
    def find(cls, path: Path | None) -> Workspace:
        """The workspace named, else the current folder when it holds one."""
        return cls.open(path or Path.cwd())

    @property
    def shown_url(self) -> str:
        return shown_url(self.url)

    def close(self) -> None:
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _own_sqlite(path: Path) -> str:
    return f"sqlite:///{path.resolve() / 'guildhall.sqlite'}"


def _url_of(path: Path) -> str:
    settings = path / SETTINGS
    if not settings.exists():
        raise NoWorkspace(path)
    try:
        found = tomllib.loads(settings.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UnreadableFile(settings, f"not valid TOML ({error})", fix="repair it or make a new workspace") from error
    url = found.get("database", {}).get("url")
    return str(url) if url else _own_sqlite(path)


def _write_settings(path: Path, database: str | None) -> None:
    lines = [f"format = {FORMAT}", ""]
    if database:
        lines += ["[database]", f"url = {_quoted(database)}", ""]
    # The URL may hold a password, so the file is for its owner only, from its first byte on.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as out:
        out.write("\n".join(lines))


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
