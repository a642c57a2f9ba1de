"""Office Open XML by allow-lists: a package is written anew from what is known to show something.

From the main part on, every relationship of a known kind is followed; its part gets a name of ours. Of XML, elements
and attributes of known namespaces are kept whose names, and whose values, are made of the words of the format alone
(`ooxml.toml`): numbers, colours and what the schemas enumerate. Free words stay where they are shown, and are numbered
where they only join two places. Whatever nobody has thought of is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from lxml import etree

from guildhall.documents.detection import detect_bytes
from guildhall.documents.kinds import Family, Kind
from guildhall.documents.opc import Opc
from guildhall.documents.packages import write_members
from guildhall.documents.scrub.fonts import FONT_KEY, plain_odttf
from guildhall.documents.scrub.images import plain_picture
from guildhall.documents.scrub.metafiles import scrub_metafile
from guildhall.documents.scrub.names import ScrubContext, ScrubLedger, bare_name, ranked_stamps
from guildhall.documents.scrub.ooxml_lists import is_plain, ooxml_lists
from guildhall.documents.xmltrees import Tree, local, write_xml
from guildhall.errors import CannotScrub

_OFFICE = "http://schemas.openxmlformats.org/"
_R = f"{_OFFICE}officeDocument/2006/relationships"
_MC = f"{_OFFICE}markup-compatibility/2006"
_NEVER = frozenset({"cm", "vm", "descr", "title", "tooltip", "alt", "guid"})
"""Attributes that look like any other and say what nobody sees, or what was left out."""
_GUID = re.compile(r"\{[0-9A-Fa-f-]{36}\}")
_STAMPS = frozenset({"date", "dt", "dateUtc", "created"})
_CONSTANT = {
    "docProps/app.xml": '<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties">'
    "<Application>{application}</Application><AppVersion>16.0300</AppVersion></Properties>",
    "docProps/core.xml": '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/'
    'core-properties" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
    '<dcterms:created xsi:type="dcterms:W3CDTF">2000-01-01T00:00:00Z</dcterms:created>'
    '<dcterms:modified xsi:type="dcterms:W3CDTF">2000-01-01T00:00:00Z</dcterms:modified></cp:coreProperties>',
}
"""Without a generator programs lay a file out in another way."""
_MAIN = {"word": "wordprocessingml.document", "xl": "spreadsheetml.sheet", "ppt": "presentationml.presentation"}
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


PackagePass = Callable[[Opc, ScrubLedger], None]


def scrub_package(
    data: bytes, ledger: ScrubLedger, context: ScrubContext, *, passes: Iterable[PackagePass], application: str
) -> bytes:
    """What its own format asks for first, then the package as it is written anew."""
    package = Opc(data, name=context.name)
    for one in passes:
        one(package, ledger)
    return _Sieve(package, ledger, context, application).written()


def freeze_package(data: bytes, ledger: ScrubLedger, context: ScrubContext, freeze: PackagePass) -> bytes:
    """A package in which only volatile content is frozen."""
    package = Opc(data, name=context.name)
    freeze(package, ledger)
    return package.written()


@dataclass
class _Part:
    """A part on its way: where it lies now, its relationships and the identifiers they get."""

    old: str
    new: str
    kind: str
    ids: dict[str, str] = field(default_factory=dict)
    relations: list[str] = field(default_factory=list)


class _Sieve:
    """One package while it is written anew."""

    def __init__(self, package: Opc, ledger: ScrubLedger, context: ScrubContext, application: str) -> None:
        self.package, self.ledger, self.context, self.application = package, ledger, context, application
        main = next((one for one in package.relations("") if _kind(one) == "officeDocument"), None)
        target = package.target("", main) if main is not None else None
        self.folder = context.kind.row.parts[1].rstrip("/")
        if target is None or package.tree(target) is None:
            raise CannotScrub(package.name, "it has no main part that is known here")
        self.parts = {target: _Part(target, context.kind.row.parts[0] + ".xml", "officeDocument")}
        self.counts: dict[str, int] = {}
        self.styles: dict[str, str] = {}
        self.types: dict[str, str] = {}
        self.stamps = ranked_stamps(
            {
                str(value)
                for _, tree in package.trees()
                for element in tree.iter()
                for name, value in element.attrib.items()
                if local(name) in _STAMPS and value[:4].isdigit()
            }
        )

    def written(self) -> bytes:
        members: dict[str, bytes] = {}
        waiting = list(self.parts.values())
        while waiting:
            part = waiting.pop(0)
            waiting += self._follow(part)
            if part.kind == "styles" and self.folder == "word":
                self._know_styles(part)
        self.ledger.clean("parts not known to show anything", "left out", len(self.package.parts) - len(self.parts))
        for part in self.parts.values():
            self._write(part, members)
        members |= self._frame()
        return write_members(members, first=("[Content_Types].xml", "_rels/.rels"))

    def _follow(self, part: _Part) -> list[_Part]:
        """Take note of a part's relationships; the parts met for the first time."""
        met = []
        for relation in self.package.relations(part.old):
            kind, target = _kind(relation), self.package.target(part.old, relation)
            kind, mode = kind if is_plain(str(relation.get("Type", "")).rpartition("/")[0]) else "", ""
            if target is None and kind == "hyperlink":
                where, mode = self._address(relation.get("Target", "")), ' TargetMode="External"'
            elif target is None or kind not in ooxml_lists().places or self._unreadable(target, kind):
                if (kind := _kind(relation)) in ooxml_lists().lacking:
                    self.ledger.omit(ooxml_lists().lacking[kind], "left out of a file that is handed out")
                continue
            elif target in self.parts:
                where = f"/{self.parts[target].new}"
            else:
                met.append(self._named(target, kind))
                where = f"/{met[-1].new}"
            identifier = part.ids[relation.get("Id", "")] = f"rId{len(part.relations) + 1}"
            stated = str(relation.get("Type", ""))
            line = f'<Relationship Id="{identifier}" Type="{stated}" Target="{_quoted(where)}"{mode}/>'
            part.relations.append(line)
        return met

    def _unreadable(self, target: str, kind: str) -> bool:
        """A part of another nature than its relationship says: a picture that is none, XML that is bytes."""
        content = self.package.parts[target]
        if kind in ("image", "package", "font"):
            return not isinstance(content, bytes) or _inner(target, content, kind) is None
        return isinstance(content, bytes)

    def _named(self, target: str, kind: str) -> _Part:
        content = self.package.parts[target]
        ending = (_inner(target, content, kind) or "") if isinstance(content, bytes) else "xml"
        ending = "vml" if kind == "vmlDrawing" else ending
        place = ooxml_lists().places[kind]
        if kind == "comments":
            place = {"word": "comments", "xl": "comments#", "ppt": "comments/comment#"}[self.folder]
        if "#" in place:
            self.counts[place] = self.counts.get(place, 0) + 1
            place = place.replace("#", str(self.counts[place]))
        self.parts[target] = _Part(target, f"{self.folder}/{place}.{ending}", kind)
        return self.parts[target]

    def _address(self, target: str) -> str:
        """Where a link leads: on the web, or a file's bare name."""
        if re.match(r"(https?|mailto|ftp):", target, re.IGNORECASE):
            return target
        self.ledger.clean("folders in links", "shortened")
        return bare_name(target)

    def _know_styles(self, part: _Part) -> None:
        tree = self.package.tree(part.old)
        for number, style in enumerate(tree.iter("{*}style") if tree is not None else (), 1):
            identifier = next((str(v) for n, v in style.attrib.items() if local(n) == "styleId"), "")
            name = next((str(v) for one in style.iterchildren("{*}name") for v in one.attrib.values()), "")
            known = ooxml_lists().style_names.fullmatch(name)
            self.styles[identifier] = name.title().replace(" ", "") if known else f"Style{number}"

    def _write(self, part: _Part, members: dict[str, bytes]) -> None:
        content = self.package.parts[part.old]
        if isinstance(content, bytes):
            members[part.new] = self._plain_bytes(part, content)
        else:
            root = self._element(content, None, part)
            if root is None:
                raise CannotScrub(self.package.name, "it is written in a dialect that is not known here")
            _declare(root)
            members[part.new] = write_xml(root)
            self.types[part.new] = self._content_type(part)
        if part.relations:
            where = PurePosixPath(part.new)
            members[f"{where.parent}/_rels/{where.name}.rels"] = _relationships(part.relations)

    def _plain_bytes(self, part: _Part, content: bytes) -> bytes:
        if part.kind == "font":
            return plain_odttf(content, self._font_key(part))
        if part.new.endswith((".emf", ".wmf")):
            return scrub_metafile(content)
        if part.kind == "package":
            return self.context.member(part.new, content)
        return plain_picture(content, self.ledger)

    def _owners(self, part: _Part) -> list[_Part]:
        return [one for one in self.parts.values() if any(f'"/{part.new}"' in line for line in one.relations)]

    def _font_key(self, part: _Part) -> str:
        """The key of an embedded font, which stands where the font is named."""
        for owner in self._owners(part):
            wanted = [old for old, line in zip(owner.ids, owner.relations, strict=True) if f'"/{part.new}"' in line]
            for element in content.iter() if (content := self.package.tree(owner.old)) is not None else ():
                if element.get(f"{{{_R}}}id") in wanted:
                    return next((str(v) for n, v in element.attrib.items() if local(n) == "fontKey"), "")
        return ""

    def _element(self, old: Tree, parent: Tree | None, part: _Part) -> Tree | None:
        """The element below `parent`, with what of it and below it is known; None where it is not."""
        space, name = etree.QName(old).namespace or "", local(old.tag) or str(old.tag)
        if (space not in ooxml_lists().prefixes and not (space == "" and name == "xml")) or not is_plain(name):
            self.ledger.clean("elements not known to show anything", "left out")
            return None
        new = (
            etree.Element(old.tag, nsmap=_prefixes_for(space)) if parent is None else etree.SubElement(parent, old.tag)
        )
        for attribute_name, value in old.attrib.items():
            kept = self._value(name, str(attribute_name), str(value), old, part)
            if kept is not None:
                new.set(attribute_name, kept)
            else:
                self.ledger.clean("attributes not known to show anything", "left out")
        new.text = old.text if old.text and (name in ooxml_lists().spoken or is_plain(old.text)) else None
        for child in old:
            if isinstance(child.tag, str):
                self._element(child, new, part)
        if parent is not None and _says_nothing(name, old, new):
            parent.remove(new)
        return new

    def _value(self, element: str, attribute: str, value: str, old: Tree, part: _Part) -> str | None:
        """What an attribute says in the new file; None where it is left out."""
        space, name = attribute.rpartition("}")[0][1:], local(attribute)
        if (space and space not in ooxml_lists().prefixes) or name in _NEVER:
            return None
        if name == "relId":
            return next((one.ids[value] for one in self._owners(part) if value in one.ids), None)
        if space == _R or name == "relid":
            return part.ids.get(value)
        if name == "fontKey":
            return FONT_KEY
        if name in ("Ignorable", "Requires"):
            return _prefixes(value, old, all_of_them=name == "Requires")
        if name in ("author", "initials") or (name == "name" and element in ("cmAuthor", "author")):
            return self.ledger.alias(value) if name != "initials" else "A"
        if name in _STAMPS and value in self.stamps:
            return self.stamps[value]
        return self._words(element, name, value, old) if is_plain(name) else None

    def _words(self, element: str, name: str, value: str, old: Tree) -> str | None:
        """A value as words: of a style, of the format, shown to a reader, or a number in their place."""
        if self.folder == "word" and (name == "styleId" or element in ooxml_lists().style_references):
            return self.styles.get(value)
        if self.folder == "word" and element == "name":
            is_style = local(getattr(old.getparent(), "tag", "")) == "style"
            if is_style and (is_plain(value) or ooxml_lists().style_names.fullmatch(value)):
                return value
            return f"Style {self.ledger.number(value)}" if is_style else None
        if (element, name) in ooxml_lists().shown or value in ooxml_lists().prefixes or is_plain(value):
            return value
        if _GUID.fullmatch(value):
            return self.ledger.guid(value)
        if name == "style":
            return ";".join(filter(is_plain, value.split(";")))
        return f"{element} {self.ledger.number(value)}" if name == "name" else None

    def _content_type(self, part: _Part) -> str:
        if part.kind == "officeDocument":
            return f"application/vnd.openxmlformats-officedocument.{_MAIN[self.folder]}.main+xml"
        if part.kind == "vmlDrawing":
            return "application/vnd.openxmlformats-officedocument.vmlDrawing"
        types = self.package.tree("[Content_Types].xml")
        for entry in types if types is not None else ():
            stated = entry.get("ContentType", "")
            if (entry.get("PartName") or "").lstrip("/").casefold() == part.old.casefold() and is_plain(stated):
                return stated
        return "application/xml"

    def _frame(self) -> dict[str, bytes]:
        """Properties, content types and relationships of the package: the same lines in every file."""
        constant = {
            name: (_HEAD + text.format(application=self.application)).encode() for name, text in _CONSTANT.items()
        }
        package = f"{_OFFICE}package/2006/relationships/metadata/core-properties"
        main = next(part.new for part in self.parts.values() if part.kind == "officeDocument")
        lines = [
            f'<Relationship Id="rId1" Type="{_R}/officeDocument" Target="/{main}"/>',
            f'<Relationship Id="rId2" Type="{package}" Target="/docProps/core.xml"/>',
            f'<Relationship Id="rId3" Type="{_R}/extended-properties" Target="/docProps/app.xml"/>',
        ]
        types = self.types | {
            "docProps/core.xml": "application/vnd.openxmlformats-package.core-properties+xml",
            "docProps/app.xml": "application/vnd.openxmlformats-officedocument.extended-properties+xml",
        }
        endings = sorted({part.new.rpartition(".")[2] for part in self.parts.values()} - {"xml", "vml"})
        listed = [f'<Default Extension="{ending}" ContentType="{_BYTES[ending]}"/>' for ending in endings]
        listed += [f'<Override PartName="/{name}" ContentType="{stated}"/>' for name, stated in sorted(types.items())]
        rels = f'<Default Extension="rels" ContentType="{_BYTES["rels"]}"/>'
        head = f'{_HEAD}<Types xmlns="{_OFFICE}package/2006/content-types">{rels}'
        content_types = f"{head}{''.join(listed)}</Types>".encode()
        return constant | {"[Content_Types].xml": content_types, "_rels/.rels": _relationships(lines)}


