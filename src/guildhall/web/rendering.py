"""Templates: autoescaped, with the session, the form token and this answer's nonce always at hand.

Briefs and messages as safe HTML: a small Markdown without raw HTML, pictures or links. The text may be a model's. A
picture would call home and a link could lead anywhere, so both stay as they were written.
"""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from guildhall.web.frame import PLACES

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


TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> Environment:
    """One environment a process; an undefined name in a template is an error, not an empty string."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["PLACES"] = PLACES
    made.filters["clock"] = lambda seconds: time.strftime("%H:%M:%S", time.gmtime(seconds)) + " UTC"
    made.filters["day"] = lambda seconds: time.strftime("%d %b %Y, %H:%M", time.gmtime(seconds)) + " UTC"
    made.filters["markdown"] = rendered
    made.filters["age"] = age
    made.filters["minutes"] = lambda seconds: f"{int(seconds // 60)} min"
    return made


def age(seconds: float) -> str:
    """How long ago, in the largest unit that fits."""
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {name}{'' if count == 1 else 's'}"
    return "less than a minute"


def page(request: Request, template: str, *, status: int = 200, **facts: Any) -> HTMLResponse:
    """A page: the template with what it is handed, and nothing else."""
    session = getattr(request.state, "session", None)
    shared = {
        "nonce": request.state.nonce,
        "path": request.url.path,
        "visitor": session.member if session else None,
        "form_token": session.form_token if session else "",
        "sought": "",
    }
    return HTMLResponse(environment().get_template(template).render(**shared | facts), status)
