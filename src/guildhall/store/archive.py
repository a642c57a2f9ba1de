"""A tar archive with exactly one byte form for its content, and a reader that accepts no other."""

from __future__ import annotations

import fcntl
import io
import os
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from guildhall.errors import CorruptBundle, InputError, StoreError
from guildhall.store.blobs import sync_folder

_BLOCK = 512
_CHUNK = 1 << 20
_END = bytes(2 * _BLOCK)


class ArchiveWriter:
    """Appends members; times, owners and modes are constants, so that only content decides the bytes."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out

    def add(self, name: str, chunks: Iterator[bytes], *, size: int) -> None:
        self._out.write(_header(name, size))
        written = 0
        for chunk in chunks:
            self._out.write(chunk)
            written += len(chunk)
        if written != size:
            raise ValueError(f"{name} was announced with {size} bytes and has {written}")
        self._out.write(_padding(size))

    def finish(self) -> None:
        self._out.write(_END)


def members(source: Path, stream: IO[bytes]) -> Iterator[tuple[str, ArchiveMember]]:
    """Each member's name and a reader of its body, in order; `CorruptBundle` for any byte we would not write."""
    while True:
        block = stream.read(_BLOCK)
        if block == bytes(_BLOCK):
            if stream.read() != bytes(_BLOCK):
                raise CorruptBundle(source, "end of archive", "has bytes behind it or is cut off")
            return
        try:
            found = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        except (tarfile.HeaderError, UnicodeDecodeError) as error:
            raise CorruptBundle(source, "archive header", "is damaged or cut off") from error
        if _header(found.name, found.size) != block:
            raise CorruptBundle(source, found.name, "has a changed header")
        member = ArchiveMember(source, found.name, stream, found.size)
        yield found.name, member
        member.skip_rest()
        if stream.read(len(_padding(found.size))) != _padding(found.size):
            raise CorruptBundle(source, found.name, "is followed by bytes that do not belong there")


class ArchiveMember(io.RawIOBase):
    """The body of one member; iterating gives lines."""

    def __init__(self, source: Path, name: str, stream: IO[bytes], size: int) -> None:
        self._source, self._name, self._stream, self._left = source, name, stream, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        wanted = min(len(buffer), self._left)
        data = self._stream.read(wanted)
        if len(data) < wanted:
            raise CorruptBundle(self._source, self._name, "is cut off")
        self._left -= len(data)
        buffer[: len(data)] = data
        return len(data)

    def lines(self) -> Iterator[bytes]:
        return iter(io.BufferedReader(self, _CHUNK))

    def chunks(self) -> Iterator[bytes]:
        while chunk := self.read(_CHUNK):
            yield chunk

    def skip_rest(self) -> None:
        for _ in self.chunks():
            pass


def _header(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o644
    return info.tobuf(tarfile.GNU_FORMAT, "utf-8", "strict")


def _padding(size: int) -> bytes:
    return bytes(-size % _BLOCK)


@contextmanager
def unfinished(target: Path) -> Iterator[tuple[IO[bytes], Path]]:
    """A file that gets its name at the end only, and a folder that is gone by then; both for their owner alone."""
    part, folder = target.with_name(f"{target.name}.part"), target.with_name(f"{target.name}.part.d")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        try:
            fcntl.flock(out, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"another process is writing {target}; wait for it, or choose another name") from None
        out.truncate()
        try:
            shutil.rmtree(folder, ignore_errors=True)  # what a killed process left
            folder.mkdir(mode=0o700)
            yield out, folder
            out.flush()
            os.fsync(out.fileno())
            part.rename(target)
            sync_folder(target.resolve().parent)
        except OSError as error:
            raise StoreError(f"{target} was not written: {error.strerror}; no backup was made") from error
        finally:
            part.unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
