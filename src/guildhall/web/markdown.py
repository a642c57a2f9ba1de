"""Briefs and messages as safe HTML: a small Markdown without raw HTML, pictures or links.

The text may be a model's. A picture would call home and a link could lead anywhere, so both stay as they were written.
"""

from __future__ import annotations

from functools import cache

from markdown_it import MarkdownIt
from markupsafe import Markup

_LONG_LINE = 160


@cache
def _parser(*, breaks: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": breaks}).enable("table")
    return parser.disable(["html_block", "html_inline", "image", "link", "autolink", "reference"])


def rendered(text: str) -> Markup:
    """HTML for a page; headings stand below the page's own, and none skips a level.

    Line breaks count in a text that is not wrapped at some width, which one long line shows.
    """
    parser = _parser(breaks=any(len(line) > _LONG_LINE for line in text.splitlines()))
    tokens = parser.parse(text)
    level = 1
    for token in tokens:
        if token.type == "heading_open":
            level = min(6, level + 1, int(token.tag[1]) + 1)
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{level}"
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704 - made by the parser above
