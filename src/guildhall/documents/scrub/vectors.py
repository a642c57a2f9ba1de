"""Windows metafiles: the description in the header (program and title) is blanked, the drawing is copied."""

from __future__ import annotations

from guildhall.documents.scrub.ledger import Ledger


def scrub_emf(data: bytes, ledger: Ledger) -> bytes:
    """The same metafile with its description as spaces of the same length."""
    length = int.from_bytes(data[60:64], "little")
    offset = int.from_bytes(data[64:68], "little")
    if not length or offset + 2 * length > len(data):
        return data
    ledger.clean("metafile description", "blanked")
    return data[:offset] + b" \0" * (length - 1) + b"\0\0" + data[offset + 2 * length :]
