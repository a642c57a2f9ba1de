"""What a zip says it holds, told from its two ends alone: nothing is unpacked, whatever the zip claims."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_END, _END_64 = b"PK\x05\x06", b"PK\x06\x06"
_ENTRY, _LOCAL = b"PK\x01\x02", b"PK\x03\x04"
_ENTRY_BYTES, _LOCAL_BYTES = 46, 30


@dataclass(frozen=True)
class Entry:
    """One member by its name and by the size it claims to have unpacked."""

    name: str
    unpacked: int


def entries(head: bytes, tail: bytes) -> tuple[Entry, ...]:
    """The zip's own members, never those of a zip inside it.

    They come from the table at the end; where that is cut off or begins before the tail, from the heads of the
    members at the start.
    """
    start = _table_start(tail)
    return tuple(_listed(tail, start) if start is not None else _met(head))


def _table_start(tail: bytes) -> int | None:
    """Where in the tail the table begins: it ends where the end record begins."""
    end = tail.rfind(_END)
    if end < 0:
        return None
    length = _number(tail, end + 12, 4)
    end_64 = tail.rfind(_END_64, 0, end)
    if length == 0xFFFFFFFF and end_64 >= 0:
        end, length = end_64, _number(tail, end_64 + 40, 8)
    start = end - length
    return start if start >= 0 and tail[start : start + 4] in (_ENTRY, _END, _END_64) else None


def _listed(tail: bytes, at: int) -> Iterator[Entry]:
    while tail[at : at + 4] == _ENTRY:
        name, extra, comment = (_number(tail, at + place, 2) for place in (28, 30, 32))
        yield Entry(_text(tail, at + _ENTRY_BYTES, name), _number(tail, at + 24, 4))
        at += _ENTRY_BYTES + name + extra + comment


def _met(head: bytes) -> Iterator[Entry]:
    at = 0
    while head[at : at + 4] == _LOCAL:
        packed, unpacked = _number(head, at + 18, 4), _number(head, at + 22, 4)
        name, extra = _number(head, at + 26, 2), _number(head, at + 28, 2)
        yield Entry(_text(head, at + _LOCAL_BYTES, name), unpacked)
        at += _LOCAL_BYTES + name + extra + packed
        if not packed:  # a member written as a stream states its size only behind itself
            _, found, rest = head[at:].partition(_LOCAL)
            at = len(head) - len(found) - len(rest)


def _number(data: bytes, at: int, length: int) -> int:
    return int.from_bytes(data[at : at + length], "little")


def _text(data: bytes, at: int, length: int) -> str:
    return data[at : at + length].decode("utf-8", "replace")
