"""OpenDocument: uniform properties, aliases for people, frozen fields, no printers, thumbnails or revision ids."""

from __future__ import annotations

from guildhall.documents.packages import read_members, write_members
from guildhall.documents.scrub.names import ScrubContext, ScrubLedger, bare_name, ranked_stamps, tells_a_machine
from guildhall.documents.scrub.ooxml import scrub_parts
from guildhall.documents.scrub.sheets import is_volatile
from guildhall.documents.xmltrees import Tree, drop, local, parse_xml, write_xml
from guildhall.errors import CannotScrub

_META = (
    '<office:document-meta xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0" office:version="1.3"><office:meta>'
    "<meta:generator>LibreOffice/7.4.7.2$Linux_X86_64</meta:generator></office:meta></office:document-meta>"
)
_DROPPED_PARTS = (
    "Thumbnails/",
    "META-INF/documentsignatures",
    "META-INF/macrosignatures",
    "manifest.rdf",
    "layout-cache",
)
_TRACE_SETTINGS = frozenset(
    {"PrinterName", "PrinterSetup", "PrinterPaperFromSetup", "Rsid", "RsidRoot", "CurrentDatabaseDataSource"}
)
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


def scrub_open_document(data: bytes, ledger: ScrubLedger, context: ScrubContext) -> bytes:
    """Fields frozen, makers' traces gone, and every file inside scrubbed."""
    parts = _open_parts(data, context.name)
    _freeze(parts, ledger)
    _scrub(parts, ledger, name=context.name)
    kind = {"mimetype": parts.pop("mimetype")} if "mimetype" in parts else {}
    scrub_parts(parts, ledger, context)
    return _written({**kind, **parts})


def freeze_open_document(data: bytes, ledger: ScrubLedger, context: ScrubContext) -> bytes:
    """Dates, file names, authors and volatile formulas become what the file last showed."""
    parts = _open_parts(data, context.name)
    _freeze(parts, ledger)
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


def _scrub(parts: Parts, ledger: ScrubLedger, *, name: str) -> None:
    if any(part.startswith(("Basic/", "Scripts/")) for part in parts):
        raise CannotScrub(name, "it holds macros, whose code carries names that cannot be removed")
    for part in [part for part in parts if part.startswith(_DROPPED_PARTS)]:
        del parts[part]
        ledger.clean("thumbnails, signatures and caches", "removed")
    for part in [part for part in parts if part.rpartition("/")[2] == "meta.xml"]:
        parts[part] = parse_xml(_META.encode(), name=part)
        ledger.clean("properties and generator", "made uniform")
    stamps = {element.text for tree in _trees(parts) for element in tree.iter("{*}date") if _is_stamp(element)}
    ranks = ranked_stamps({stamp for stamp in stamps if stamp})
    for tree in _trees(parts):
        for element in list(tree.iter()):
            _scrub_element(element, ledger, ranks)
    _prune_manifest(parts)


def _trees(parts: Parts) -> list[Tree]:
    return [part for _, part in sorted(parts.items()) if not isinstance(part, bytes)]


def _is_stamp(element: Tree) -> bool:
    return "purl.org/dc/elements" in str(element.tag) and (element.text or "")[:4].isdigit()


def _scrub_element(element: Tree, ledger: ScrubLedger, ranks: dict[str, str]) -> None:
    word = local(element.tag)
    if word in ("creator", "creator-initials") and element.text:
        alias = ledger.alias(element.text) if word == "creator" else "A"
        element.text = alias
        ledger.clean("people", "renamed")
    elif word == "date" and _is_stamp(element):
        element.text = ranks[element.text or ""]
        ledger.clean("times of comments and changes", "made uniform")
    elif word in ("desc", "title") and tells_a_machine(element.text or ""):
        element.text = bare_name(element.text or "")
        ledger.clean("folders in names", "shortened")
    elif word == "date-string":
        drop(element)
    elif word == "config-item" and any(str(value) in _TRACE_SETTINGS for value in element.attrib.values()):
        element.text = "" if not (element.text or "").isdigit() else "0"
        ledger.clean("printer settings and revision ids", "blanked")
    for key, value in list(element.attrib.items()):
        if local(key) in ("rsid", "paragraph-rsid"):
            del element.attrib[key]
            ledger.clean("revision ids", "removed")
        elif tells_a_machine(str(value)):
            element.set(key, bare_name(str(value)))
            ledger.clean("folders in links", "shortened")


def _prune_manifest(parts: Parts) -> None:
    manifest = parts.get("META-INF/manifest.xml")
    if manifest is None or isinstance(manifest, bytes):
        return
    for entry in list(manifest):
        path = next((str(value) for key, value in entry.attrib.items() if local(key) == "full-path"), "/")
        if not path.endswith("/") and path not in parts:
            drop(entry)
