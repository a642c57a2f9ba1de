"""A running Guildhall for tests: both origins on free loopback ports, a clock one can move, stop and start again."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import httpx

from guildhall.domain.halls import Member, Role, WayIn
from guildhall.store.workspace import Workspace
from guildhall.web.app import create_app
from guildhall.web.connections import ConnectionLimits, Connections, limits_here
from guildhall.web.files import files_app
from guildhall.web.serving import server_of, together
from guildhall.web.site import Addresses, Site
from tests.waiting import client, until


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Live:
    """One workspace, served. `skew_s` moves the site's clock."""

    path: Path
    port: int = field(default_factory=free_port)
    files_port: int = field(default_factory=free_port)
    skew_s: float = 0.0
    limits: ConnectionLimits = field(default_factory=limits_here)
    visitors: list[Visitor] = field(default_factory=list)

    def start(self) -> Self:
        self.workspace = Workspace.open(self.path)
        addresses = Addresses(f"http://localhost:{self.port}", f"http://files.localhost:{self.files_port}")
        self.site = Site(self.workspace, addresses, clock=lambda: time.time() + self.skew_s)
        self.connections = Connections(self.limits)
        self._servers = [
            server_of(app, "127.0.0.1", port, self.connections)
            for app, port in ((create_app(self.site), self.port), (files_app(self.site), self.files_port))
        ]
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        until(lambda: all(server.started for server in self._servers))
        return self

    async def _serve(self) -> None:
        await together(self._servers, self.connections)

    def stop(self) -> None:
        for server in self._servers:
            server.should_exit = True
        self._thread.join()
        for visitor in self.visitors:
            visitor.close()
        self.visitors.clear()
        self.workspace.close()

    @property
    def address(self) -> str:
        return self.site.addresses.app

    def invite(
        self, role: Role = Role.GRADER, *, occupations: tuple[str, ...] = ("Editors",), **more: object
    ) -> Member:
        from secrets import token_hex

        name = token_hex(4)
        member = Member(id=name, code_name=f"grader-{name}", role=role, occupations=occupations, **more)
        return self.site.roster.invite(member, personal={"name": f"Person {name}"})

    def link(self, member: Member) -> str:
        return f"{self.address}/enter/{self.site.door.new_link(member.id, now=self.site.clock())}"

    def client(self, member: Member | None = None, *, entry: WayIn | None = WayIn.PASSKEY) -> Visitor:
        """A plain HTTP visitor, inside already when a member is given."""
        visitor = Visitor(self)
        self.visitors.append(visitor)
        if member is not None:
            visitor.http.cookies.set(
                "guildhall", self.site.door.open_session(member.id, now=self.site.clock(), entry=entry)
            )
        return visitor


class Visitor:
    """A browser without JavaScript: keeps cookies, sends the token of the last page it saw."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.http = client(f"http://localhost:{live.port}")
        self.bare = client()

    def get(self, path: str, **more: object) -> httpx.Response:
        return self.http.get(path, **more)  # type: ignore[arg-type]

    @property
    def token(self) -> str:
        session = self.live.site.door.session(self.http.cookies.get("guildhall"), now=self.live.site.clock())
        return session.form_token if session else ""

    def post(self, path: str, data: dict[str, str] | None = None, **more: object) -> httpx.Response:
        return self.http.post(path, data={"form_token": self.token} | (data or {}), **more)  # type: ignore[arg-type]

    def file(self, link: str, headers: dict[str, str] | None = None) -> httpx.Response:
        """A deliverable from its own origin, reached by address since the name resolves in browsers only."""
        url = httpx.URL(link)
        sent = {"host": f"{url.host}:{url.port}"} | (headers or {})
        return self.bare.get(url.copy_with(host="127.0.0.1"), headers=sent)

    def close(self) -> None:
        self.http.close()
        self.bare.close()
