"""Metrics of one process for Prometheus: how many, how long, how many failed, of each kind of work.

Labels come from closed sets (routes, kinds, errands), and a label that does not is cut to its first values, so that the
number of series stays small however long a server runs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
)

from guildhall.observe.spans import Doing, Facts

MOST_VALUES = 50
"""Values of one label that are told apart; the rest is counted as `other`."""
FAST_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.5, 5.0, 10.0)
SLOW_S = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
_MEASURED: dict[Doing, tuple[str, str, tuple[float, ...]]] = {
    Doing.ERRAND: ("errand", "Background work by kind.", SLOW_S),
    Doing.ITEM: ("engine_item", "Batches of engine work by kind.", SLOW_S),
    Doing.CALL: ("model_call", "Model calls made by this process, by model.", SLOW_S),
    Doing.RENDER: ("render", "Files made visible by this process, by kind of file.", SLOW_S),
    Doing.TRANSACTION: ("store_transaction", "Writing transactions.", FAST_S),
}
_LABEL = {Doing.ERRAND: "errand", Doing.ITEM: "kind", Doing.CALL: "model", Doing.RENDER: "kind"}


@dataclass
class Bounded:
    """The values of one label that are told apart: those that came first."""

    most: int = MOST_VALUES
    known: set[str] = field(default_factory=set)

    def of(self, value: str) -> str:
        if value in self.known or len(self.known) < self.most:
            self.known.add(value)
            return value
        return "other"


class Metrics:
    """What this process has done. It hears of work as a listener of spans; requests are told by the web's own door."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self.registry)
        self.requests = Counter(
            "guildhall_http_requests", "Requests answered.", ["method", "route", "status"], registry=self.registry
        )
        self.request_seconds = Histogram(
            "guildhall_http_request_seconds", "Time to answer.", ["route"], buckets=FAST_S, registry=self.registry
        )
        self.open_requests = Gauge(
            "guildhall_http_requests_in_progress", "Requests being answered.", registry=self.registry
        )
        self.worker_restarts = Counter(
            "guildhall_worker_restarts", "The worker beside this server ended by itself.", registry=self.registry
        )
        self._work = {doing: _Work(self.registry, doing) for doing in _MEASURED}

    @contextmanager
    def during(self, doing: Doing, facts: Facts) -> Iterator[None]:
        work = self._work.get(doing)
        if work is None:
            yield
        else:
            with work.measured(facts):
                yield


class _Work:
    """One kind of work: a histogram of how long, how many are under way, and how many failed."""

    def __init__(self, registry: CollectorRegistry, doing: Doing) -> None:
        name, words, buckets = _MEASURED[doing]
        self._label, self._values = _LABEL.get(doing), Bounded()
        labels = [self._label] if self._label else []
        self._seconds = Histogram(f"guildhall_{name}_seconds", words, labels, buckets=buckets, registry=registry)
        self._failures = Counter(f"guildhall_{name}_failures", f"Failed. {words}", labels, registry=registry)
        self._open = Gauge(f"guildhall_{name}s_in_progress", f"Under way. {words}", registry=registry)

    @contextmanager
    def measured(self, facts: Facts) -> Iterator[None]:
        labels = {self._label: self._values.of(str(facts.get(self._label, "unknown")))} if self._label else {}
        seconds = self._seconds.labels(**labels) if labels else self._seconds
        failures = self._failures.labels(**labels) if labels else self._failures
        started = time.monotonic()
        with self._open.track_inprogress():
            try:
                yield
            except BaseException:
                failures.inc()
                raise
            finally:
                seconds.observe(time.monotonic() - started)
