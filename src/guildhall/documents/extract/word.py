"""Word processing as text: headings, lists, tables, notes, comments and tracked changes, in reading order.

Changes are written as {++inserted++} and {--deleted--}, comments as {>>Author 1: words<<} where they are
anchored. People are numbered, never named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from guildhall.documents.extract.graphics import write_graphics
from guildhall.documents.extract.writing import Facts, FileToRead, Writer, table_row
from guildhall.documents.opc import Opc
from guildhall.documents.scrub.names import ScrubLedger
from guildhall.documents.xmltrees import Tree, attribute, local

_HEADING = re.compile(r"heading\s*([1-9])$|^title$", re.IGNORECASE)
_FURNITURE = re.compile(r"word/(header|footer)\d*\.xml$")
_SKIPPED = frozenset({"pPr", "rPr", "tblPr", "tcPr", "trPr", "sectPr", "Fallback", "instrText", "delInstrText"})


class _Story:
    """What is needed to read any part of one document."""

    def __init__(self, package: Opc) -> None:
        self.package = package
        self.people = ScrubLedger()
        self.headings = _heading_levels(package)
        self.comments = self._notes("word/comments.xml", "comment")

    def _notes(self, part: str, tag: str) -> dict[str, str]:
        tree = self.package.tree(part)
        if tree is None:
            return {}
        return {
            attribute(note, "id"): f"{self.people.alias(attribute(note, 'author') or 'unknown')}: {_plain(note)}"
            for note in tree.iter(f"{{*}}{tag}")
        }


def extract_word(file: FileToRead, writer: Writer) -> Facts:
    """The text with its headings, tables, comments and changes, then notes, headers and footers."""
    package = Opc(file.data(), name=file.name)
    story = _Story(package)
    document = package.tree("word/document.xml")
    body = None if document is None else next(document.iter("{*}body"), None)
    if body is not None:
        _write_blocks(body, story, writer)
    for part, tree in package.trees():
        if part in ("word/footnotes.xml", "word/endnotes.xml"):
            for note in tree:
                if words := _plain(note).strip():
                    writer.add(f"[^{attribute(note, 'id')}]: {words}", unit="notes")
        elif (found := _FURNITURE.search(part)) and (words := _plain(tree).strip()):
            writer.add(f"({found[1]}: {words})", unit="headers and footers")
    write_graphics(package, writer)
    return {}


def _write_blocks(parent: Tree, story: _Story, writer: Writer) -> None:
    for block in parent:
        name = local(block.tag)
        if name == "p":
            _write_paragraph(block, story, writer)
        elif name == "tbl":
            for row in block.iter("{*}tr"):
                cells = [
                    " / ".join(filter(None, (_inline(p, story) for p in cell.iter("{*}p")))) for cell in _cells(row)
                ]
                writer.add(table_row(cells), unit="table rows")
            writer.add("")
        elif name in ("sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag"):
            _write_blocks(block, story, writer)


def _cells(row: Tree) -> Iterator[Tree]:
    """The cells of a row, also those that a content control or a tag holds."""
    for child in row:
        if local(child.tag) == "tc":
            yield child
        elif local(child.tag) in ("sdt", "sdtContent", "customXml", "smartTag"):
            yield from _cells(child)


def _write_paragraph(paragraph: Tree, story: _Story, writer: Writer) -> None:
    text = _inline(paragraph, story).strip()
    if not text:
        return
    style = next((attribute(found, "val") for found in paragraph.iter("{*}pStyle")), "")
    level = story.headings.get(style)
    if level is not None:
        text = f"{'#' * level} {text}"
    elif next(paragraph.iter("{*}numPr"), None) is not None or "List" in style:
        text = f"- {text}"
    writer.add(text, unit="paragraphs")


def _inline(paragraph: Tree, story: _Story) -> str:
    return "".join(_pieces(paragraph, story))


_CHANGES = {"ins": ("{++", "++}"), "moveTo": ("{++", "++}"), "del": ("{--", "--}"), "moveFrom": ("{--", "--}")}
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "\u2011"}


def _pieces(element: Tree, story: _Story) -> Iterator[str]:
    for child in element:
        name = local(child.tag)
        if name in _SKIPPED:
            continue
        if name in _CHANGES:
            opening, closing = _CHANGES[name]
            yield opening + "".join(_pieces(child, story)) + closing
        elif name in ("t", "delText"):
            yield child.text or ""
        elif name in _SIGNS:
            yield _SIGNS[name]
        else:
            yield _reference(child, name, story)
            yield from _pieces(child, story)


def _reference(element: Tree, name: str, story: _Story) -> str:
    """What an element says by pointing elsewhere: a comment, a note, a symbol, a picture; otherwise nothing."""
    if name == "commentReference":
        return "{>>" + story.comments.get(attribute(element, "id"), "") + "<<}"
    if name in ("footnoteReference", "endnoteReference"):
        return f"[^{attribute(element, 'id')}]"
    if name == "sym":
        return f"[{attribute(element, 'font')} {attribute(element, 'char')}]"
    if name == "docPr":
        return "[picture]"  # what a program wrote about it is not seen
    return ""


def _plain(element: Tree) -> str:
    paragraphs = ("".join(text.text or "" for text in p.iter("{*}t", "{*}delText")) for p in element.iter("{*}p"))
    return " / ".join(filter(None, paragraphs))


def _heading_levels(package: Opc) -> dict[str, int]:
    """Heading level by style id; style ids are translated, outline levels and built-in names are not."""
    styles = package.tree("word/styles.xml")
    levels: dict[str, int] = {}
    for style in styles.iter("{*}style") if styles is not None else ():
        identifier = attribute(style, "styleId")
        name = next((attribute(found, "val") for found in style.iter("{*}name")), "")
        outline = next((attribute(found, "val") for found in style.iter("{*}outlineLvl")), "")
        if found := _HEADING.search(name) or _HEADING.search(identifier):
            levels[identifier] = int(found[1] or 1)
        elif outline.isdigit() and int(outline) < 9:
            levels[identifier] = int(outline) + 1
    return levels
