"""`/metrics` for Prometheus, from a port of its own: the figures of this process and of its workspace.

A port that no proxy knows of cannot be reached by visitors. It is loopback, or it asks for a token.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from guildhall.errors import InputError, StoreError
from guildhall.store.figures import Gauge, figures
from guildhall.store.records import Store
from guildhall.web.pulse import Pulse

TOKEN = "GUILDHALL_METRICS_TOKEN"  # noqa: S105 - the name of the variable that holds it
logger = logging.getLogger(__name__)
LONGEST_S = 8.0
"""Prometheus waits ten seconds; figures of a large workspace may take some of them."""
LEAST_AGE_S, SHARE = 10.0, 0.02
"""Figures are asked for again when they are this old, and never so often that counting takes more than this share."""


@dataclass(frozen=True)
class MetricsAt:
    """Where metrics are served; beyond loopback only to whoever shows the token."""

    host: str
    port: int
    token: str | None = None

    @classmethod
    def parse(cls, address: str, environment: Mapping[str, str] = os.environ) -> MetricsAt:
        """`8462`, `127.0.0.1:8462` or `0.0.0.0:8462`; the token comes from the environment."""
        host, _, port = address.rpartition(":")
        host, token = host.strip("[]") or "127.0.0.1", environment.get(TOKEN) or None
        if not port.isdecimal() or int(port) > 65535:
            raise InputError(f"{address!r} is no address for metrics; give a port or HOST:PORT, such as 127.0.0.1:8462")
        if not _is_loopback(host) and token is None:
            raise InputError(f"metrics at {host} can be read from other machines: set {TOKEN} to ask for a token there")
        return cls(host, int(port), token)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(eq=False)
class WorkspaceFigures(Collector):
    """The workspace's figures, counted at most every few seconds however often they are asked for."""

    store: Store
    clock: Callable[[], float] = time.time
    folder: Path | None = None
    _kept: list[Gauge] = field(default_factory=list)
    _until: float = 0.0
    _up: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._pulse = Pulse(lambda: figures(self.store, now=self.clock()), longest_s=LONGEST_S)

    def collect(self) -> Iterable[Metric]:
        with self._lock:
            self._refresh()
            yield GaugeMetricFamily("guildhall_database_up", "Whether the database answers.", value=float(self._up))
            if self.folder is not None:
                disk = shutil.disk_usage(self.folder)
                words = "Free share of the disk under the workspace's folder."
                yield GaugeMetricFamily("guildhall_workspace_disk_free_ratio", words, value=disk.free / disk.total)
            yield from _families(self._kept)

    def _refresh(self) -> None:
        started = time.monotonic()
        if started < self._until:
            return
        try:
            found = self._pulse.felt()
        except (SQLAlchemyError, StoreError):
            found = None
        self._kept, self._up = found or [], found is not None  # yesterday's figures would look like today's
        took = time.monotonic() - started
        self._until = started + max(LEAST_AGE_S, took / SHARE)


def _families(found: Iterable[Gauge]) -> Iterator[Metric]:
    sums: dict[str, dict[tuple[str, ...], float]] = {}
    first: dict[str, Gauge] = {}
    for one in found:
        first.setdefault(one.name, one)
        series = sums.setdefault(one.name, {})
        key = tuple(one.labels.values())
        series[key] = series.get(key, 0.0) + one.value
    for name, series in sums.items():
        kind = CounterMetricFamily if first[name].grows else GaugeMetricFamily
        family = kind(f"guildhall_workspace_{name}", first[name].words, labels=list(first[name].labels))
        for key, value in series.items():
            family.add_metric(list(key), value)
        yield family


def metrics_app(registry: CollectorRegistry, *, token: str | None) -> Starlette:
    """One page, for whoever shows the token where there is one."""

    def show(request: Request) -> Response:
        given = request.headers.get("authorization", "").removeprefix("Bearer ").encode()
        if token is not None and not hmac.compare_digest(given, token.encode()):
            return PlainTextResponse("show the token\n", 401, {"WWW-Authenticate": "Bearer"})
        return Response(generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    return Starlette(routes=[Route("/metrics", show)])


@contextmanager
def serving_metrics(at: MetricsAt, registry: CollectorRegistry) -> Iterator[None]:
    """Answer for as long as the work goes on, in a thread of its own: also while the rest is busy."""
    config = uvicorn.Config(
        metrics_app(registry, token=at.token),
        host=at.host,
        port=at.port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=_run, args=(server, at), name="metrics", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(timeout=5)


def _run(server: uvicorn.Server, at: MetricsAt) -> None:
    try:
        server.run()
    except SystemExit:  # how uvicorn tells that a port is taken
        logger.error("metrics are not served: %s:%d cannot be listened on", at.host, at.port)
