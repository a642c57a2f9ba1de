"""Office Open XML: what word-processing, spreadsheet and slide packages have in common.

A part is dropped when it only describes (properties, thumbnails, printers, people, labels, add-ins), kept and
cleaned when it shows (pictures, embedded workbooks, sound), and the whole file is refused when a part is of a
kind nobody here can look into.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from guildhall.documents.opc import CONTENT_TYPES, Opc
from guildhall.documents.scrub.names import ScrubContext, ScrubLedger, bare_name, ranked_stamps, tells_a_machine
from guildhall.documents.xmltrees import Tree, drop, local, parse_xml
from guildhall.errors import CannotScrub

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


_DESCRIBING_RELATIONS = {
    "custom-properties": "custom properties",
    "customXml": "customXml",
    "customXmlProps": "customXml",
    "thumbnail": "thumbnail",
    "printerSettings": "printer settings",
    "people": "people",
    "origin": "digital signatures",
    "attachedTemplate": "attached template",
    "mailMergeSource": "mail merge source",
    "mailMergeHeaderSource": "mail merge source",
    "recipientData": "mail merge source",
    "classificationlabels": "sensitivity labels",
    "extensibility": "ribbon customisation",
    "webextensiontaskpanes": "add-ins",
    "webextension": "add-ins",
    "revisionInfo": "revision info",
    "changesInfo": "revision info",
    "tags": "tags",
    "commentsIds": "comment ids",
    "commentsExtensible": "comment ids",
    "documenttasks": "tasks",
}
_DROPPED_ELEMENTS = {
    "rsids": "revision ids",
    "docVars": "document variables",
    "docId": "document id",
    "attachedTemplate": "attached template",
    "mailMerge": "mail merge source",
    "creationId": "revision ids",
    "modId": "revision ids",
    "rowId": "revision ids",
    "colId": "revision ids",
    "revisionPtr": "revision ids",
    "absPath": "folder it was saved in",
    "custDataLst": "custom data",
    "smartTagPr": "smart tags",
    "taskpane": "add-ins",
    "activeWritingStyle": "proofing tools",
    "attachedSchema": "schemas on somebody's machine",
    "schemaLibrary": "schemas on somebody's machine",
    "saveThroughXslt": "schemas on somebody's machine",
    "writeProtection": "password to change it",
    "modifyVerifier": "password to change it",
    "htmlPubPr": "web publishing",
    "webPublishItems": "web publishing",
    "webPublishObjects": "web publishing",
    "securityDescriptor": "permissions",
}
_PERSON_ATTRIBUTES = {
    "permStart": ("ed",),
    "fileSharing": ("userName",),
    "header": ("userName",),
    "userInfo": ("name",),
    "cmAuthor": ("name",),
    "author": ("name", "userId"),
    "person": ("displayName", "userId"),
    "pivotCacheDefinition": ("refreshedBy",),
    "customWorkbookView": ("name",),
    "scenario": ("user",),
}
"""Beside `author`, which names a person wherever it stands."""
_STAMP_ATTRIBUTES = frozenset({"date", "dt", "dT", "created", "refreshedDateIso", "dateUtc", "dateTime"})
_RANDOM_IDS = frozenset(
    {"rsidR", "rsidRPr", "rsidRDefault", "rsidP", "rsidTr", "rsidDel", "rsidSect", "textId", "gfxdata"}
)
_LINKING_IDS = {
    "person": ("id",),
    "author": ("id",),
    "threadedComment": ("id", "personId", "parentId"),
    "mention": ("mentionpersonId", "mentionId"),
    "comment": ("uid",),
    "cm": ("id", "authorId"),
    "reply": ("id", "authorId"),
    "fld": ("id",),
    "customWorkbookView": ("guid",),
    "customSheetView": ("guid",),
}
"""Random ids that join two places: they get a new, counted value instead of none."""
_MACRO_PARTS = ("vbaproject.bin", "vbadata.xml")
_GENERATOR = (
    '<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties">'
    "<Application>{application}</Application><AppVersion>16.0300</AppVersion></Properties>"
)
_CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
    '<dcterms:created xsi:type="dcterms:W3CDTF">2000-01-01T00:00:00Z</dcterms:created>'
    '<dcterms:modified xsi:type="dcterms:W3CDTF">2000-01-01T00:00:00Z</dcterms:modified></cp:coreProperties>'
)


PackagePass = Callable[[Opc, ScrubLedger], None]


def scrub_package(
    data: bytes, ledger: ScrubLedger, context: ScrubContext, *, passes: Iterable[PackagePass], application: str
) -> bytes:
    """A package without its makers' traces: what its own format asks for, what all share, and every file inside."""
    package = Opc(data, name=context.name)
    for one in passes:
        one(package, ledger)
    _scrub_common(package, ledger, application=application)
    scrub_parts(package.parts, ledger, context)
    return package.written()


def freeze_package(data: bytes, ledger: ScrubLedger, context: ScrubContext, freeze: PackagePass) -> bytes:
    """A package in which only volatile content is frozen."""
    package = Opc(data, name=context.name)
    freeze(package, ledger)
    return package.written()


