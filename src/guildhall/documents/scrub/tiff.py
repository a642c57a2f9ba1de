"""TIFF: tags that describe how the picture is coded stay; the values of all others are blanked in place."""

from __future__ import annotations

import struct
from typing import NamedTuple

from guildhall.documents.scrub.images import blank_profile
from guildhall.documents.scrub.names import ScrubContext, ScrubLedger
from guildhall.errors import CannotScrub

_CODING_TAGS = frozenset(
    {254, 255, 256, 257, 258, 259, 262, 263, 264, 265, 266, 273, 274, 277, 278, 279, 280, 281, 282, 283, 284, 286, 287}
    | {288, 289, 290, 291, 292, 293, 296, 297, 301, 317, 318, 319, 320, 321, 322, 323, 324, 325, 330, 332, 334, 336}
    | {338, 339, 340, 341, 342, 347, 512, 513, 514, 515, 517, 518, 519, 520, 521, 529, 530, 531, 532}
    | {33550, 33922, 34264, 34735, 34736, 34737}  # where a map picture lies on the ground
)
_FOLDERS = frozenset({34665, 34853, 40965})
"""EXIF, GPS and interoperability: folders of tags, every one of them blanked."""
_PROFILE, _PICTURES_WITHIN = 34675, 330
_CODED_PARTS = {273: 279, 288: 289, 324: 325, 513: 514}
"""Places of strips, tiles and JPEG streams, each with the tag that tells their lengths."""
_OLD_TABLES = frozenset({519, 520, 521})
"""Tables of the first kind of JPEG in TIFF, whose length no tag tells."""
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}
_MOST_FOLDERS = 2_000


def scrub_tiff(data: bytes, ledger: ScrubLedger, _context: ScrubContext | None = None) -> bytes:
    """The same file, byte for byte in its place: strips and tiles untouched, every describing value zeroed.

    What follows the last byte that any tag leads to is cut off.
    """
    order = {b"II": "<", b"MM": ">"}[data[:2]]
    if struct.unpack_from(order + "H", data, 2)[0] != 42:
        raise CannotScrub("TIFF", "it is a BigTIFF, which is not handled")
    blanked = bytearray(data)
    waiting = [(struct.unpack_from(order + "I", data, 4)[0], False)]
    seen: set[int] = set()
    last = 8
    while waiting:
        offset, descriptive = waiting.pop()
        if offset == 0 or offset in seen:
            continue
        seen.add(offset)
        if len(seen) > _MOST_FOLDERS or offset + 2 > len(data):
            raise CannotScrub("TIFF", "its folders of tags are damaged")
        tags = _tags(data, order, offset)
        _blank(data, blanked, tags, descriptive, ledger)
        waiting += _leads_to(data, order, offset, tags, descriptive)
        last = max(last, _last_byte(data, order, offset, tags))
    if last < len(data):
        ledger.clean("bytes after the picture", "removed")
    return bytes(blanked[:last])


class _Tag(NamedTuple):
    """One entry of a folder: its number, the form and count of its values and where they lie."""

    tag: int
    kind: int
    number: int
    start: int
    size: int

    def values(self, data: bytes, order: str) -> tuple[int, ...]:
        form = {1: "B", 3: "H", 4: "I", 13: "I"}.get(self.kind)
        return struct.unpack_from(f"{order}{self.number}{form}", data, self.start) if form else ()


def _tags(data: bytes, order: str, offset: int) -> list[_Tag]:
    (count,) = struct.unpack_from(order + "H", data, offset)
    end = offset + 2 + 12 * count
    if end + 4 > len(data):
        raise CannotScrub("TIFF", "its folders of tags are damaged")
    tags = []
    for entry in range(offset + 2, end, 12):
        tag, kind, number = struct.unpack_from(order + "HHI", data, entry)
        size = _SIZES.get(kind, 1) * number
        start = entry + 8 if size <= 4 else struct.unpack_from(order + "I", data, entry + 8)[0]
        if start + size > len(data):
            raise CannotScrub("TIFF", "a tag points outside the file")
        tags.append(_Tag(tag, kind, number, start, size))
    return tags


def _blank(data: bytes, blanked: bytearray, tags: list[_Tag], descriptive: bool, ledger: ScrubLedger) -> None:
    for tag, _, _, start, size in tags:
        if tag == _PROFILE:
            blanked[start : start + size] = blank_profile(data[start : start + size])
        elif tag not in _FOLDERS and (descriptive or tag not in _CODING_TAGS):
            blanked[start : start + size] = bytes(size)
            ledger.clean("TIFF describing tags", "blanked")


def _leads_to(data: bytes, order: str, offset: int, tags: list[_Tag], descriptive: bool) -> list[tuple[int, bool]]:
    """The folders that this one leads to, and whether those only describe."""
    following = offset + 2 + 12 * len(tags)
    found = [(struct.unpack_from(order + "I", data, following)[0], descriptive)]
    for tag in tags:
        if tag.tag in _FOLDERS or (tag.tag == _PICTURES_WITHIN and not descriptive):
            found += [(pointer, tag.tag in _FOLDERS) for pointer in tag.values(data, order)]
    return found


def _last_byte(data: bytes, order: str, offset: int, tags: list[_Tag]) -> int:
    """Where the last thing ends that a folder holds or names; the whole file when that cannot be told."""
    known = {tag.tag: tag for tag in tags}
    if _OLD_TABLES & known.keys():
        return len(data)
    ends = [offset + 2 + 12 * len(tags) + 4, *(tag.start + tag.size for tag in tags)]
    for places, lengths in _CODED_PARTS.items():
        if places in known and lengths in known:
            pairs = zip(known[places].values(data, order), known[lengths].values(data, order), strict=False)
            ends += [place + length for place, length in pairs]
    return min(max(ends), len(data))
