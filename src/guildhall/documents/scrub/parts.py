"""The files inside an Office package: each is scrubbed as what it is, whatever the package calls it."""

from __future__ import annotations

from guildhall.documents.scrub.ledger import ScrubContext, ScrubLedger
from guildhall.documents.xmltrees import Tree

_INERT = (".odttf", ".fntdata", ".ttf", ".otf", ".wmf")


def scrub_parts(parts: dict[str, bytes | Tree], ledger: ScrubLedger, context: ScrubContext) -> None:
    """Scrub every part that is no XML, in place."""
    for part, content in sorted(parts.items()):
        if isinstance(content, bytes) and content and not part.lower().endswith(_INERT):
            is_metafile = content[40:44] == b" EMF"
            parts[part] = _scrub_metafile(content, ledger) if is_metafile else context.member(part, content)


def _scrub_metafile(data: bytes, ledger: ScrubLedger) -> bytes:
    """A Windows metafile keeps program and title in its header: blanked, and the drawing is copied."""
    length = int.from_bytes(data[60:64], "little")
    offset = int.from_bytes(data[64:68], "little")
    if not length or offset + 2 * length > len(data):
        return data
    ledger.clean("metafile description", "blanked")
    return data[:offset] + b" \0" * (length - 1) + b"\0\0" + data[offset + 2 * length :]
