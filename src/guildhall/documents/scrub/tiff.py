"""TIFF: tags that describe how the picture is coded stay; the values of all others are blanked in place."""

from __future__ import annotations

import struct

from guildhall.documents.scrub.icc import blank_profile
from guildhall.documents.scrub.ledger import Ledger
from guildhall.errors import CannotScrub

_CODING_TAGS = frozenset(
    {254, 255, 256, 257, 258, 259, 262, 263, 264, 265, 266, 273, 274, 277, 278, 279, 280, 281, 282, 283, 284, 286, 287}
    | {288, 289, 290, 291, 292, 293, 296, 297, 301, 317, 318, 319, 320, 321, 322, 323, 324, 325, 330, 332, 334, 336}
    | {338, 339, 340, 341, 342, 347, 512, 513, 514, 515, 517, 518, 519, 520, 521, 529, 530, 531, 532}
    | {33550, 33922, 34264, 34735, 34736, 34737}  # where a map picture lies on the ground
)
_FOLDERS = frozenset({34665, 34853, 40965})
"""EXIF, GPS and interoperability: folders of tags, every one of them blanked."""
_PROFILE = 34675
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}
_MOST_FOLDERS = 2_000


def scrub_tiff(data: bytes, ledger: Ledger) -> bytes:
    """The same file, byte for byte as long: strips and tiles untouched, every describing value zeroed."""
    order = {b"II": "<", b"MM": ">"}[data[:2]]
    if struct.unpack_from(order + "H", data, 2)[0] != 42:
        raise CannotScrub("TIFF", "it is a BigTIFF, which is not handled")
    blanked = bytearray(data)
    waiting = [(struct.unpack_from(order + "I", data, 4)[0], False)]
    seen: set[int] = set()
    while waiting:
        offset, descriptive = waiting.pop()
        if offset == 0 or offset in seen:
            continue
        seen.add(offset)
        if len(seen) > _MOST_FOLDERS or offset + 2 > len(data):
            raise CannotScrub("TIFF", "its folders of tags are damaged")
        waiting += _scrub_folder(data, blanked, order, offset, descriptive, ledger)
    return bytes(blanked)


def _scrub_folder(
    data: bytes, blanked: bytearray, order: str, offset: int, descriptive: bool, ledger: Ledger
) -> list[tuple[int, bool]]:
    """Blank one folder; give the folders it leads to and whether those only describe."""
    (count,) = struct.unpack_from(order + "H", data, offset)
    end = offset + 2 + 12 * count
    if end + 4 > len(data):
        raise CannotScrub("TIFF", "its folders of tags are damaged")
    found = [(struct.unpack_from(order + "I", data, end)[0], descriptive)]
    for entry in range(offset + 2, end, 12):
        tag, kind, number = struct.unpack_from(order + "HHI", data, entry)
        size = _SIZES.get(kind, 1) * number
        (pointer,) = struct.unpack_from(order + "I", data, entry + 8)
        start = entry + 8 if size <= 4 else pointer
        if start + size > len(data):
            raise CannotScrub("TIFF", "a tag points outside the file")
        if tag in _FOLDERS:
            found.append((pointer, True))
        elif tag == _PROFILE:
            blanked[start : start + size] = blank_profile(data[start : start + size])
        elif descriptive or tag not in _CODING_TAGS:
            blanked[start : start + size] = bytes(size)
            ledger.clean("TIFF describing tags", "blanked")
        elif tag == 330 and number == 1:
            found.append((pointer, descriptive))
    return found
