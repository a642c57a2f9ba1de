"""Who may open what: every address of the app with the roles or the scope it takes, read off the routes themselves.

An address that names no role must be listed here as open, with the reason; a test refuses any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.routing import Mount, Route

from guildhall.domain.halls import Role
from guildhall.web.api import gradings, studies

OPEN = {
    "/": "sends a visitor to their own first page, or to the door",
    "/enter": "the door",
    "/enter/mail": "a link by e-mail; says the same to everybody",
    "/enter/passkey": "the way in by a passkey",
    "/enter/passkey/options": "the question a passkey answers",
    "/enter/{token}": "the way in by a link, which is the key",
    "/results": "studies that were published",
    "/results/{study}": "a published study",
    "/results/{study}/pairs/{number}": "a published pair, to be judged blind",
    "/healthz": "for whoever keeps the server running",
    "/readyz": "for whoever keeps the server running",
    "/static": "our own style sheet, pictures and scripts",
}
"""Addresses without a session, and why."""

OWN = {
    "/account": "their own passkeys",
    "/sets/{seat}": "their own places",
    "/tasks/{task}": "authors: their own tasks",
    "/api/v1/gradings": "gradings this token asked for",
}
"""Where a role or a scope alone is not enough: whatever is another's does not exist."""


@dataclass(frozen=True)
class Permission:
    """One way to call one address. `roles` is empty where a token's `scope` or nothing at all is asked for."""

    method: str
    path: str
    roles: tuple[Role, ...] = ()
    scope: str | None = None

    @property
    def open(self) -> bool:
        return not self.roles and self.scope is None

    @property
    def own(self) -> str:
        """Whose things it is about, where only one's own are there."""
        if self.path.startswith("/tasks/{task}") and Role.AUTHOR not in self.roles:
            return ""
        return next((words for prefix, words in OWN.items() if self.path.startswith(prefix)), "")


def permissions() -> list[Permission]:
    """Every page and operation, in the order in which the app knows them."""
    from guildhall.web.app import routes

    found: list[Permission] = []
    for route in routes():
        if isinstance(route, Route):
            roles = tuple(getattr(route.endpoint, "roles", ()))
            found += [Permission(method, route.path, roles) for method in sorted((route.methods or set()) - {"HEAD"})]
        elif isinstance(route, Mount):
            found.append(Permission("GET", route.path))
    return [*found, *_operations(studies.router), *_operations(gradings.router)]


def _operations(router: APIRouter) -> Iterator[Permission]:
    for route in router.routes:
        if isinstance(route, APIRoute):
            [scope] = set(_scopes(route.dependant))
            for method in sorted(route.methods or ()):
                yield Permission(method, f"/api/v1{route.path}", scope=scope)


def _scopes(dependant: Dependant) -> Iterator[str]:
    for inner in dependant.dependencies:
        scope = getattr(inner.call, "scope", None)
        if isinstance(scope, str):
            yield scope
        yield from _scopes(inner)


PAGE = """\
# Who may open what

Generated from the routes by `scripts/reference.py`; a test asks every address as every role. What a role may not open
answers as if it did not exist (404); without a session one is sent to the door.

## Pages

{pages}

## Pages for everybody

{open_pages}

## The API

By token; a session opens nothing here. `/api/v1/docs` and `/api/v1/openapi.json` need none.

{operations}

Deliverables come from an origin of their own, by links that are signed for one place and grow old in twelve hours.
"""


def permissions_page() -> str:
    """The table for the reference."""
    every = permissions()
    pages = [
        [*_call(one), *("yes" if role in one.roles else "" for role in Role), one.own] for one in every if one.roles
    ]
    operations = [[*_call(one), f"`{one.scope}`", one.own] for one in every if one.scope]
    return PAGE.format(
        pages=_table([*_HEAD, *map(str, Role), "only"], pages),
        open_pages=_table(
            [*_HEAD, "why"], [[*_call(one), OPEN.get(one.path, "nobody has said")] for one in every if one.open]
        ),
        operations=_table([*_HEAD, "scope", "only"], operations),
    )


_HEAD = ("method", "address")


def _call(one: Permission) -> tuple[str, str]:
    return one.method, f"`{one.path}`"


def _table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join([_line(head), f"|{' --- |' * len(head)}", *map(_line, rows)])


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
