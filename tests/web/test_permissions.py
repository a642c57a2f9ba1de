"""Every address, as everybody: what is not one's own does not exist, no form counts unasked, no answer leads astray."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest

from guildhall.domain.halls import Role
from guildhall.store.access import passkeys
from guildhall.store.workspace import Workspace
from guildhall.web.access import SCOPES
from guildhall.web.permissions import OPEN, Permission, permissions
from guildhall.web.rendering import TEMPLATES
from tests.web.calling import new_grading
from tests.web.live import Live, Visitor
from tests.web.studies import make_task, open_study

EVERY = permissions()
PAGES = [one for one in EVERY if one.roles]
FORMS = [one for one in PAGES if one.method == "POST" and one.path != "/leave"]
OPERATIONS = [one for one in EVERY if one.scope]
FIELDS = {
    name
    for page in TEMPLATES.glob("*.html")
    for name in re.findall(r'name="([\w-]+)"', page.read_text(encoding="utf-8"))
}
"""Every field any form has."""
HOSTILE = (
    "//evil.invalid/x",
    "../../guildhall.key",
    "a\r\nSet-Cookie: a=b",
    "\x00",
    "\ud7ff\U0010ffff",
    "x" * 2000,
    "'; --",
)

LEADS_AWAY = re.compile(r'\b(?!value\b)[\w-]+="//evil')
"""An attribute that begins with the hostile address, unless it is what a field shows as typed."""


def named(one: Permission) -> str:
    return f"{one.method} {one.path}"


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    path = tmp_path_factory.mktemp("permissions") / "workspace"
    with Workspace.create(path) as workspace:
        open_study(workspace, [make_task(number) for number in range(3)])
    served = Live(path).start()
    yield served
    served.stop()


@pytest.fixture(scope="module")
def insiders(hall: Live) -> dict[Role, Visitor]:
    return {role: hall.client(hall.invite(role)) for role in Role}


def address(one: Permission, value: str) -> str:
    """The address with every part that is open in it set to a value."""
    parts = [quote(value, safe="") if part.startswith("{") else part for part in one.path.split("/")]
    return "/".join(parts)


def call(visitor: Visitor, one: Permission, path: str, **more: object) -> httpx.Response:
    if one.method == "GET":
        return visitor.get(path)
    return visitor.http.post(path, **more)  # type: ignore[arg-type]


def test_an_address_names_its_roles_or_its_scope_or_says_why_it_is_open() -> None:
    unsaid = {one.path for one in EVERY if one.open} ^ set(OPEN)
    assert not unsaid, f"say in guildhall.web.permissions.OPEN why these are open to everybody: {sorted(unsaid)}"


@pytest.mark.parametrize("one", FORMS, ids=named)
def test_no_form_counts_without_its_token_or_from_another_site(
    hall: Live, insiders: dict[Role, Visitor], one: Permission
) -> None:
    visitor, other = insiders[one.roles[0]], hall.client(hall.invite(one.roles[0]))
    path = address(one, "none")
    for given in ({}, {"form_token": ""}, {"form_token": other.token}):
        assert call(visitor, one, path, data=given).status_code == 403, given
    genuine = {"form_token": visitor.token}
    for header in (
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://evil.invalid"},
    ):
        assert call(visitor, one, path, data=genuine, headers=header).status_code == 403, header


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_whatever_stands_in_an_address_or_a_form_nothing_breaks_and_nobody_is_led_astray(
    insiders: dict[Role, Visitor], value: str
) -> None:
    for one in PAGES:
        if one.path == "/leave" or (one.method == "GET" and "{" not in one.path):
            continue
        visitor = insiders[one.roles[0]]
        typed = dict.fromkeys(FIELDS, value) | {"role": "grader", "form_token": visitor.token}
        answer = call(visitor, one, address(one, value), data=typed)
        where = answer.headers.get("location", "/")
        assert answer.status_code < 500, named(one)
        assert where.startswith("/") and not where.startswith(("//", "/\\")), named(one)
        assert "set-cookie" not in answer.headers and not LEADS_AWAY.search(answer.text), named(one)


@pytest.fixture(scope="module")
def possessions(hall: Live) -> dict[str, str]:
    """Something of every kind that belongs to one person: part of an address -> its value."""
    grader, author = hall.client(hall.invite(Role.GRADER)), hall.client(hall.invite(Role.AUTHOR))
    owner = hall.invite(Role.MANAGER)
    with hall.site.store.transaction() as connection:
        row = {"credential": "owned", "member": owner.id, "public_key": b"k", "sign_count": 0, "added_at": 1.0}
        connection.execute(passkeys.insert().values(**row))
    seat = grader.post("/sets/claim").headers["location"].split("/")[2]
    task = author.post("/tasks/new").headers["location"].split("/")[2]
    return {"{seat}": seat, "{task}": task, "{passkey}": "owned", "{comment}": "0" * 64, "{file}": "A.1"}


@pytest.mark.parametrize("one", [one for one in PAGES if one.own and "{" in one.path], ids=named)
def test_what_belongs_to_another_of_the_same_role_does_not_exist(
    hall: Live, possessions: dict[str, str], one: Permission
) -> None:
    role = Role.AUTHOR if one.path.startswith("/tasks/") else one.roles[0]
    visitor, path = hall.client(hall.invite(role)), one.path
    for part, value in possessions.items():
        path = path.replace(part, value)
    assert "{" not in path, f"{path}: say in this test what it is, so that its owner can be told from others"
    assert call(visitor, one, path, data={"form_token": visitor.token}).status_code == 404


def bearer(hall: Live, *scopes: str) -> dict[str, str]:
    maker = hall.invite(Role.MANAGER)
    made = hall.site.door.new_api_token(maker.id, name=f"t-{maker.id}", scopes=scopes, now=hall.site.clock())
    return {"Authorization": f"Bearer {made}"}


@pytest.mark.parametrize("one", OPERATIONS, ids=named)
def test_an_operation_takes_a_token_with_its_scope_and_nothing_else(
    hall: Live, insiders: dict[Role, Visitor], one: Permission
) -> None:
    path, manager = address(one, "study"), insiders[Role.MANAGER]
    ask = manager.http.request
    assert ask(one.method, path).status_code == 401, "a session is no token"
    assert ask(one.method, path, headers={"Authorization": "Bearer gh_made-up"}).status_code == 401
    assert ask(one.method, path, headers={"Authorization": f"Basic {manager.token}"}).status_code == 401
    assert ask(one.method, path, headers=bearer(hall, *(set(SCOPES) - {str(one.scope)}))).status_code == 403
    assert ask(one.method, path, headers=bearer(hall, str(one.scope))).status_code not in {401, 403, 500}


def test_a_grading_of_another_token_of_the_same_maker_does_not_exist(hall: Live) -> None:
    maker = hall.invite(Role.MANAGER)
    mine, other = (
        {"Authorization": f"Bearer {made}"}
        for made in (
            hall.site.door.new_api_token(maker.id, name=name, scopes=SCOPES, now=hall.site.clock()) for name in "ab"
        )
    )
    path = f"/api/v1/gradings/{new_grading(hall.site, mine)}"
    assert hall.client().get(path, headers=mine).status_code == 200
    assert hall.client().get(path, headers=other).status_code == 404
