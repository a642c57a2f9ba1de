"""An Office Open XML package as parts joined by relationships: read, pruned, written anew, repaired for LibreOffice."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from lxml import etree

from guildhall.documents.packages import read_members, write_members
from guildhall.documents.xmltrees import Tree, drop, local, parse_xml, write_xml
from guildhall.domain.values import Value
from guildhall.errors import UnreadableFile

CONTENT_TYPES = "[Content_Types].xml"
_RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_STRICT_RELATION_ID = "{http://purl.oclc.org/ooxml/officeDocument/relationships}"


class Opc:
    """Parts by name; XML parts are trees that may be changed, the rest are bytes."""

    def __init__(self, data: bytes, *, name: str, unparsed: str | None = None) -> None:
        """`unparsed` is a folder whose parts, relationships apart, stay bytes."""
        self.name = name
        self.parts: dict[str, bytes | Tree] = {}
        for part, content in read_members(data, name=name).items():
            left = unparsed is not None and part.startswith(unparsed) and not part.endswith(".rels")
            parsed = _is_xml(part) and not left
            self.parts[part] = parse_xml(content, name=f"{name}/{part}") if parsed else content
        if CONTENT_TYPES not in self.parts:
            raise UnreadableFile(name, "is no Office package: it has no table of content types")

    def trees(self) -> Iterator[tuple[str, Tree]]:
        """XML parts that hold content (not relationships or content types), in a fixed order."""
        for part in sorted(self.parts):
            tree = self.parts[part]
            if not isinstance(tree, bytes) and not part.endswith(".rels") and part != CONTENT_TYPES:
                yield part, tree

    def tree(self, part: str) -> Tree | None:
        found = self.parts.get(part)
        return None if isinstance(found, bytes) else found

    def relations(self, part: str) -> list[Tree]:
        """The relationships a part declares; the package itself is the part with the empty name."""
        folder, base = posixpath.split(part)
        rels = self.tree(posixpath.join(folder, "_rels", f"{base}.rels"))
        return [] if rels is None else [child for child in rels if local(child.tag) == "Relationship"]

    def target(self, part: str, relation: Tree) -> str | None:
        """The name of the part a relationship leads to, or None when it leads out of the package."""
        if relation.get("TargetMode") == "External":
            return None
        path = unquote(relation.get("Target", "").partition("#")[0])
        if not path:
            return None
        joined = path.lstrip("/") if path.startswith("/") else posixpath.join(posixpath.dirname(part), path)
        wanted = posixpath.normpath(joined)
        if wanted in self.parts:
            return wanted
        folded = wanted.casefold()
        return next((name for name in self.parts if name.casefold() == folded), None)

    def reachable(self) -> set[str]:
        """Every part that some chain of relationships leads to."""
        found: set[str] = set()
        waiting = [""]
        while waiting:
            part = waiting.pop()
            for relation in self.relations(part):
                target = self.target(part, relation)
                if target is not None and target not in found:
                    found.add(target)
                    waiting.append(target)
        return found

    def cut_relations(self, kind: str) -> int:
        """Remove the relationships of a type (its last word) and every reference to them; how many there were."""
        cut = 0
        for part in ["", *sorted(self.parts)]:
            for relation in self.relations(part):
                if relation.get("Type", "").rpartition("/")[2] == kind:
                    self._forget_reference(part, relation.get("Id", ""))
                    drop(relation)
                    cut += 1
        return cut

    def _forget_reference(self, part: str, identifier: str) -> None:
        tree = self.tree(part) if part else None
        if tree is None:
            return
        names = (f"{_RELATION_ID}id", f"{_STRICT_RELATION_ID}id")
        for element in tree.iter():
            for attribute in names:
                if element.get(attribute) == identifier:
                    del element.attrib[attribute]

    def drop_unreachable(self) -> int:
        """Remove parts nothing leads to, with their relationships and content types; how many there were."""
        keep = self.reachable()
        lost = 0
        for part in sorted(self.parts):
            if part == CONTENT_TYPES or part in keep or self._describes(part, keep):
                continue
            del self.parts[part]
            lost += not part.endswith(".rels")
        self._prune_content_types()
        return lost

    @staticmethod
    def _describes(part: str, keep: set[str]) -> bool:
        """Whether this is the list of relationships of a part that stays (or of the package)."""
        folder, base = posixpath.split(part)
        if posixpath.basename(folder) != "_rels" or not base.endswith(".rels"):
            return False
        owner = posixpath.join(posixpath.dirname(folder), base.removesuffix(".rels"))
        return owner in keep or owner == ""

    def _prune_content_types(self) -> None:
        types = self.tree(CONTENT_TYPES)
        if types is None:
            return
        present = {name.casefold() for name in self.parts}
        for override in list(types):
            if local(override.tag) == "Override" and override.get("PartName", "").lstrip("/").casefold() not in present:
                drop(override)

    def written(self) -> bytes:
        members = {name: part if isinstance(part, bytes) else write_xml(part) for name, part in self.parts.items()}
        return write_members(members, first=(CONTENT_TYPES, "_rels/.rels"))


def _is_xml(part: str) -> bool:
    return part.lower().endswith((".xml", ".rels", ".vml"))


class Repaired(Value):
    """A package with its tables rewritten; None when there was nothing to rewrite."""

    out: Path | None = None


def repair_namespaces(file: Path, out: Path) -> Repaired:
    """Rewrite content types and relationships that spell their namespace as a prefix (`<ns0:Types ...>`)."""
    members = read_members(file)
    changed = False
    for name, content in members.items():
        if name == "[Content_Types].xml" or name.endswith(".rels"):
            root = parse_xml(content, name=name)
            if root.prefix is not None:
                members[name] = write_xml(_without_prefix(root))
                changed = True
    if not changed:
        return Repaired()
    target = out / "repaired"
    target.write_bytes(write_members(members, first=("[Content_Types].xml",)))
    return Repaired(out=target)


def _without_prefix(root: Tree) -> Tree:
    namespace = etree.QName(root).namespace
    plain = etree.Element(root.tag, nsmap={None: namespace or ""})  # type: ignore[dict-item]  # stubs forget None
    for child in root:
        etree.SubElement(plain, child.tag).attrib.update(child.attrib)
    return plain
