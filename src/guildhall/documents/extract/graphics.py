"""Words inside the graphics of Office files: charts, diagrams (SmartArt) and text boxes, alike in all three formats."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from guildhall.documents.extract.writing import Writer
from guildhall.documents.opc import Opc
from guildhall.documents.xmltrees import Tree, local


def write_graphics(package: Opc, writer: Writer) -> None:
    """The words of every chart and diagram of a package that has no slides to hang them on."""
    for part, tree in package.trees():
        if "/charts/chart" in part:
            for line in chart_lines(tree):
                writer.add(line, unit="chart lines")
        elif "/diagrams/data" in part:
            for line in diagram_lines(tree):
                writer.add(line, unit="diagram lines")


def chart_lines(tree: Tree) -> Iterator[str]:
    """A chart as words: its title, and each series with the values the file stores for it."""
    titles = ["".join(text.text or "" for text in title.iter("{*}t")) for title in tree.iter("{*}title")]
    yield f"Chart: {' / '.join(filter(None, titles)) or 'no title'}"
    for series in tree.iter("{*}ser"):
        name = _cached(series, "tx") or ["unnamed"]
        categories, numbers = _cached(series, "cat"), _cached(series, "val") or _cached(series, "yVal")
        pairs = zip_longest(categories, numbers, fillvalue="") if categories else ((number,) for number in numbers)
        yield f"  series {name[0]}: " + ", ".join(" = ".join(filter(None, pair)) for pair in pairs)


def _cached(series: Tree, part: str) -> list[str]:
    holder = next((child for child in series if local(child.tag) == part), None)
    if holder is None:
        return []
    return [value.text or "" for value in holder.iter("{*}v")]


def diagram_lines(tree: Tree) -> Iterator[str]:
    """A diagram as words: what its boxes say, in the order the file keeps them."""
    boxes = (" / ".join(paragraphs(point)) for point in tree.iter("{*}pt"))
    words = [box for box in boxes if box]
    yield "Diagram:" if words else "Diagram: no words"
    yield from (f"  {box}" for box in words)


def paragraphs(holder: Tree) -> Iterator[str]:
    """The paragraphs of a drawn text, those of lower levels set in; empty ones are left out."""
    for paragraph in holder.iter("{*}p"):
        pieces = ["\n" if local(piece.tag) == "br" else piece.text or "" for piece in paragraph.iter("{*}t", "{*}br")]
        text = "".join(pieces).strip()
        level = next((int(found.get("lvl", "0")) for found in paragraph.iterchildren("{*}pPr")), 0)
        if text:
            yield "  " * min(level, 8) + text