def _scrub_common(package: Opc, ledger: ScrubLedger, *, application: str) -> None:
    """Everything the three formats share; format modules go first, while people can still be looked up."""
    for part in package.parts:
        if part.lower().endswith(_MACRO_PARTS):
            raise CannotScrub(package.name, "it holds macros, whose code carries names that cannot be removed")
    ledger.clean("parts nothing refers to", "removed", package.drop_unreachable())
    for relation, place in _DESCRIBING_RELATIONS.items():
        ledger.clean(place, "removed", package.cut_relations(relation))
    _uniform_properties(package, ledger, application)
    package.drop_unreachable()
    stamps = {
        value
        for _, tree in package.trees()
        for element in tree.iter()
        for name, value in element.attrib.items()
        if local(name) in _STAMP_ATTRIBUTES and value[:4].isdigit()
    }
    ranks = ranked_stamps({str(stamp) for stamp in stamps})
    for _, tree in package.trees():
        _scrub_tree(tree, ledger, ranks)
    for part in sorted(package.parts):
        for relation_element in package.relations(part):
            _shorten_link(relation_element, ledger)


def _uniform_properties(package: Opc, ledger: ScrubLedger, application: str) -> None:
    """Core and extended properties become the same few lines in every file; both exist afterwards."""
    wanted = {
        "core-properties": ("docProps/core.xml", _CORE, "application/vnd.openxmlformats-package.core-properties+xml"),
        "extended-properties": (
            "docProps/app.xml",
            _GENERATOR.format(application=application),
            "application/vnd.openxmlformats-officedocument.extended-properties+xml",
        ),
    }
    found = set()
    for relation in package.relations(""):
        kind = relation.get("Type", "").rpartition("/")[2]
        target = package.target("", relation)
        if kind in wanted and target is not None and kind not in found:
            package.parts[target] = parse_xml(wanted[kind][1].encode(), name=target)
            found.add(kind)
        elif kind in wanted:
            drop(relation)
    for kind in sorted(set(wanted) - found):
        _add_property_part(package, kind, *wanted[kind])
    ledger.clean("core properties", "made uniform")
    ledger.clean("generator and extended properties", "made uniform")


def _add_property_part(package: Opc, kind: str, part: str, xml: str, content_type: str) -> None:
    family = "package/2006/relationships/metadata" if kind == "core-properties" else "officeDocument/2006/relationships"
    types, rels = package.tree(CONTENT_TYPES), package.tree("_rels/.rels")
    if types is None or rels is None:
        raise CannotScrub(package.name, "its list of relationships is missing")
    for override in [child for child in types if child.get("PartName", "").lstrip("/") == part]:
        drop(override)
    package.parts[part] = parse_xml(xml.encode(), name=part)
    types.append(types.makeelement(_beside(types, "Override"), {"PartName": f"/{part}", "ContentType": content_type}))
    relation = {
        "Id": f"rIdUniform{kind[:4]}",
        "Type": f"http://schemas.openxmlformats.org/{family}/{kind}",
        "Target": part,
    }
    rels.append(rels.makeelement(_beside(rels, "Relationship"), relation))


def _beside(root: Tree, name: str) -> str:
    return str(root.tag).rpartition("}")[0] + "}" + name


def _scrub_tree(tree: Tree, ledger: ScrubLedger, ranks: dict[str, str]) -> None:
    for element in list(tree.iter()):
        place = _DROPPED_ELEMENTS.get(local(element.tag))
        if place is not None:
            _drop_with_wrapper(element)
            ledger.clean(place, "removed")
            continue
        if element.attrib:
            _scrub_attributes(element, ledger, ranks)


def _scrub_attributes(element: Tree, ledger: ScrubLedger, ranks: dict[str, str]) -> None:
    owner = local(element.tag)
    person = next((str(v) for n, v in element.attrib.items() if _names_person(owner, local(n))), None)
    for name, raw in list(element.attrib.items()):
        word, value = local(name), str(raw)
        if word in _LINKING_IDS.get(owner, ()) and "{" in value:
            element.set(name, ledger.guid(value))
        elif word in _RANDOM_IDS or (word == "uid" and value.startswith("{")):
            del element.attrib[name]
            ledger.clean("revision ids", "removed")
        elif word in ("paraId", "paraIdParent"):
            element.set(name, f"{ledger.number(value):08X}")
        elif person is not None and (word == "initials" or _names_person(owner, word)):
            alias = ledger.alias(person)
            element.set(name, ledger.initials(alias) if word == "initials" else alias)
            ledger.clean("people", "renamed")
        elif word == "providerId":
            element.set(name, "None")
        elif word in _STAMP_ATTRIBUTES and value in ranks:
            element.set(name, ranks[value])
            ledger.clean("times of comments and changes", "made uniform")
        elif tells_a_machine(value):
            element.set(name, bare_name(value))
            ledger.clean("folders in names", "shortened")


def _names_person(owner: str, attribute: str) -> bool:
    return attribute == "author" or attribute in _PERSON_ATTRIBUTES.get(owner, ())


_WRAPPERS = frozenset({"ext", "extLst", "Choice", "AlternateContent"})


def _drop_with_wrapper(element: Tree) -> None:
    """An extension that held nothing else goes with its content, and the list with its last extension."""
    parent = element.getparent()
    drop(element)
    while parent is not None and local(parent.tag) in _WRAPPERS and len(parent) == 0:
        element, parent = parent, parent.getparent()
        drop(element)


def _shorten_link(relation: Tree, ledger: ScrubLedger) -> None:
    target = relation.get("Target", "")
    if relation.get("TargetMode") == "External" and tells_a_machine(target):
        relation.set("Target", bare_name(target))
        ledger.clean("folders in links", "shortened")
