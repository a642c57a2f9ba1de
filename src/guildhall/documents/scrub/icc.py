"""Colour profiles: the colours stay, the words (device, owner, maker, date) are blanked in place."""

from __future__ import annotations

_TEXT_TAGS = frozenset(
    {b"desc", b"cprt", b"dmnd", b"dmdd", b"vued", b"targ", b"scrn", b"psd1", b"psd2", b"psd3", b"psd0"}
)
_TEXT_TYPES = frozenset({b"desc", b"mluc", b"text", b"data", b"dict", b"ZXML", b"utf8"})
_HEADER_TRACES = ((24, 36), (48, 64), (80, 100))
"""Date; manufacturer, model and attributes; creator and profile id."""

_SRGB, _SRGB_AT = b"sRGB IEC61966-2.1", 0x190
"""Readers know the commonest profile of all by this name in this place, and then compute colours in another way."""


def blank_profile(profile: bytes) -> bytes:
    """The same profile, byte for byte as long, in which every text and maker's mark is zeros, save sRGB's own name."""
    if len(profile) < 132 or profile[36:40] != b"acsp":
        return profile
    blanked = bytearray(profile)
    for start, end in _HEADER_TRACES:
        blanked[start:end] = bytes(end - start)
    count = min(int.from_bytes(profile[128:132], "big"), 200)
    for entry in range(132, 132 + 12 * count, 12):
        name, offset, size = profile[entry : entry + 4], *_pair(profile[entry + 4 : entry + 12])
        body = profile[offset : offset + size]
        if name in _TEXT_TAGS or body[:4] in _TEXT_TYPES:
            _blank_text(blanked, offset, body)
    if profile[_SRGB_AT : _SRGB_AT + len(_SRGB)] == _SRGB:
        blanked[_SRGB_AT : _SRGB_AT + len(_SRGB)] = _SRGB
    return bytes(blanked)


def _pair(data: bytes) -> tuple[int, int]:
    return int.from_bytes(data[:4], "big"), int.from_bytes(data[4:], "big")


def _blank_text(profile: bytearray, offset: int, body: bytes) -> None:
    """Counts and offsets inside the tag stay, so that strict readers still accept it; the characters go."""
    keep = 8
    if body[:4] == b"desc":
        keep = 12
    elif body[:4] == b"mluc":
        keep = 16 + 12 * min(int.from_bytes(body[8:12], "big"), 50)
    profile[offset + keep : offset + len(body)] = bytes(max(0, len(body) - keep))
