"""OpenDocument as text: headings, lists, tables, cells with formulas, comments, notes, tracked changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from guildhall.documents.extract.writing import Facts, FileToRead, Writer, table_row
from guildhall.documents.packages import read_members
from guildhall.documents.scrub.names import ScrubLedger
from guildhall.documents.xmltrees import Tree, attribute, drop, local, parse_xml
from guildhall.errors import UnreadableFile

_MOST_REPEATS = 100


def extract_open_document(file: FileToRead, writer: Writer) -> Facts:
    """The body in order, with its comments and changes; the facts count sheets and slides."""
    content = read_members(file.data(), name=file.name).get("content.xml")
    if content is None:
        raise UnreadableFile(file.name, "has no content.xml")
    root = parse_xml(content, name=f"{file.name}/content.xml")
    story = _Story(ScrubLedger(), _changes(root))
    for told_where_they_were_made in list(root.iter("{*}tracked-changes")):
        drop(told_where_they_were_made)
    for body in root.iter("{*}body"):
        _write(body, writer, story)
    return {"sheets": sum(1 for _ in root.iter("{*}table")), "slides": sum(1 for _ in root.iter("{*}page"))}


@dataclass(frozen=True)
class _Story:
    """What is needed to read any part of a document: its people, and by id what was deleted or inserted."""

    people: ScrubLedger
    changes: dict[str, tuple[str, str]]


def _changes(root: Tree) -> dict[str, tuple[str, str]]:
    """Each tracked change as its kind and, for a deletion, the words that went."""
    found = {}
    for region in root.iter("{*}changed-region"):
        for change in region:
            words = " / ".join("".join(map(str, p.itertext())) for p in change.iter("{*}p", "{*}h"))
            found[attribute(region, "id")] = (local(change.tag), words)
    return found


def _write(parent: Tree, writer: Writer, story: _Story) -> None:
    for element in parent:
        name = local(element.tag)
        if name == "h":
            level = int(attribute(element, "outline-level") or 1)
            writer.add(f"{'#' * min(level, 9)} {_words(element, story)}", unit="paragraphs")
        elif name == "p":
            if words := _words(element, story).strip():
                writer.add(words, unit="paragraphs")
        elif name == "list-item":
            writer.add("- " + " / ".join(_words(p, story) for p in element.iter("{*}p")), unit="paragraphs")
        elif name == "table-row":
            cells = [_cell(cell, story) for cell in element if local(cell.tag).endswith("table-cell")]
            if any(cells):
                writer.add(table_row(cells), unit="rows")
        else:
            if name == "table":  # only sheets show what they are called
                sheet = local(parent.tag) == "spreadsheet"
                writer.add(f"## Table: {attribute(element, 'name')}" if sheet else "## Table", unit="tables")
            elif name == "page":
                writer.add("# Slide", unit="slides")
            _write(element, writer, story)


def _cell(cell: Tree, story: _Story) -> str:
    words = " / ".join(_words(p, story) for p in cell.iter("{*}p"))
    formula = attribute(cell, "formula")
    return f"{formula.partition(':')[2] or formula} -> {words}" if formula else words


def _words(element: Tree, story: _Story) -> str:
    return "".join(_pieces(element, story))


_CHANGE_MARKS = {
    "change": {"deletion": "{{--{words}--}}"},
    "change-start": {"insertion": "{{++"},
    "change-end": {"insertion": "++}}"},
}


def _pieces(element: Tree, story: _Story) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        name = local(child.tag)
        if name == "annotation":
            creator = next((found.text or "" for found in child.iter("{*}creator")), "")
            words = " / ".join("".join(map(str, p.itertext())) for p in child.iter("{*}p"))
            yield "{>>" + f"{story.people.alias(creator)}: {words}" + "<<}"
        elif name in _CHANGE_MARKS:
            kind, words = story.changes.get(attribute(child, "change-id"), ("", ""))
            yield _CHANGE_MARKS[name].get(kind, "").format(words=words)
        elif name == "s":
            yield " " * min(int(attribute(child, "c") or 1), _MOST_REPEATS)
        elif name in ("tab", "line-break"):
            yield "\t" if name == "tab" else "\n"
        else:
            yield from _pieces(child, story)
        yield child.tail or ""
