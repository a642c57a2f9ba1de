"""Faults of the web app: a server killed under its graders, two servers on one workspace."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import httpx

from guildhall.store.workspace import Workspace
from guildhall.web.serving import serve
from guildhall.web.site import Addresses, Site
from tests.grading.halls import MANY
from tests.torture.faults import Scene
from tests.torture.ground import GRADERS, Child
from tests.waiting import answers, until
from tests.web.live import free_port

REASON = "The totals agree and the other ones do not."


class Server:
    """The web app in a process of its own."""

    def __init__(self, scene: Scene) -> None:
        self.port, files_port = free_port(), free_port()
        addresses = Addresses(f"http://localhost:{self.port}", f"http://files.localhost:{files_port}")
        address = scene.ground.address

        def run(_say: Callable[[str], None]) -> None:
            with Workspace.at_address(address) as workspace:
                serve(workspace, bind="127.0.0.1", port=self.port, files_port=files_port, addresses=addresses)

        self.child = Child(run, lambda: None)

    def wait_until_ready(self) -> None:
        until(lambda: answers(f"http://127.0.0.1:{self.port}/readyz"))


Sheet = tuple[str, str, str]
"""A seat before a drafted verdict, and its grader's cookie and form token."""


def _sheets(scene: Scene, number: int) -> list[Sheet]:
    """Every grader of the round sits before a verdict, ready to press the button."""
    now = time.time()
    with Workspace.at_address(scene.ground.address) as workspace:
        site = Site(workspace, Addresses("http://localhost:1", "http://files.localhost:2"))
        sheets = []
        for member in GRADERS:
            seat = site.queue.claim(member, study=f"s-{number}", design=MANY, now=now)
            cookie = site.door.open_session(member.id, now=now)
            session = site.door.session(cookie, now=now)
            assert seat is not None and session is not None
            site.queue.mark_brief_read(seat.id, now=now)
            draft = json.dumps({"overall": "A", "reason": REASON})
            site.queue.save(seat.id, draft, version=0, now=now, lease_s=3600)
            sheets.append((seat.id, cookie, session.form_token))
    return sheets


def _press(scene: Scene, number: int, port: int, sheet: Sheet) -> bool:
    """Press the button; whether the receipt was promised."""
    seat, cookie, token = sheet
    data = {"form_token": token, "submit_key": f"s-{number}-{seat}", "guess": "cannot tell"}
    headers = {"cookie": f"guildhall={cookie}"}
    try:
        answer = httpx.post(f"http://127.0.0.1:{port}/sets/{seat}/submit", data=data, headers=headers, timeout=30)
    except httpx.HTTPError:
        return False
    return answer.status_code == 303 and answer.headers["location"].endswith("/receipt")


def _acknowledge(scene: Scene, sheets: list[Sheet]) -> None:
    """What a grader was promised counts as acknowledged; the seat knows its judgment."""
    with Workspace.at_address(scene.ground.address) as workspace:
        queue = Site(workspace, Addresses("http://localhost:1", "http://files.localhost:2")).queue
        for seat, _, _ in sheets:
            judgment = queue.seat(seat).judgment
            assert judgment is not None, "a promised judgment is lost"
            scene.ground.acknowledged.add(f"judgment {judgment}")


def server_killed(scene: Scene, number: int) -> None:
    sheets, server = _sheets(scene, number), Server(scene)
    server.wait_until_ready()
    promised: list[Sheet] = []
    with ThreadPoolExecutor(len(sheets)) as pool:
        presses = {pool.submit(_press, scene, number, server.port, sheet): sheet for sheet in sheets}
        time.sleep(scene.rng.uniform(0.0, 0.15))
        server.child.signal(signal.SIGKILL)
        promised = [sheet for press, sheet in presses.items() if press.result()]
    server.child.wait()
    _acknowledge(scene, promised)


def two_servers(scene: Scene, number: int) -> None:
    """Every button is pressed on both servers at the same time."""
    sheets, servers = _sheets(scene, number), [Server(scene), Server(scene)]
    for server in servers:
        server.wait_until_ready()
    with ThreadPoolExecutor(2 * len(sheets)) as pool:
        presses = [(pool.submit(_press, scene, number, one.port, sheet), sheet) for sheet in sheets for one in servers]
        assert all(press.result() for press, _ in presses)
    for server in servers:
        server.child.signal(signal.SIGTERM)
        server.child.wait()
    _acknowledge(scene, sheets)


SERVERS: Mapping[str, Callable[[Scene, int], None]] = {"server killed": server_killed, "two servers": two_servers}
