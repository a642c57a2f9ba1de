"""Counting what a process does, for as long as it does it. The library for it is loaded only where it is wanted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from guildhall.observe.spans import listening
from guildhall.web.site import Site

if TYPE_CHECKING:
    from guildhall.observe.metrics import Metrics
    from guildhall.web.metrics import MetricsAt


@contextmanager
def measuring(site: Site, at: MetricsAt) -> Iterator[Metrics]:
    """Count what this process does and serve the figures."""
    from guildhall.observe.metrics import Metrics
    from guildhall.web.metrics import WorkspaceFigures, serving_metrics

    metrics = Metrics()
    metrics.registry.register(WorkspaceFigures(site.store, site.clock))
    with listening(metrics), serving_metrics(at, metrics.registry):
        yield metrics
