"""Running the app: two servers in one process, one for pages and one for deliverables, ended together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import nullcontext

import uvicorn

from guildhall.store.workspace import Workspace
from guildhall.web.app import create_app
from guildhall.web.files import files_app
from guildhall.web.site import Addresses, Site
from guildhall.web.worker import worker_beside

APP_PORT, FILES_PORT = 8460, 8461


def serve(
    workspace: Workspace,
    *,
    bind: str,
    port: int,
    files_port: int,
    addresses: Addresses,
    ready: Callable[[Site], None] = lambda _site: None,
    with_worker: bool = True,
) -> None:
    """Serve until interrupted. Open requests are finished first; nothing acknowledged is ever lost.

    A worker runs beside, in its own process, unless one is started by other means.
    """
    site = Site(workspace, addresses)
    servers = [
        uvicorn.Server(
            uvicorn.Config(app, host=bind, port=number, log_level="warning", server_header=False, date_header=False)
        )
        for app, number in ((create_app(site), port), (files_app(site), files_port))
    ]
    with worker_beside(site) if with_worker else nullcontext():
        ready(site)
        asyncio.run(_together(servers))


async def _together(servers: list[uvicorn.Server]) -> None:
    tasks = [asyncio.create_task(server.serve()) for server in servers]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for server in servers:
        server.should_exit = True
    await asyncio.gather(*tasks)
