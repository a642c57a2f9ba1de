"""OpenDocument as it is drawn: aliases for people, frozen fields."""

from __future__ import annotations

from guildhall.documents.packages import read_members, write_members
from guildhall.documents.scrub.names import ScrubContext, ScrubLedger, ranked_stamps
from guildhall.documents.scrub.sheets import is_volatile
from guildhall.documents.xmltrees import Tree, drop, local, parse_xml, write_xml

_VOLATILE_FIELDS = frozenset(
    [
        "date",
        "time",
        "file-name",
        "author-name",
        "author-initials",
        "creator",
        "initial-creator",
        "creation-date",
        "creation-time",
        "modification-date",
        "modification-time",
        "print-date",
        "print-time",
        "printed-by",
        "editing-duration",
        "editing-cycles",
        "title",
        "subject",
        "keywords",
        "description",
        "template-name",
        "sender-firstname",
        "sender-lastname",
        "sender-initials",
        "sender-title",
        "sender-company",
        "sender-email",
        "user-defined",
    ]
)
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_PRESENTATION = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
Parts = dict[str, "bytes | Tree"]


def freeze_open_document(data: bytes, ledger: ScrubLedger, context: ScrubContext) -> bytes:
    """Dates, file names, authors and volatile formulas become what the file last showed; people become aliases."""
    parts = _open_parts(data, context.name)
    _freeze(parts, ledger)
    stamps = {element.text for tree in _trees(parts) for element in tree.iter("{*}date") if _is_stamp(element)}
    ranks = ranked_stamps({stamp for stamp in stamps if stamp})
    for tree in _trees(parts):
        for element in list(tree.iter("{*}creator", "{*}creator-initials", "{*}date", "{*}date-string")):
            _plain_person(element, ledger, ranks)
    return _written(parts)


def _open_parts(data: bytes, name: str) -> Parts:
    return {
        part: parse_xml(content, name=f"{name}/{part}") if part.endswith(".xml") and content else content
        for part, content in read_members(data, name=name).items()
    }


def _written(parts: Parts) -> bytes:
    members = {name: part if isinstance(part, bytes) else write_xml(part) for name, part in parts.items()}
    return write_members(members, first=("mimetype",), stored=frozenset({"mimetype"}))


def _freeze(parts: Parts, ledger: ScrubLedger) -> None:
    for tree in _trees(parts):
        for element in list(tree.iter()):
            tag, word = str(element.tag), local(element.tag)
            if tag.startswith(_TEXT) and word in _VOLATILE_FIELDS:
                element.tag = f"{_TEXT}span"
                element.attrib.clear()
                ledger.clean("volatile fields", "frozen to their stored value")
            elif tag.startswith(_PRESENTATION) and word == "date-time":
                ledger.omit("volatile fields left as they are", "the file stores no value to freeze them to")
            for key in [key for key in element.attrib if local(key) == "formula"]:
                if is_volatile(str(element.attrib[key])):
                    del element.attrib[key]
                    ledger.clean("volatile formulas", "frozen to their stored value")


def _trees(parts: Parts) -> list[Tree]:
    return [part for _, part in sorted(parts.items()) if not isinstance(part, bytes)]


def _is_stamp(element: Tree) -> bool:
    return "purl.org/dc/elements" in str(element.tag) and (element.text or "")[:4].isdigit()


def _plain_person(element: Tree, ledger: ScrubLedger, ranks: dict[str, str]) -> None:
    """Who wrote a remark and when, as it is drawn beside it."""
    word = local(element.tag)
    if word in ("creator", "creator-initials") and element.text:
        element.text = ledger.alias(element.text) if word == "creator" else "A"
    elif word == "date" and _is_stamp(element):
        element.text = ranks[element.text or ""]
    elif word == "date-string":
        drop(element)
