"""Running the app: two servers in one process, one for pages and one for deliverables, ended together."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import uvicorn
from starlette.types import ASGIApp

from guildhall.errors import MachineRefused
from guildhall.store.workspace import Workspace
from guildhall.web.app import create_app
from guildhall.web.connections import BoundedConfig, Connections, limits_here, proxies_named
from guildhall.web.files import files_app
from guildhall.web.observing import Observed, measuring
from guildhall.web.site import Addresses, Site
from guildhall.web.stopping import STOP_WITHIN_S, end_at_last, stop_signals
from guildhall.web.worker import worker_beside

if TYPE_CHECKING:
    from guildhall.web.metrics import MetricsAt

APP_PORT, FILES_PORT = 8460, 8461
logger = logging.getLogger(__name__)


def serve(
    workspace: Workspace,
    *,
    bind: str,
    port: int,
    files_port: int,
    addresses: Addresses,
    ready: Callable[[Site], None] = lambda _site: None,
    with_worker: bool = True,
    metrics_at: MetricsAt | None = None,
    stop_within_s: float = STOP_WITHIN_S,
    trusted_proxies: Sequence[str] = (),
) -> None:
    """Serve until told to stop. Open requests are finished first; nothing acknowledged is ever lost.

    A worker runs beside, in its own process, unless one is started by other means. Both get `stop_within_s` to end what
    they have begun. What `X-Forwarded-For` says is believed from `trusted_proxies` alone.
    """
    site = Site(workspace, addresses)
    connections = Connections(limits_here(), proxies=proxies_named(trusted_proxies))
    with ExitStack() as around:
        metrics = around.enter_context(measuring(site, metrics_at)) if metrics_at else None
        listening = [around.enter_context(_listening(bind, number)) for number in (port, files_port)]
        servers = [
            server_of(
                Observed(app, metrics=metrics), bind, number, connections, proxies=trusted_proxies, stop_s=stop_within_s
            )
            for app, number in ((create_app(site), port), (files_app(site), files_port))
        ]
        worker = None
        if with_worker:
            again = metrics.worker_restarts.inc if metrics else lambda: None
            worker = around.enter_context(worker_beside(site, stop_within_s=stop_within_s, on_restart=again))

        def stop() -> None:
            logger.info("stopping: open requests are finished, new ones refused")
            for server in servers:
                server.should_exit = True
            if worker is not None:
                worker.terminate()
            end_at_last(stop_within_s)

        def hurry() -> None:
            for server in servers:
                server.force_exit = True

        around.enter_context(stop_signals(stop, hurry))
        ready(site)
        asyncio.run(together(servers, connections, listening))


class _Server(uvicorn.Server):
    """A server that leaves signals to us: they are meant for all servers of this process and its worker."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def server_of(
    app: ASGIApp,
    bind: str,
    port: int,
    connections: Connections,
    *,
    proxies: Sequence[str] = (),
    stop_s: float = STOP_WITHIN_S,
) -> uvicorn.Server:
    """One server whose connections are counted and limited together with those of its neighbours."""
    return _Server(
        BoundedConfig(
            app,
            connections,
            proxies=proxies,
            host=bind,
            port=port,
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=max(1, round(stop_s)),
        )
    )


def _listening(bind: str, port: int) -> socket.socket:
    """The place to listen at, taken before anything is begun: a port in use is told by its number."""
    try:
        family = socket.AF_INET6 if ":" in bind else socket.AF_INET
        return socket.create_server((bind, port), family=family, backlog=2048)
    except OSError as error:
        fix = "end what listens there, or choose others with --port and --files-port"
        raise MachineRefused(f"{bind}:{port} cannot be listened on", str(error.strerror or error), fix=fix) from error


async def together(
    servers: Sequence[uvicorn.Server], connections: Connections, listening: Sequence[socket.socket] | None = None
) -> None:
    """Serve until one of them ends; then all do. Where places to listen at are given, there."""
    watch = asyncio.create_task(connections.watch())
    places = [[place] for place in listening] if listening is not None else [None for _ in servers]
    tasks = [asyncio.create_task(server.serve(sockets=place)) for server, place in zip(servers, places, strict=True)]
    await asyncio.wait([*tasks, watch], return_when=asyncio.FIRST_COMPLETED)
    for server in servers:
        server.should_exit = True
    await asyncio.gather(*tasks)
    watch.cancel()
