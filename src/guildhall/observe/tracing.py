"""Traces by OpenTelemetry: off unless its standard variables ask for them, silent where the extra is not installed.

`OTEL_TRACES_EXPORTER` (otlp, console, none) or an `OTEL_EXPORTER_OTLP_ENDPOINT` switches them on, `OTEL_SDK_DISABLED`
off; service name, headers, sampling and the rest are read by OpenTelemetry itself.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from guildhall.observe.redact import redact

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

    from guildhall.observe.spans import Doing, Facts

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_INSTALL = "pip install 'guildhall[observe]'"
logger = logging.getLogger(__name__)


def wanted_exporter(environment: Mapping[str, str]) -> str | None:
    """Which exporter the standard variables ask for; None when they ask for no traces."""
    if environment.get("OTEL_SDK_DISABLED", "").casefold() == "true":
        return None
    named = environment.get("OTEL_TRACES_EXPORTER", "")
    chosen = named or ("otlp" if any(environment.get(name) for name in ENDPOINTS) else "none")
    return None if chosen == "none" else chosen


def tracer_from_environment() -> Tracer | None:
    """A tracer when the environment asks for one. What keeps it from working is told, and never stops the work."""
    chosen = wanted_exporter(os.environ)
    if chosen is None:
        return None
    try:
        exporter = _exporter(chosen)
        if exporter is None:
            logger.warning("traces are off: OTEL_TRACES_EXPORTER=%s is not supported; use otlp or console", chosen)
            return None
        return Tracer(_provider(exporter))
    except ImportError:
        logger.warning("traces are off: OpenTelemetry is not installed; %s", _INSTALL)
        return None


def _exporter(chosen: str) -> SpanExporter | None:
    if chosen == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter(out=sys.stderr)
    if chosen == "otlp":
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        return OTLPSpanExporter()
    return None


def _provider(exporter: SpanExporter) -> TracerProvider:
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    # The variables win over what is given here; at the end of the process what waits is sent.
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: "guildhall"}
    provider = TracerProvider(resource=Resource.create(named))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


class Tracer:
    """Makes a span of every piece of work. An exception is told by its kind and its words without keys."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("guildhall")

    @contextmanager
    def during(self, doing: Doing, facts: Facts) -> Iterator[None]:
        from opentelemetry.trace import Status, StatusCode

        with self._tracer.start_as_current_span(
            doing.value, record_exception=False, set_status_on_exception=False
        ) as current:
            try:
                yield
            except BaseException as error:
                words = f"{type(error).__name__}: {redact(str(error))}"
                current.set_status(Status(StatusCode.ERROR, words[:300]))
                raise
            finally:
                current.set_attributes({f"guildhall.{name}": value for name, value in facts.items()})

    def close(self) -> None:
        self._provider.shutdown()
