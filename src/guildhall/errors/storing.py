"""The workspace refused."""

from __future__ import annotations

from pathlib import Path

from guildhall.errors.root import GuildhallError


class StoreError(GuildhallError):
    """The workspace refused."""

    exit_code = 3


class NoWorkspace(StoreError):
    """There is no workspace where one was looked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(f"{path} holds no workspace; make one with `guildhall init {path}` or pass --workspace")


class CorruptBlob(StoreError):
    """Stored bytes no longer match the digest they are kept under."""

    def __init__(self, digest: str, *, found: str) -> None:
        self.digest, self.found = digest, found
        super().__init__(
            f"blob {digest[:12]} is damaged (its bytes hash to {found[:12]}); restore it from a backup or a bundle"
        )


class MissingBlob(StoreError):
    """A digest that is named but not kept here."""

    def __init__(self, digest: str) -> None:
        self.digest = digest
        super().__init__(f"blob {digest[:12]} is not in this workspace; import the bundle or files that hold it")


class StoreOutOfReach(StoreError):
    """An object store that does not answer, has no such bucket, or refuses these credentials."""

    def __init__(self, url: str, why: str) -> None:
        self.url, self.why = url, why
        super().__init__(f"{url} cannot be used ({why}); check the address, the network and the credentials")


class CorruptBundle(StoreError):
    """A bundle whose contents are not what its manifest says."""

    def __init__(self, path: Path, member: str, why: str) -> None:
        self.path, self.member, self.why = path, member, why
        super().__init__(f"{path}: {member}: {why}; nothing was imported, ask for the bundle again")


class CorruptBackup(StoreError):
    """A backup that is cut off, or whose parts are not what its manifest says."""

    def __init__(self, path: Path, why: str) -> None:
        self.path, self.why = path, why
        super().__init__(f"{path}: {why}; nothing was restored, use another backup")


class Conflict(StoreError):
    """The same key with another content: records are never edited in place."""

    def __init__(self, kind: str, key: str) -> None:
        self.kind, self.key = kind, key
        super().__init__(f"{kind} {key!r} is already kept with another content; give the new one its own version or id")


class SchemaMismatch(StoreError):
    """The database was written by another version."""

    def __init__(self, found: str | None, wanted: str) -> None:
        self.found, self.wanted = found, wanted
        super().__init__(
            f"the database is at schema {found}, this version needs {wanted}; run `guildhall init --upgrade`"
        )
