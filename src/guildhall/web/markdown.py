"""Briefs and messages as safe HTML: a small Markdown without raw HTML, pictures or links.

The text may be a model's. A picture would call home and a link could lead anywhere, so both stay as they were written.
"""

from __future__ import annotations

from functools import cache

from markdown_it import MarkdownIt
from markupsafe import Markup


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table")
    return parser.disable(["html_block", "html_inline", "image", "link", "autolink", "reference"])


def rendered(text: str) -> Markup:
    """HTML for a page; headings stand below the page's own, and none skips a level."""
    tokens = _parser().parse(text)
    level = 1
    for token in tokens:
        if token.type == "heading_open":
            level = min(6, level + 1, int(token.tag[1]) + 1)
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{level}"
    return Markup(_parser().renderer.render(tokens, _parser().options, {}))  # noqa: S704 - made by the parser above
