"""Packages LibreOffice refuses although they are sound: their tables use a prefix where it wants none."""

from __future__ import annotations

from pathlib import Path

from lxml import etree

from guildhall.documents.packages import read_members, write_members
from guildhall.documents.xmltrees import Tree, parse_xml, write_xml
from guildhall.domain.values import Value


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
