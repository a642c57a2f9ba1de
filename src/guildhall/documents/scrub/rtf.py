"""RTF as it is drawn: people become aliases, moving fields become the text they last showed."""

from __future__ import annotations

import re
from collections.abc import Callable

from guildhall.documents.scrub.names import ScrubContext, ScrubLedger
from guildhall.errors import CannotScrub

_VOLATILE = re.compile(
    rb"\\fldinst\s*(?:\{[^{}]*?)?\s*(?:\\\w+ ?)*\s*"
    rb"(DATE|TIME|CREATEDATE|SAVEDATE|PRINTDATE|FILENAME|AUTHOR|LASTSAVEDBY|USERNAME|DOCPROPERTY|INFO|TITLE|SUBJECT)\b"
)


def freeze_rtf(data: bytes, ledger: ScrubLedger, _context: ScrubContext | None = None) -> bytes:
    """Date, time, file-name and author fields become the text they last showed; people become aliases."""

    def freeze(group: bytes) -> bytes:
        result = group.find(rb"{\fldrslt")
        if not _VOLATILE.search(group) or result < 0:
            return group
        ledger.clean("volatile fields", "frozen to their stored value")
        return b"{" + group[result + len(rb"{\fldrslt") : _end(group, result)]

    data = _replace_groups(data, rb"\field", freeze)
    data = _replace_groups(data, rb"\*\atnid", lambda _: b"")
    data = _replace_groups(data, rb"\*\revtbl", lambda group: _alias_table(group, ledger))
    return _replace_groups(data, rb"\*\atnauthor", lambda group: _alias_author(group, ledger))


def _replace_groups(data: bytes, control: bytes, replace: Callable[[bytes], bytes]) -> bytes:
    """Put something else in place of each group `{control ...}` with its braces."""
    opening = re.compile(rb"\{\s*" + re.escape(control) + rb"(?![a-z])")
    out, position = [], 0
    while found := opening.search(data, position):
        end = _end(data, found.start())
        out += [data[position : found.start()], replace(data[found.start() : end])]
        position = end
    return b"".join([*out, data[position:]])


_BRACE = re.compile(rb"\\.|[{}]", re.DOTALL)


def _end(data: bytes, start: int) -> int:
    depth = 0
    for token in _BRACE.finditer(data, start):
        depth += {b"{": 1, b"}": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    raise CannotScrub("RTF", "its groups are not closed")


def _alias_table(group: bytes, ledger: ScrubLedger) -> bytes:
    def alias(name: re.Match[bytes]) -> bytes:
        ledger.clean("people", "renamed")
        person = name[1].decode("latin-1")
        return b"{" + (b"Unknown" if person == "Unknown" else ledger.alias(person).encode()) + b";}"

    return re.sub(rb"\{([^{}]*);\}", alias, group)


def _alias_author(group: bytes, ledger: ScrubLedger) -> bytes:
    person = group.removeprefix(rb"{\*\atnauthor").rstrip(b"}").strip().decode("latin-1")
    ledger.clean("people", "renamed")
    return rb"{\*\atnauthor " + ledger.alias(person).encode() + b"}"
