"""Mutations of seeds: small damage of many kinds, the same for the same random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

MOST_BYTES = 1 << 20
NASTY = (
    b"",
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    "\u2011\u202e\u0000".encode(),
    b"\xed\xa0\x80",
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"-0",
    b"9" * 40,
    b"../" * 8,
    b"%2e%2e%2f",
    b"\r\n\r\n",
    b"[" * 200,
    b'{"a":' * 200,
    b"<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>",
    b"A" * 5000,
    b"'\"`;--",
    b"{{7*7}}",
)


def mutated(seeds: Sequence[bytes], words: Sequence[bytes], random: Random) -> bytes:
    """One seed, damaged one to eight times."""
    data = bytearray(random.choice(seeds))
    for _ in range(random.choice((1, 1, 2, 3, 5, 8))):
        random.choice(_DAMAGES)(data, seeds, words, random)
        del data[MOST_BYTES:]
    return bytes(data)


def _flip(data: bytearray, _seeds: Sequence[bytes], _words: Sequence[bytes], random: Random) -> None:
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _overwrite(data: bytearray, _seeds: Sequence[bytes], _words: Sequence[bytes], random: Random) -> None:
    if data:
        at = random.randrange(len(data))
        data[at : at + random.randrange(1, 9)] = random.randbytes(random.randrange(1, 9))


def _cut(data: bytearray, _seeds: Sequence[bytes], _words: Sequence[bytes], random: Random) -> None:
    start, end = _span(data, random)
    del data[start:end]


def _truncate(data: bytearray, _seeds: Sequence[bytes], _words: Sequence[bytes], random: Random) -> None:
    del data[random.randrange(len(data) + 1) :]


def _repeat(data: bytearray, _seeds: Sequence[bytes], _words: Sequence[bytes], random: Random) -> None:
    start, end = _span(data, random)
    data[start:start] = bytes(data[start:end]) * random.choice((1, 2, 20))


def _splice(data: bytearray, seeds: Sequence[bytes], _words: Sequence[bytes], random: Random) -> None:
    other = random.choice(seeds)
    start, end = _span(other, random)
    at = random.randrange(len(data) + 1)
    data[at:at] = other[start:end]


def _nasty(data: bytearray, _seeds: Sequence[bytes], _words: Sequence[bytes], random: Random) -> None:
    at = random.randrange(len(data) + 1)
    data[at:at] = random.choice(NASTY)


def _word(data: bytearray, _seeds: Sequence[bytes], words: Sequence[bytes], random: Random) -> None:
    if words:
        start, end = _span(data, random)
        data[start : min(end, start + 12)] = random.choice(words)


def _span(data: bytes | bytearray, random: Random) -> tuple[int, int]:
    start = random.randrange(len(data) + 1)
    return start, min(len(data), start + random.choice((1, 4, 16, 256, 4096)))


_DAMAGES = (_flip, _overwrite, _cut, _truncate, _repeat, _splice, _nasty, _word)
