"""Text, code, Markdown, data and notebooks as HTML pages, ready to be laid out like any document."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from guildhall.documents.detection import decoded
from guildhall.documents.values import Omission
from guildhall.domain.values import Value
from guildhall.errors import UnreadableFile

SHOWN_CHARACTERS = 600_000
"""Some two hundred pages; what lies beyond is counted."""
_PAGE = """<!DOCTYPE html><html><head><meta charset="utf-8"><style>
@page { margin: 2cm }
body { font-family: "Liberation Sans"; font-size: 10.5pt }
pre, code { font-family: "Liberation Mono"; font-size: 9pt }
td, th { border: 1px solid #999999; padding: 2px 5px }
</style></head><body>%s</body></html>"""


class WebPage(Value):
    """An HTML page made from a file, and what of the file is not on it."""

    page: Path
    omitted: tuple[Omission, ...] = ()
    warnings: tuple[str, ...] = ()


def readable(data: bytes) -> tuple[str, tuple[Omission, ...]]:
    """The text these bytes spell, cut where nobody would read on; the cut is counted."""
    text = decoded(data)
    if text is None:
        text = data.decode("utf-8", "replace")
    left_out = len(text) - SHOWN_CHARACTERS
    if left_out <= 0:
        return text, ()
    reason = f"only the first {SHOWN_CHARACTERS} characters are shown"
    return text[:SHOWN_CHARACTERS], (Omission(what="characters", reason=reason, count=left_out),)


def lay_out_markdown(file: Path, out: Path) -> WebPage:
    """With its headings, lists and tables; markup of its own does nothing."""
    text, omitted = readable(file.read_bytes())
    return _page(_markdown(text), out, omitted)


def lay_out_notebook(file: Path, out: Path) -> WebPage:
    """Cell by cell with the outputs."""
    text, omitted = readable(file.read_bytes())
    warnings: list[str] = []
    return _page(_notebook(file, text, warnings), out, omitted, warnings)


def lay_out_json(file: Path, out: Path) -> WebPage:
    """One value a line."""
    text, omitted = readable(file.read_bytes())
    return _page(_code(_indented(text), "json"), out, omitted)


def lay_out_xml(file: Path, out: Path) -> WebPage:
    """As it is, in colour, whatever its name says."""
    text, omitted = readable(file.read_bytes())
    return _page(_code(text, "xml"), out, omitted)


def lay_out_code(file: Path, out: Path) -> WebPage:
    """As it is, in the colours of the language that its name tells."""
    text, omitted = readable(file.read_bytes())
    return _page(_code(text, file.suffix.removeprefix(".")), out, omitted)


def _page(body: str, out: Path, omitted: tuple[Omission, ...], warnings: Sequence[str] = ()) -> WebPage:
    """HTML without anything that loads or runs."""
    page = out / "page.html"
    page.write_text(_PAGE % body, encoding="utf-8")
    return WebPage(page=page, omitted=omitted, warnings=tuple(warnings))


def _markdown(text: str) -> str:
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    return str(made.render(text))


def _code(text: str, language: str) -> str:
    import pygments  # type: ignore[import-untyped]
    from pygments import formatters, lexers, util

    try:
        lexer = lexers.get_lexer_by_name(language)
    except util.ClassNotFound:
        lexer = lexers.TextLexer()
    return str(pygments.highlight(text, lexer, formatters.HtmlFormatter(noclasses=True, nobackground=True)))


def _indented(text: str) -> str:
    """JSON with one value a line; several documents (JSON lines) and broken JSON stay as they are."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text


def _notebook(file: Path, text: str, warnings: list[str]) -> str:
    try:
        cells = json.loads(text)["cells"]
        return "".join(_cell(cell, warnings) for cell in cells)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableFile(file, f"is no readable notebook ({type(error).__name__})") from error


def _cell(cell: dict[str, Any], warnings: list[str]) -> str:
    source = _joined(cell.get("source", ""))
    if cell.get("cell_type") == "markdown":
        return _markdown(source)
    if cell.get("cell_type") != "code":
        return _code(source, "text")
    number = cell.get("execution_count")
    label = f"<p><small>In [{number if isinstance(number, int) else ' '}]</small></p>"
    return label + _code(source, "python") + "".join(_output(output, warnings) for output in cell.get("outputs", ()))


def _output(output: dict[str, Any], warnings: list[str]) -> str:
    if "text" in output:
        return f"<pre>{html.escape(_joined(output['text']))}</pre>"
    if output.get("output_type") == "error":
        return f"<pre>{html.escape(str(output.get('ename')))}: {html.escape(str(output.get('evalue')))}</pre>"
    data = output.get("data", {})
    for media_type in ("image/png", "image/jpeg"):
        if media_type in data:
            encoded = base64.b64encode(base64.b64decode(_joined(data[media_type]))).decode()
            return f'<p><img src="data:{media_type};base64,{encoded}"></p>'
    if "text/plain" in data:
        return f"<pre>{html.escape(_joined(data['text/plain']))}</pre>"
    if data:
        warnings.append(f"an output of type {', '.join(sorted(data))[:80]} is not shown")
    return ""


def _joined(source: Any) -> str:
    return "".join(source) if isinstance(source, list) else str(source)
