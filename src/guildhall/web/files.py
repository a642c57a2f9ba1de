"""The deliverables' own origin: copies by signed links, without cookies, in a sandbox, under neutral names.

A file costs the same at its first fetch as at any other: it was verified when its study was opened, and brought here
when its view was made. What an answer takes must not tell a grader whose work others have seen.
"""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from guildhall.documents.kinds import kept_kind
from guildhall.domain.judgments import BlindedFile, BlindedView
from guildhall.domain.values import Digest
from guildhall.errors import StoreError, UnknownName
from guildhall.web.guard import whole_in
from guildhall.web.site import Site

SANDBOX = "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'none'; script-src 'none'"


def files_app(site: Site) -> Starlette:
    app = Starlette(routes=[Route("/f/{token}/{name}", deliver, methods=["GET", "HEAD"])])
    app.router.redirect_slashes = False
    app.state.site = site
    return app


async def deliver(request: Request) -> Response:
    site: Site = request.app.state.site
    return await run_in_threadpool(_deliver, request, site)


def _deliver(request: Request, site: Site) -> Response:
    try:
        link = site.read_link(request.path_params["token"])
        if link is None:
            raise HTTPException(403, "this link is too old; reload the page it came from")
        found = find(site.view(link[0]), link[1])
    except (UnknownName, StoreError) as error:
        raise HTTPException(404) from error
    if found is None:
        raise HTTPException(404)
    digest, media_type, inline = found
    return _bytes(site.blobs.path(digest), media_type, name=request.path_params["name"], inline=inline)


def find(view: BlindedView, what: str) -> tuple[Digest, str, bool] | None:
    """What a link means: `A.1` the file, `A.1.p3` its third page, `A.1.t` its text; `R` stands for references."""
    place, _, rest = what.partition(".")
    number, _, part = rest.partition(".")
    files = (
        view.reference_files if place == "R" else next((side.files for side in view.sides if side.place == place), ())
    )
    chosen = whole_in(number, len(files))
    return _part(files[chosen - 1], part) if chosen else None


def _part(file: BlindedFile, part: str) -> tuple[Digest, str, bool] | None:
    if part == "t":
        return (file.text, "text/plain; charset=utf-8", True) if file.text else None
    if part.startswith("p") and (page := whole_in(part[1:], len(file.pages))):
        return file.pages[page - 1].image, "image/png", True
    if part == "" and file.digest:
        # The type is ours, never one that a name claims. What no browser shows or plays itself is a download.
        row = kept_kind(file.copied_as).row
        return file.digest, row.media_type if row.inline else "application/octet-stream", row.inline
    return None


class _WithoutMarks(FileResponse):
    """A file or a range of it, with no mark by which a client could ask whether it has changed.

    Whoever sends a mark all the same (`If-Range`) holds one that is not ours, and gets the whole file.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent = scope["headers"]
        if any(name == b"if-range" for name, _ in sent):
            sent = [(name, value) for name, value in sent if name not in {b"range", b"if-range"}]
        await super().__call__({**scope, "headers": sent}, receive, send)


def _bytes(path: Path, media_type: str, *, name: str, inline: bool) -> Response:
    response = _WithoutMarks(
        path,
        media_type=media_type,
        filename=_plain(name),
        content_disposition_type="inline" if inline else "attachment",
        stat_result=path.stat(),
    )
    # When a file was kept, and which file it is, would let graders compare notes.
    for header in ("last-modified", "etag"):
        del response.headers[header]
    response.headers["Content-Security-Policy"] = SANDBOX
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    response.headers["Cache-Control"] = "private, max-age=3600"
    return response


def _plain(name: str) -> str:
    """The name in the link is decoration; only harmless characters of it reach a header."""
    return "".join(char for char in name if char.isalnum() or char in " .-_()")[:120] or "file"
