"""Slides as text: titles, text, tables, charts, pictures, notes and comments, slide by slide."""

from __future__ import annotations

from collections.abc import Iterator

from guildhall.documents.extract.graphics import chart_lines, diagram_lines, paragraphs
from guildhall.documents.extract.writing import Facts, FileToRead, Writer, table_row
from guildhall.documents.opc import Opc
from guildhall.documents.scrub.names import ScrubLedger
from guildhall.documents.xmltrees import Tree, local

_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


def extract_slides(file: FileToRead, writer: Writer) -> Facts:
    """Write all slides in the order they are shown."""
    package = Opc(file.data(), name=file.name)
    slides = _slide_parts(package)
    people = ScrubLedger()
    for number, part in enumerate(slides, start=1):
        slide = package.tree(part)
        if slide is None:
            continue
        hidden = " (hidden)" if slide.get("show") == "0" else ""
        writer.add(f"# Slide {number}{hidden}", unit="slides")
        for line in _shape_lines(slide, part, package):
            writer.add(line, unit="lines on slides")
        _write_attached(part, package, people, writer)
    return {"pages": len(slides)}


def _slide_parts(package: Opc) -> list[str]:
    main = "ppt/presentation.xml"
    presentation = package.tree(main)
    targets = {relation.get("Id"): package.target(main, relation) for relation in package.relations(main)}
    if presentation is None:
        return []
    found = (targets.get(entry.get(f"{_RELATION}id")) for entry in presentation.iter("{*}sldId"))
    return [part for part in found if part is not None]


def _shape_lines(slide: Tree, part: str, package: Opc) -> Iterator[str]:
    parts = {relation.get("Id"): package.target(part, relation) for relation in package.relations(part)}
    for shape in slide.iter("{*}sp", "{*}graphicFrame", "{*}pic"):
        if _in_fallback(shape):
            continue
        name = local(shape.tag)
        if name == "sp":
            yield from paragraphs(shape)  # that one of them is a title is not seen
        elif name == "pic":
            yield "[picture]"  # what a program wrote about it is not seen
        else:
            yield from (table_row([" / ".join(paragraphs(cell)) for cell in row]) for row in _table_rows(shape))
            for graphic in shape.iter("{*}chart", "{*}relIds"):
                is_chart = local(graphic.tag) == "chart"
                target = parts.get(graphic.get(f"{_RELATION}{'id' if is_chart else 'dm'}"))
                tree = package.tree(target) if target else None
                if tree is not None:
                    yield from chart_lines(tree) if is_chart else diagram_lines(tree)


def _in_fallback(shape: Tree) -> bool:
    return any(local(parent.tag) == "Fallback" for parent in shape.iterancestors())


def _table_rows(frame: Tree) -> Iterator[list[Tree]]:
    for row in frame.iter("{*}tr"):
        yield list(row.iterchildren("{*}tc"))


def _write_attached(part: str, package: Opc, people: ScrubLedger, writer: Writer) -> None:
    """Speaker's notes and comments, which hang on a slide by relationships."""
    for relation in package.relations(part):
        kind = relation.get("Type", "").rpartition("/")[2]
        target = package.target(part, relation)
        tree = package.tree(target) if target else None
        if tree is None:
            continue
        if kind == "notesSlide":
            for shape in tree.iter("{*}sp"):
                if any(place.get("type") == "body" for place in shape.iter("{*}ph")):
                    for text in paragraphs(shape):
                        writer.add(f"Note: {text}", unit="note lines")
        elif kind == "comments":
            for comment in tree.iter("{*}cm"):
                words = "".join(text.text or "" for text in comment.iter("{*}text", "{*}t"))
                writer.add(f"Comment: {people.alias(comment.get('authorId', ''))}: {words}", unit="comments")
