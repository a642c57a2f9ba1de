"""What hides between the drawing commands of a PDF page: remarks, and the EXIF of photographs set in line."""

from __future__ import annotations

from typing import Any

from guildhall.documents.scrub.images import scrub_jpeg
from guildhall.documents.scrub.ledger import Ledger
from guildhall.errors import CannotScrub

_SUSPECT = (b"%", b"\xff\xd8\xff")
"""The signs of a remark and of a photograph; a page with neither is not taken apart."""


def scrub_contents(pdf: Any, ledger: Ledger) -> None:
    """Every page that may hold either; all other commands are copied as they stand, and shared ones stay shared."""
    seen: dict[tuple[tuple[int, int], ...], Any] = {}
    for page in pdf.pages:
        streams = _streams(page)
        key = tuple(stream.objgen for stream in streams)
        if key not in seen:
            plain = _sieved(page, streams, ledger)
            seen[key] = None if plain is None else pdf.make_stream(plain)
        if seen[key] is not None:
            page.Contents = seen[key]


def _sieved(page: Any, streams: list[Any], ledger: Ledger) -> bytes | None:
    """The page's commands without remarks and EXIF; None where there is nothing to take out."""
    from pikepdf import Page, PdfError, Token, TokenFilter, TokenType

    class Sieve(TokenFilter):
        changed = False

        def handle_token(self, token: Token) -> Token | list[Token]:  # type: ignore[override] # always called with one
            if token.type_ is TokenType.comment:
                self.changed = True
                ledger.clean("remarks between drawing commands", "removed")
                return []
            if token.type_ is TokenType.inline_image and token.raw_value.startswith(b"\xff\xd8"):
                photograph = _plain_photograph(token.raw_value, ledger)
                self.changed |= photograph != token.raw_value
                return Token(TokenType.inline_image, photograph)
            return token

    sieve = Sieve()
    try:
        if not any(sign in stream.read_bytes() for stream in streams for sign in _SUSPECT):
            return None
        plain = Page(page).get_filtered_contents(sieve)
    except PdfError:
        return None  # nothing can be drawn, or read, from a stream that does not unpack
    return plain if sieve.changed else None


def _streams(page: Any) -> list[Any]:
    from pikepdf import Array

    contents = page.get("/Contents")
    if contents is None:
        return []
    return list(contents) if isinstance(contents, Array) else [contents]


def _plain_photograph(data: bytes, ledger: Ledger) -> bytes:
    try:
        return scrub_jpeg(data, ledger)
    except CannotScrub:
        return data
