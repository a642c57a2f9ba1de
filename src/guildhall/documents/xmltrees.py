"""XML from strangers: no network, no entities, no document types; always written in one form."""

from __future__ import annotations

import io
import re
from collections.abc import Generator
from typing import TypeAlias

from lxml import etree

from guildhall.errors import UnreadableFile

Tree: TypeAlias = etree._Element  # noqa: SLF001 - the only name lxml gives the type

MOST_XML_BYTES = 64 << 20
_DOCTYPE = re.compile(rb"<!(DOCTYPE|ENTITY)", re.IGNORECASE)


def parse_xml(data: bytes, *, name: str) -> Tree:
    """The root of a document without a document type; comments and processing instructions are left out."""
    if len(data) > MOST_XML_BYTES:
        raise UnreadableFile(name, f"its XML is larger than {MOST_XML_BYTES >> 20} MiB")
    _refuse_document_type(data, name)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True, huge_tree=False
    )
    try:
        return etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise UnreadableFile(name, f"its XML is broken ({error})") from error


def stream_xml(data: bytes, *, name: str, tag: str) -> Generator[Tree, None, Tree]:
    """The elements of one name, each complete until the next is asked for; the root, without them, at the end."""
    _refuse_document_type(data, name)
    reader = etree.iterparse(
        io.BytesIO(data),
        tag=f"{{*}}{tag}",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
        huge_tree=False,
    )
    try:
        for _, element in reader:
            yield element
            element.clear()
            parent = element.getparent()
            if parent is not None:
                del parent[: parent.index(element)]
        root: etree._Element = reader.root
        return root
    except (etree.XMLSyntaxError, ValueError) as error:
        raise UnreadableFile(name, f"its XML is broken ({error})") from error


def _refuse_document_type(data: bytes, name: str) -> None:
    if _DOCTYPE.search(data[:4096].replace(b"\0", b"")):
        raise UnreadableFile(name, "its XML declares a document type or entities, as attacks do")


def write_xml(root: Tree) -> bytes:
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)


def drop(element: Tree) -> None:
    """Take an element out of its parent; the text that follows it stays in place."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + element.tail
        else:
            before.tail = (before.tail or "") + element.tail
    parent.remove(element)


def unwrap(element: Tree) -> None:
    """Put an element's children in its place."""
    parent = element.getparent()
    if parent is None:
        return
    position = parent.index(element)
    for child in reversed(list(element)):
        parent.insert(position, child)
    drop(element)


def local(tag: object) -> str:
    """A name without its namespace."""
    return str(tag).rpartition("}")[2]


def attribute(element: Tree, name: str) -> str:
    """The value of an attribute by its name without namespace, or nothing."""
    return next((str(value) for key, value in element.attrib.items() if local(key) == name), "")
