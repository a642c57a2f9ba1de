"""Files by the digest of their bytes: written once, never half, verified whenever they are read."""

from __future__ import annotations

import hashlib
import io
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

from guildhall.domain.values import Digest
from guildhall.errors import CorruptBlob, MissingBlob

_CHUNK = 1 << 20


class Readable(Protocol):
    """Anything that hands out bytes until there are none left."""

    def read(self, size: int = -1, /) -> bytes | None: ...


class Blobs:
    """A folder of files named by sha256; memory use does not depend on their size."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, source: bytes | Path | Readable) -> Digest:
        """Keep bytes, a file or a stream; the digest is durable when this returns."""
        with _opened(source) as stream:
            incoming = self.folder / "incoming"
            incoming.mkdir(parents=True, exist_ok=True)
            part = incoming / secrets.token_hex(16)
            try:
                digest = _copy_hashing(stream, part)
                self._settle(part, digest)
            finally:
                part.unlink(missing_ok=True)
        return digest

    def _settle(self, part: Path, digest: Digest) -> None:
        place = self.path(digest)
        if place.exists():
            return
        place.parent.mkdir(exist_ok=True)
        part.chmod(0o400)
        part.rename(place)
        for folder in (place.parent, self.folder):
            sync_folder(folder)

    def path(self, digest: Digest) -> Path:
        """Where a blob lies; for handing to programs that only read. The bytes are not verified."""
        return self.folder / digest[:2] / digest[2:]

    def found(self, digest: Digest) -> Path:
        """Where a blob lies, or `MissingBlob`."""
        place = self.path(digest)
        if not place.exists():
            raise MissingBlob(digest)
        return place

    def has(self, digest: Digest) -> bool:
        return self.path(digest).exists()

    def size(self, digest: Digest) -> int:
        return self.found(digest).stat().st_size

    @contextmanager
    def open(self, digest: Digest) -> Iterator[IO[bytes]]:
        """A stream that raises `CorruptBlob` on reaching its end when the bytes are not what they were."""
        with self.found(digest).open("rb") as raw:
            yield io.BufferedReader(_Verifying(raw, digest), _CHUNK)

    def read(self, digest: Digest) -> bytes:
        with self.open(digest) as stream:
            return stream.read()

    def verify(self, digest: Digest) -> None:
        """Read a blob whole; `CorruptBlob` when its bytes are not what they were."""
        with self.open(digest) as stream:
            while stream.read(_CHUNK):
                pass

    def copy_to(self, digest: Digest, target: Path) -> None:
        """Copy a blob out; a damaged one leaves no file behind."""
        try:
            with self.open(digest) as stream, target.open("xb") as out:
                while chunk := stream.read(_CHUNK):
                    out.write(chunk)
        except CorruptBlob:
            target.unlink(missing_ok=True)
            raise

    def each(self) -> Iterator[Digest]:
        """Every digest kept, sorted."""
        for folder in sorted(self.folder.glob("[0-9a-f][0-9a-f]")):
            for file in sorted(folder.iterdir()):
                yield folder.name + file.name


class _Verifying(io.RawIOBase):
    def __init__(self, raw: IO[bytes], digest: Digest) -> None:
        self._raw, self._digest, self._seen = raw, digest, hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._raw.read(len(buffer))
        if not data:
            found = self._seen.hexdigest()
            if found != self._digest:
                raise CorruptBlob(self._digest, found=found)
            return 0
        self._seen.update(data)
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def _opened(source: bytes | Path | Readable) -> Iterator[Readable]:
    if isinstance(source, bytes):
        yield io.BytesIO(source)
    elif isinstance(source, Path):
        with source.open("rb") as stream:
            yield stream
    else:
        yield source


def _copy_hashing(stream: Readable, target: Path) -> Digest:
    seen = hashlib.sha256()
    with target.open("xb") as out:
        while chunk := stream.read(_CHUNK):
            seen.update(chunk)
            out.write(chunk)
        out.flush()
        os.fsync(out.fileno())
    return seen.hexdigest()


def sync_folder(folder: Path) -> None:
    """A rename is durable only once its folder is."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
