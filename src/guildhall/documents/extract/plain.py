"""Text that is text already, notebooks, and pages of the web."""

from __future__ import annotations

import json
from html.parser import HTMLParser

from guildhall.documents.extract.writing import Facts, FileToRead, Writer, table_row
from guildhall.documents.xmltrees import parse_xml
from guildhall.errors import UnreadableFile

_UNSEEN = frozenset({"script", "style", "template", "noscript", "svg", "title"})
_CELLS = frozenset({"code", "markdown", "raw"})
_OUTPUTS = frozenset({"stream", "display_data", "execute_result", "error"})
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "li", "ul", "ol", "table", "br", "header", "footer", "blockquote"}
)


def decode_text(data: bytes) -> str:
    """Bytes as text: the byte order mark decides, then UTF-8, then Windows-1252, which takes anything."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def extract_text(file: FileToRead, writer: Writer) -> Facts:
    """The lines as they are."""
    for line in decode_text(file.data()).splitlines():
        writer.add(line)
    return {}


def extract_svg(file: FileToRead, writer: Writer) -> Facts:
    """The words a drawing shows; titles and descriptions are for programs."""
    for element in parse_xml(file.data(), name=file.name).iter("{*}text"):
        words = " ".join("".join(map(str, element.itertext("{*}text", "{*}tspan", "{*}textPath", "{*}a"))).split())
        if words:
            writer.add(words)
    return {}


def extract_notebook(file: FileToRead, writer: Writer) -> Facts:
    """Write every cell with its outputs."""
    try:
        cells = json.loads(file.data())["cells"]
        for number, cell in enumerate(cells, start=1):
            what = cell["cell_type"] if cell["cell_type"] in _CELLS else "unknown"
            writer.add(f"# Cell {number} ({what})", unit="cells")
            for line in _joined(cell.get("source")).splitlines():
                writer.add(line)
            for output in cell.get("outputs") or []:
                _write_output(output, writer)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableFile("notebook", f"is no notebook of format 4 ({type(error).__name__})") from error
    return {"cells": len(cells)}


def _write_output(output: dict[str, object], writer: Writer) -> None:
    data = output.get("data")
    bundle = data if isinstance(data, dict) else {}
    words = _joined(output.get("text") or bundle.get("text/plain") or output.get("traceback"))
    what = output.get("output_type") if output.get("output_type") in _OUTPUTS else "unknown"
    writer.add(f"Output ({what}):", unit="outputs")
    for line in words.splitlines():
        writer.add(line)
    for kind in bundle:
        if str(kind).startswith("image/"):
            writer.add("[picture]")


def _joined(source: object) -> str:
    return "\n".join(map(str, source)) if isinstance(source, list) and not _ends_lines(source) else _text(source)


def _ends_lines(source: list[object]) -> bool:
    return any(str(line).endswith("\n") for line in source)


def _text(source: object) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source or "")


class _Page(HTMLParser):
    """Collects what a reader sees, line by line."""

    def __init__(self, writer: Writer) -> None:
        super().__init__(convert_charrefs=True)
        self.writer, self.line, self.unseen, self.cells = writer, "", 0, list[str]()
        self.heading = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - unseen
        if tag in _UNSEEN:
            self.unseen += 1
        elif tag in _BLOCKS or tag == "tr":
            self.end_line()
            self.line = "- " if tag == "li" else ""
        elif len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self.end_line()
            self.line = "#" * int(tag[1]) + " "
        elif tag == "img":
            self.line += "[picture]"

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self.unseen = max(0, self.unseen - 1)
        elif tag in ("td", "th"):
            self.cells.append(self.line)
            self.line = ""
        elif tag == "tr":
            self.writer.add(table_row(self.cells), unit="table rows")
            self.cells, self.line = [], ""
        elif tag in _BLOCKS or (len(tag) == 2 and tag[0] == "h"):
            self.end_line()

    def handle_data(self, data: str) -> None:
        if not self.unseen:
            self.line += " ".join(data.split()) + (" " if data[-1:].isspace() else "")

    def end_line(self) -> None:
        if self.line.strip(" -#"):
            self.writer.add(self.line.strip())
        self.line = ""


def extract_html(file: FileToRead, writer: Writer) -> Facts:
    """The words of a page as a reader sees them; scripts and styles are left out."""
    page = _Page(writer)
    page.feed(decode_text(file.data()))
    page.close()
    page.end_line()
    return {}
