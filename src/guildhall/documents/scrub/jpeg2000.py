"""JPEG 2000, as PDF files hold it: the coded picture and what says how it looks stay; texts and remarks go."""

from __future__ import annotations

from collections.abc import Iterator

from guildhall.documents.scrub.ledger import Ledger
from guildhall.errors import CannotScrub

_KEPT_BOXES = frozenset({b"jP  ", b"ftyp", b"rreq", b"jp2h", b"jpch", b"jplh", b"jp2c", b"cgrp", b"ftbl"})
_START, _REMARK, _FIRST_TILE = b"\xff\x4f", b"\xff\x64", b"\xff\x90"


def scrub_jpeg_2000(data: bytes, ledger: Ledger) -> bytes:
    """A file of boxes or a bare picture; each box that neither draws nor describes the drawing is left out."""
    if data.startswith(_START):
        return _without_remarks(data, ledger)
    out = []
    for name, body in _boxes(data):
        if name not in _KEPT_BOXES:
            ledger.clean("JPEG 2000 box", "removed")
            continue
        kept = _without_remarks(body, ledger) if name == b"jp2c" else body
        out.append((len(kept) + 8).to_bytes(4, "big") + name + kept)
    return b"".join(out)


def _boxes(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 0
    while at + 8 <= len(data):
        length, name, head = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8], 8
        if length == 1:
            length, head = int.from_bytes(data[at + 8 : at + 16], "big"), 16
        end = at + length if length else len(data)
        if end < at + head or end > len(data):
            raise CannotScrub("JPEG 2000", "its boxes are damaged")
        yield name, data[at + head : end]
        at = end


def _without_remarks(picture: bytes, ledger: Ledger) -> bytes:
    """The coded picture without the remarks in its head, where encoders leave their name."""
    out, at = [picture[:2]], 2
    while picture[at : at + 2] != _FIRST_TILE:
        length = int.from_bytes(picture[at + 2 : at + 4], "big")
        end = at + 2 + length
        if length < 2 or end > len(picture):
            raise CannotScrub("JPEG 2000", "its head is damaged")
        if picture[at : at + 2] == _REMARK:
            ledger.clean("JPEG 2000 remark", "removed")
        else:
            out.append(picture[at:end])
        at = end
    return b"".join([*out, picture[at:]])