_BYTES = {
    "rels": "application/vnd.openxmlformats-package.relationships+xml", "png": "image/png", "jpg": "image/jpeg",
    "emf": "image/x-emf", "wmf": "image/x-wmf", "odttf": "application/vnd.openxmlformats-officedocument.obfuscatedFont",
    **{kind.value: kind.row.media_type for kind in Kind if kind.is_package},
}  # fmt: skip


def _says_nothing(name: str, old: Tree, new: Tree) -> bool:
    """An element that lost what it stood for: a frame without content, a name, a reference to what is gone."""
    if name == "Choice":
        return len(new) == 0 or "Requires" not in new.attrib
    if len(new) or name in ("oleObj", "pageSetup"):
        return name == "externalData" and not new.attrib
    lost = f"{{{_R}}}id"
    unnamed = name in ("name", "font") and bool(old.attrib) and not new.attrib
    extension = name == "extLst" or (name == "ext" and "uri" in old.attrib)
    return unnamed or extension or (lost in old.attrib and lost not in new.attrib)


def _kind(relation: Tree) -> str:
    return str(relation.get("Type", "")).rpartition("/")[2]


def _quoted(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def _relationships(lines: list[str]) -> bytes:
    joined = "".join(lines)
    return f'{_HEAD}<Relationships xmlns="{_OFFICE}package/2006/relationships">{joined}</Relationships>'.encode()


def _inner(name: str, content: bytes, kind: str) -> str | None:
    """The ending of a part that is no XML; None where it is nothing that can be looked into."""
    if kind == "font":
        return "odttf" if name.lower().endswith(".odttf") else None
    if content[40:44] == b" EMF":
        return "emf"
    if content[:4] in (b"\xd7\xcd\xc6\x9a", b"\x01\x00\x09\x00", b"\x02\x00\x09\x00"):
        return "wmf"
    found = detect_bytes(content[:65536], content[-(1 << 20) :], name=name, size=len(content)).kind
    if kind == "package":
        return found.value if found.is_package else None
    if found.family is not Family.IMAGE or found is Kind.SVG:
        return None
    return "jpg" if found is Kind.JPEG else "png"


def _prefixes(stated: str, old: Tree, *, all_of_them: bool) -> str | None:
    """Prefixes of namespaces as we write them; None where none is known, or one of those that are needed is not."""
    known = [ooxml_lists().prefixes.get(old.nsmap.get(prefix, "")) for prefix in stated.split()]
    if all_of_them and None in known:
        return None
    return " ".join(sorted({prefix for prefix in known if prefix})) or None


def _prefixes_for(space: str) -> Any:  # the stubs forget that None is a prefix
    """Workbooks are written without a prefix, as every program expects them."""
    main = f"{_OFFICE}spreadsheetml/2006/main"
    known = {uri: prefix for uri, prefix in ooxml_lists().prefixes.items() if prefix != "xml"}
    return {None if uri == space == main else prefix: uri for uri, prefix in known.items()}


def _declare(root: Tree) -> None:
    """Only the namespaces in use are declared, and those that the part itself says may be ignored or are needed."""
    keys = (f"{{{_MC}}}Ignorable", "Requires")
    said = {word for element in root.iter() for key in keys for word in (element.get(key) or "").split()}
    etree.cleanup_namespaces(root, keep_ns_prefixes=sorted(said))
