"""A crawl as a grader: every page, form, file, header and error that can be reached, each byte searched for needles."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import httpx

from tests.documents.leaks import inside
from tests.web.live import Live, Visitor

_LINK = re.compile(r'(?:href|src|action|data-src)="([^"]+)"')


@dataclass
class Crawl:
    """What was asked for and where a needle was found."""

    visitor: Visitor
    needles: tuple[str, ...]
    responses: int = 0
    size: int = 0
    words_over_pages: int = 0
    found: list[str] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)
    _clean: set[bytes] = field(default_factory=set)

    def look(self, response: httpx.Response, where: str) -> httpx.Response:
        self.responses += 1
        self.size += len(response.content)
        self.words_over_pages += response.content.count(b'<svg class="page-words"')
        told = "\n".join(f"{name}: {value}" for name, value in response.headers.items()).encode()
        for part, data in (("body", response.content), ("headers", told), ("address", str(response.url).encode())):
            self.found += [f"{needle!r} at {where}, {part}" for needle in self._search(data)]
        return response

    def _search(self, data: bytes) -> list[str]:
        mark = hashlib.sha256(data).digest()
        if mark in self._clean:
            return []
        everything = b"\n".join(unpacked(data)).lower()
        found = [needle for needle in self.needles if any(form in everything for form in forms(needle))]
        if not found:
            self._clean.add(mark)
        return found

    def page(self, path: str) -> str:
        """A page and everything it links to or shows."""
        response = self.look(self.visitor.get(path), path)
        text = response.text
        for link in {html.unescape(one) for one in _LINK.findall(text)}:
            self._follow(link)
        return text

    def _follow(self, link: str) -> None:
        if link in self._seen or link.startswith("#"):
            return
        self._seen.add(link)
        if link.startswith(self.visitor.live.site.addresses.files):
            self.look(self.visitor.file(link), "a file link")
            self.look(self.visitor.file(link + "x"), "a file under another name")
            self.look(self.visitor.file(re.sub(r"/f/([^/]+)/", r"/f/\1x/", link)), "a broken file link")
        elif link.startswith("/") and not link.startswith(("/leave", "/enter")):
            self.look(self.visitor.get(link), link)

    def post(self, path: str, data: dict[str, str]) -> httpx.Response:
        return self.look(self.visitor.post(path, data), f"POST {path}")


def unpacked(data: bytes, depth: int = 0) -> Iterator[bytes]:
    """The bytes, and what is packed in them, however deep."""
    yield data
    if depth < 6:
        for name, inner in inside(data):
            yield name.encode()
            yield from unpacked(inner, depth + 1)


def forms(needle: str) -> Iterator[bytes]:
    """A needle as it could be written: plain, in UTF-16, in hex."""
    lowered = needle.lower()
    yield from (lowered.encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be"))
    yield lowered.encode().hex().encode()


REASON = "It follows the brief and its totals agree with the ledger."


def grade_everything(live: Live, crawl: Crawl) -> int:
    """Take set after set until nothing is left, looking at every page on the way; the number of sets graded."""
    graded = 0
    for rating in ("", "1"):
        while True:
            claimed = crawl.post("/sets/claim", {"rating": rating})
            place = claimed.headers["location"]
            if "nothing" in place:
                break
            seat = place.split("/")[2]
            crawl.page(place)
            crawl.page(f"/sets/{seat}/brief?aware=1")
            crawl.post(f"/sets/{seat}/brief", {})
            crawl.page(f"/sets/{seat}")
            _judge(crawl, seat, rating=bool(rating))
            graded += 1
    for path in ("/", "/sets", "/sets?nothing=1", *errors(live)):
        crawl.page(path)
    return graded


def _judge(crawl: Crawl, seat: str, *, rating: bool) -> None:
    if rating:
        crawl.post(f"/sets/{seat}/severity", {})
        crawl.post(f"/sets/{seat}/severity", {"severity": "bad", "reason": REASON})
    else:
        answers = {"overall": "A", "reason": REASON, "note-A.1.1": "a note"}
        ranks = {f"rank-{place}": str(number) for number, place in enumerate("ABCDEF", 1)}
        crawl.post(f"/sets/{seat}/draft", answers | ranks | {"draft_version": "0", "next": "review"})
        crawl.post(f"/sets/{seat}/draft", answers | {"draft_version": "0"})
        crawl.page(f"/sets/{seat}/review")
        crawl.post(f"/sets/{seat}/submit", {"guess": "nonsense"})
        crawl.post(f"/sets/{seat}/submit", {"guess": "A"})
        crawl.page(f"/sets/{seat}?amend=1")
    crawl.page(f"/sets/{seat}/receipt")


def errors(live: Live) -> Iterator[str]:
    """Pages that fail: unknown, another's, malformed, forbidden."""
    yield from (
        "/nowhere",
        "/sets/0",
        "/sets/0/brief",
        "/sets/%2e%2e/",
        "/sets/..%2f..%2fguildhall.key",
        "/static/../guildhall.key",
    )
    yield from ("/manage", "/api/v1/gradings", "/enter/none", "/sets/claim", "/static/nothing.js")
    other = live.invite()
    seat = live.site.queue.seats_of(other.id)
    yield from (f"/sets/{one.id}" for one in seat)


def needles_of(live: Live, words: Iterable[str]) -> tuple[str, ...]:
    """The words given, and every digest and key by which stored work could be told apart."""
    from guildhall.domain.judgments import Comparison
    from guildhall.domain.prepared import Prepared
    from guildhall.domain.submissions import Submission
    from guildhall.domain.tasks import Task

    store = live.workspace.store
    digests = {one.key for one in store.each(Submission)} | {one.key for one in store.each(Comparison)}
    digests |= {file.digest for one in store.each(Submission) for file in one.files if file.digest}
    digests |= {file.scrubbed for one in store.each(Prepared) for file in one.files if file.scrubbed}
    digests |= {page.image for one in store.each(Prepared) for file in one.files for page in file.pages}
    digests |= {task.content_digest() for task in store.each(Task)}
    return (*words, *sorted(digest[:16] for digest in digests))
