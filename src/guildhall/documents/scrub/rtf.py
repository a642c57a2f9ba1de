"""RTF: describing groups go, people become aliases, moving fields become the text they last showed."""

from __future__ import annotations

import re
from collections.abc import Callable

from guildhall.documents.scrub.images import scrub_jpeg, scrub_png
from guildhall.documents.scrub.names import SIGNATURE, ScrubContext, ScrubLedger
from guildhall.errors import CannotScrub

_DESCRIBING = {
    rb"\info": "document information",
    rb"\*\userprops": "custom properties",
    rb"\*\rsidtbl": "revision ids",
    rb"\*\datastore": "custom data",
    rb"\*\template": "attached template",
    rb"\*\xmlnstbl": "custom data",
    rb"\*\docvar": "document variables",
    rb"\*\mailmerge": "mail merge source",
    rb"\*\passwordhash": "password",
    rb"\*\writereservhash": "password",
    rb"\*\writereservation": "password",
    rb"\*\protusertbl": "people",
    rb"\*\nextfile": "names of other files",
    rb"\*\atnid": "people",
    rb"\*\atndate": "times of comments and changes",
    rb"\*\atntime": "times of comments and changes",
}
_ADDIN = re.compile(rb"(ADDIN)\b[^{}]*")
_FOLDERS = re.compile(rb"(?:file:/*)?(?:[A-Za-z]:|\\\\\\\\)(?:\\\\|/)[^{}\"]*(?:\\\\|/)(?=[^\\/{}\"]*)")
"""A path on somebody's disk up to its last step; RTF writes each backslash as two, and its fields as four."""
_RSID = re.compile(rb"\\(ins|del|char|par|sect|tbl|style)?rsid(root)?\d+ ?")
_STAMPS = re.compile(rb"\\rev(dttm|dttmdel)-?\d+ ?")
_VOLATILE = re.compile(
    rb"\\fldinst\s*(?:\{[^{}]*?)?\s*(?:\\\w+ ?)*\s*"
    rb"(DATE|TIME|CREATEDATE|SAVEDATE|PRINTDATE|FILENAME|AUTHOR|LASTSAVEDBY|USERNAME|DOCPROPERTY|INFO|TITLE|SUBJECT)\b"
)


def scrub_rtf(data: bytes, ledger: ScrubLedger, _context: ScrubContext | None = None) -> bytes:
    """The same text and layout without the groups that describe its makers."""
    if re.search(rb"\\bin\d|\\objdata", data):
        raise CannotScrub("RTF", "it holds embedded objects, which cannot be looked into")
    data = freeze_rtf(data, ledger)
    for control, place in _DESCRIBING.items():
        data = _replace_groups(data, control, _remover(place, ledger))
    data, found = _RSID.subn(b"", data)
    ledger.clean("revision ids", "removed", found)
    data, found = _STAMPS.subn(b"", data)
    ledger.clean("times of comments and changes", "removed", found)
    data = _replace_groups(data, rb"\*\fldinst", lambda group: _plain_instruction(group, ledger))
    data = _replace_groups(data, rb"\sv", lambda group: _without_folders(group, ledger))
    data = _replace_groups(data, rb"\*\revtbl", lambda group: _alias_table(group, ledger))
    data = _replace_groups(data, rb"\*\atnauthor", lambda group: _alias_author(group, ledger))
    data = _replace_groups(data, rb"\pict", lambda group: _scrub_picture(group, ledger))
    generator = rb"{\*\generator " + SIGNATURE.encode() + b";}"
    if rb"\*\generator" in data:
        ledger.clean("generator", "made uniform")
        return _replace_groups(data, rb"\*\generator", lambda _: generator)
    return data


def freeze_rtf(data: bytes, ledger: ScrubLedger, _context: ScrubContext | None = None) -> bytes:
    """Date, time, file-name and author fields become the text they last showed."""

    def freeze(group: bytes) -> bytes:
        result = group.find(rb"{\fldrslt")
        if not _VOLATILE.search(group) or result < 0:
            return group
        ledger.clean("volatile fields", "frozen to their stored value")
        return b"{" + group[result + len(rb"{\fldrslt") : _end(group, result)]

    return _replace_groups(data, rb"\field", freeze)


def _remover(place: str, ledger: ScrubLedger) -> Callable[[bytes], bytes]:
    def remove(_: bytes) -> bytes:
        ledger.clean(place, "removed")
        return b""

    return remove


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


def _plain_instruction(group: bytes, ledger: ScrubLedger) -> bytes:
    """What a field would fetch without somebody's folders, and without what an add-in wrote for itself."""
    plain, found = _ADDIN.subn(rb"\1 ", group)
    ledger.clean("folders and add-in data in fields", "removed", found)
    return _without_folders(plain, ledger)


def _without_folders(group: bytes, ledger: ScrubLedger) -> bytes:
    plain, found = _FOLDERS.subn(b"", group)
    ledger.clean("folders in links", "shortened", found)
    return plain


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


def _scrub_picture(group: bytes, ledger: ScrubLedger) -> bytes:
    found = re.search(rb"((?:[0-9a-fA-F]{2}\s*){16,})\}$", group)
    scrub = scrub_png if rb"\pngblip" in group else scrub_jpeg if rb"\jpegblip" in group else None
    if found is None or scrub is None:
        return group
    picture = bytes.fromhex(found[1].decode())
    return group[: found.start()] + scrub(picture, ledger).hex().encode() + b"}"
