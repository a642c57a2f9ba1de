"""Blobs in an object store, behind a local folder that keeps what was read or written here.

The folder is only a cache: it may be removed at any time. What counts is the object store, where a blob becomes
visible whole or not at all. Credentials come from the environment (for S3 the usual `AWS_...` variables), never from
the URL or a setting.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from guildhall.domain.values import Digest
from guildhall.errors import CorruptBlob, InputError, MissingBlob, MissingTool, StoreError, StoreOutOfReach
from guildhall.store.blobs import Blobs, Readable

PART_BYTES = 16 << 20
"""Files of twice this size and more go up in parts of it."""
_WHOLE_OR_NOT_AT_ALL = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "memory"})
"""Stores in which an upload shows only when it is complete; elsewhere a file is moved into place."""
_S3 = frozenset({"s3", "s3a"})


def open_blobs(url: str | None, folder: Path) -> Blobs:
    """The blobs of a workspace: in its own folder, or wherever an fsspec URL says, with the folder as a cache."""
    if url is None:
        return Blobs(folder)
    if scheme_of(url) == "file":
        return Blobs(Path(urlsplit(url).path))
    return RemoteBlobs(url, folder)


def scheme_of(url: str) -> str:
    """The kind of store a URL means; refused when it carries a secret, which would end up in a file."""
    parts = urlsplit(url)
    if not parts.scheme or "://" not in url:
        raise InputError(f"{url!r} is no blob store; give a URL such as s3://bucket/folder or file:///srv/blobs")
    if parts.username or parts.password or parts.query:
        raise InputError("a blob URL must not carry credentials or options; put them in the environment instead")
    return parts.scheme


class RemoteBlobs(Blobs):
    """Blobs by fsspec URL. A digest is durable in the store when `put` returns; every fetched byte is verified."""

    def __init__(self, url: str, cache: Path) -> None:
        super().__init__(cache)
        self.url = url.rstrip("/")
        self._cache = Blobs(cache)
        self._scheme = scheme_of(url)
        self._system, self._root = _file_system(self.url, self._scheme)

    def put(self, source: bytes | Path | Readable) -> Digest:
        digest = self._cache.put(source)
        if not self.has(digest):
            self._upload(self._cache.path(digest), digest)
        return digest

    def path(self, digest: Digest) -> Path:
        """Where the cached copy lies, fetched first where there is none yet."""
        return self.found(digest)

    def found(self, digest: Digest) -> Path:
        if not self._cache.has(digest):
            self._fetch(digest)
        return self._cache.path(digest)

    def has(self, digest: Digest) -> bool:
        """Asked of the store itself: a copy that only lingers in the cache does not count."""
        with _reaching(self.url):
            return bool(self._system.exists(self._remote(digest)))

    def size(self, digest: Digest) -> int:
        if not self.has(digest):
            raise MissingBlob(digest)
        with _reaching(self.url):
            return int(self._system.size(self._remote(digest)))

    def read(self, digest: Digest) -> bytes:
        try:
            return super().read(digest)
        except CorruptBlob:
            self._drop_cached(digest)
            return super().read(digest)

    def copy_to(self, digest: Digest, target: Path) -> None:
        try:
            super().copy_to(digest, target)
        except CorruptBlob:
            self._drop_cached(digest)
            super().copy_to(digest, target)

    def each(self) -> Iterator[Digest]:
        with _reaching(self.url):
            found = self._system.find(self._root)
        names = (str(name).removeprefix(self._root).strip("/").split("/") for name in sorted(found))
        return ("".join(parts) for parts in names if [len(part) for part in parts] == [2, 62])

    def _drop_cached(self, digest: Digest) -> None:
        """The cache is worth nothing by itself: a damaged copy is forgotten, and the store asked again."""
        self._cache.path(digest).unlink(missing_ok=True)

    def _remote(self, digest: Digest) -> str:
        return f"{self._root}/{digest[:2]}/{digest[2:]}"

    def _upload(self, file: Path, digest: Digest) -> None:
        place = self._remote(digest)
        with _reaching(self.url):
            if self._scheme in _WHOLE_OR_NOT_AT_ALL:
                self._system.put_file(str(file), place, **({"chunksize": PART_BYTES} if self._scheme in _S3 else {}))
                return
            waiting = f"{self._root}/incoming/{secrets.token_hex(16)}"
            for name in (waiting, place):
                self._system.makedirs(name.rpartition("/")[0], exist_ok=True)
            self._system.put_file(str(file), waiting)
            self._system.mv(waiting, place)

    def _fetch(self, digest: Digest) -> None:
        """Bring a blob into the cache; bytes that do not match their name are not kept."""
        if not self.has(digest):
            raise MissingBlob(digest)
        with _reaching(self.url), self._system.open(self._remote(digest), "rb") as stream:
            arrived = self._cache.put(stream)
        if arrived != digest:
            self._drop_cached(arrived)
            raise CorruptBlob(digest, found=arrived)


def _file_system(url: str, scheme: str) -> tuple[Any, str]:
    import fsspec

    try:
        system, root = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        extra = "pip install 'guildhall[s3]'" if scheme in _S3 else f"install the fsspec driver for {scheme}:// URLs"
        raise MissingTool(f"the {scheme} driver", needed_for=url, fix=extra) from error
    system.use_listings_cache = False
    return system, str(root).rstrip("/")


@contextmanager
def _reaching(url: str) -> Iterator[None]:
    """Whatever a driver raises about its network, its permissions or its bucket becomes one error of ours."""
    try:
        yield
    except StoreError:
        raise
    except Exception as error:
        raise StoreOutOfReach(url, f"{type(error).__name__}: {error}"[:300]) from error
