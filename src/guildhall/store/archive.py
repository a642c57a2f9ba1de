"""A tar archive with exactly one byte form for its content, and a reader that accepts no other."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from guildhall.errors import CorruptBundle

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
