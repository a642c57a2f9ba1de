"""OpenDocument as text: headings, lists, tables, cells with formulas, comments, notes."""

from __future__ import annotations

from collections.abc import Iterator

from guildhall.documents.extract.writing import Writer, table_row
from guildhall.documents.packages import read_members
from guildhall.documents.scrub.ledger import Ledger
from guildhall.documents.xmltrees import Tree, attribute, local, parse_xml
from guildhall.errors import UnreadableFile

_MOST_REPEATS = 100


def extract_open_document(data: bytes, writer: Writer, *, name: str) -> dict[str, str | int | float | bool | None]:
    content = read_members(data, name=name).get("content.xml")
    if content is None:
        raise UnreadableFile(name, "has no content.xml")
    root = parse_xml(content, name=f"{name}/content.xml")
    people = Ledger()
    for body in root.iter("{*}body"):
        _write(body, writer, people)
    return {"sheets": sum(1 for _ in root.iter("{*}table")), "slides": sum(1 for _ in root.iter("{*}page"))}


def _write(parent: Tree, writer: Writer, people: Ledger) -> None:
    for element in parent:
        name = local(element.tag)
        if name == "h":
            level = int(attribute(element, "outline-level") or 1)
            writer.add(f"{'#' * min(level, 9)} {_words(element, people)}", unit="paragraphs")
        elif name == "p":
            if words := _words(element, people).strip():
                writer.add(words, unit="paragraphs")
        elif name == "list-item":
            writer.add("- " + " / ".join(_words(p, people) for p in element.iter("{*}p")), unit="paragraphs")
        elif name == "table-row":
            cells = [_cell(cell, people) for cell in element if local(cell.tag).endswith("table-cell")]
            if any(cells):
                writer.add(table_row(cells), unit="rows")
        else:
            if name == "table":
                writer.add(f"## Table: {attribute(element, 'name')}", unit="tables")
            elif name == "page":
                writer.add(f"# Slide: {attribute(element, 'name')}", unit="slides")
            _write(element, writer, people)


def _cell(cell: Tree, people: Ledger) -> str:
    words = " / ".join(_words(p, people) for p in cell.iter("{*}p"))
    formula = attribute(cell, "formula")
    return f"{formula.partition(':')[2] or formula} -> {words}" if formula else words


def _words(element: Tree, people: Ledger) -> str:
    return "".join(_pieces(element, people))


def _pieces(element: Tree, people: Ledger) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        name = local(child.tag)
        if name == "annotation":
            creator = next((found.text or "" for found in child.iter("{*}creator")), "")
            words = " / ".join("".join(map(str, p.itertext())) for p in child.iter("{*}p"))
            yield "{>>" + f"{people.alias(creator)}: {words}" + "<<}"
        elif name == "s":
            yield " " * min(int(attribute(child, "c") or 1), _MOST_REPEATS)
        elif name in ("tab", "line-break"):
            yield "\t" if name == "tab" else "\n"
        else:
            yield from _pieces(child, people)
        yield child.tail or ""
