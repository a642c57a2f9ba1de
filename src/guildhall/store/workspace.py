"""A workspace: one folder that holds the database (or its address), the files by digest, and the logs.

guildhall.toml      settings; the URLs of the database and the files when they are not in the folder itself
guildhall.sqlite    the records
guildhall.key       the workspace's secret, unless `GUILDHALL_KEY_FILE` names another place
blobs/              files by digest; a cache of them where they live in an object store
logs/               evaluation logs
cache/verdicts/     what was judged, as Parquet for quick reading; removing it loses nothing
receipts/           left by earlier versions: what providers answered to killed runs, until it is booked
"""

from __future__ import annotations

import os
import tempfile
import tomllib
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from guildhall.domain.values import sha256
from guildhall.errors import InputError, NoWorkspace, OtherSecret, StoreError, UnreadableFile, UnsafePath
from guildhall.store.database import PATIENCE_S, open_database, rewrite, shown_url, upgrade
from guildhall.store.hall import member_secrets
from guildhall.store.records import Store
from guildhall.store.remote_blobs import open_blobs
from guildhall.store.sealing import wrap_open_keys
from guildhall.store.secret import derive, mark_of, open_secret

SETTINGS = "guildhall.toml"
FORMAT = 1
CONNECTIONS = 4
"""What a process that works on batches may hold of a server at most; it keeps one."""
MARK = "secret_mark"
"""The setting by which the workspace's secret is known again."""


@dataclass(frozen=True)
class Address:
    """Where a workspace is: all that another process, here or on another machine, needs to open it."""

    path: Path
    database: str | None = field(default=None, repr=False)
    """A PostgreSQL URL, password included, so that it is never shown; None for the folder's own SQLite file."""
    blobs: str | None = None

    @property
    def database_url(self) -> str:
        return self.database or f"sqlite:///{self.path.resolve() / 'guildhall.sqlite'}"

    @property
    def needs_folder(self) -> bool:
        """Whether records or files lie in the folder itself, so that only machines that see it can take part."""
        return self.database is None or self.blobs is None

    def elsewhere(self) -> Address:
        """The same workspace for a process on any machine: where its folder is not to be seen, with one of that
        machine's own for caches, and for logs until they are brought home.
        """
        if self.needs_folder or self._is_here():
            return self
        name = f"guildhall-{os.getuid()}-{sha256(f'{self.database} {self.blobs}'.encode())[:16]}"
        return replace(self, path=_private_folder(Path(tempfile.gettempdir()) / name))

    def _is_here(self) -> bool:
        try:
            return address_of(self.path) == self
        except (StoreError, InputError, OSError):
            return False

    def logs_apart(self) -> Path | None:
        """Where this process writes logs that are to be brought home; None where the workspace's own folder is."""
        there = self.elsewhere()
        return None if there is self else there.path / "logs" / str(os.getpid())


class Workspace:
    """An open workspace; a context manager that closes its database."""

    def __init__(self, at: Address, store: Store) -> None:
        self.at, self.store = at, store
        self.path, self.url = at.path, at.database_url
        self.blobs = open_blobs(at.blobs, at.path / "blobs")
        self.logs, self.receipts = at.path / "logs", at.path / "receipts"
        self.verdict_parts = at.path / "cache" / "verdicts"

    @classmethod
    def create(cls, path: Path, *, database: str | None = None, blobs: str | None = None) -> Workspace:
        """Make a workspace, or open the one that is there already."""
        if not (path / SETTINGS).exists():
            make_private(path)
            make_private(path / "blobs")
            secret = open_secret(path)
            at = Address(path, database, blobs)
            if database is None:
                # SQLite gives the log beside a file the modes of the file.
                os.close(os.open(path / "guildhall.sqlite", os.O_WRONLY | os.O_CREAT, 0o600))
            if blobs:
                # A store that cannot be written to is better found out now than with the first file.
                open_blobs(blobs, path / "blobs").put(b"")
            engine = open_database(at.database_url)
            upgrade(engine)
            engine.dispose()
            with closing(cls.at_address(at)) as made:
                made.agree_on(secret)  # another folder may have said before which secret this database is used with
            _write_settings(path / SETTINGS, at, secret)
            return cls._with_wrapped_keys(path)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path, *, patient: bool = False) -> Workspace:
        return cls.at_address(address_of(path), patient=patient)

    @classmethod
    def at_address(cls, at: Address, *, patient: bool = False) -> Workspace:
        """The workspace at an address. A `patient` caller, who works for hours, waits while its database restarts."""
        return cls(at, Store.open(at.database_url, patience_s=PATIENCE_S if patient else 0.0))

    @classmethod
    def from_afar(cls, at: Address) -> Workspace:
        """The workspace for one batch of work, in a process of this machine or of any other: few connections each."""
        found = cls(at.elsewhere(), Store.open(at.database_url, patience_s=PATIENCE_S, connections=CONNECTIONS))
        found.logs = at.logs_apart() or found.logs
        return found

    @classmethod
    def upgrade(cls, path: Path) -> Workspace:
        """Bring an older workspace to this version's schema, and its people's keys under its secret."""
        engine = open_database(address_of(path).database_url)
        upgrade(engine)
        engine.dispose()
        return cls._with_wrapped_keys(path)

    @classmethod
    def _with_wrapped_keys(cls, path: Path) -> Workspace:
        opened = cls.open(path)
        if wrap_open_keys(opened.store, opened.secret):
            rewrite(opened.store.engine, (member_secrets,))
        if MARK not in _read_settings(path / SETTINGS):
            settings = f'{MARK} = "{mark_of(opened.secret)}"\n' + (path / SETTINGS).read_text(encoding="utf-8")
            (path / SETTINGS).write_text(settings, encoding="utf-8")
        return opened

    @classmethod
    def find(cls, path: Path | None, *, patient: bool = False) -> Workspace:
        """The workspace named, else the current folder when it holds one."""
        return cls.open(path or Path.cwd(), patient=patient)

    @property
    def shown_url(self) -> str:
        return shown_url(self.url)

    @cached_property
    def secret(self) -> bytes:
        """The one secret of the workspace; never in its database, which keeps only a mark to know it by.

        The first folder that uses a database says which it is; every other one has the same, or is refused.
        """
        settings = self.path / SETTINGS
        if not settings.exists():  # another machine's folder
            return self.agree_on(open_secret(self.path, make=False))
        mark = _read_settings(settings).get(MARK)
        return self.agree_on(open_secret(self.path, mark=mark, make=mark is None))

    def agree_on(self, secret: bytes) -> bytes:
        mark = derive(secret, "mark").hex()
        if self.store.agreed("secret", mark) != mark:
            raise OtherSecret(self.path)
        return secret

    def key_for(self, purpose: str) -> bytes:
        """A secret of the workspace for one purpose."""
        return derive(self.secret, purpose)

    def close(self) -> None:
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _private_folder(folder: Path) -> Path:
    """The folder, made if need be; one that somebody else put there is not used."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise UnsafePath(folder, "belongs to somebody else", fix="remove it or set TMPDIR")
    return folder


def address_of(path: Path) -> Address:
    """Where the workspace in a folder keeps its records and files."""
    settings = path / SETTINGS
    if not settings.exists():
        raise NoWorkspace(path)
    found = _read_settings(settings)
    # Resolved here, where the path was written: other processes stand in folders of their own.
    return Address(path.resolve(), *(found.get(section, {}).get("url") for section in ("database", "blobs")))


def _read_settings(settings: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(settings.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UnreadableFile(settings, f"not valid TOML ({error})", fix="repair it or make a new workspace") from error


def make_private(folder: Path) -> None:
    """The folder, made if need be for its owner only; one that holds something already stays as it is."""
    if not folder.exists():
        folder.mkdir(mode=0o700, parents=True)
    elif not any(folder.iterdir()):
        folder.chmod(0o700)


def _write_settings(path: Path, at: Address, secret: bytes) -> None:
    lines = [f"format = {FORMAT}", f'{MARK} = "{mark_of(secret)}"', ""]
    for section, url in (("database", at.database), ("blobs", at.blobs)):
        lines += [f"[{section}]", f"url = {_quoted(url)}", ""] if url else []
    # The URL may hold a password, so the file is for its owner only, from its first byte on.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as out:
        out.write("\n".join(lines))


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
