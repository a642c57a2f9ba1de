"""What is being done now: one mark around a piece of work, for whoever listens; it costs nothing when nobody does.

Metrics and traces are listeners. Metrics are switched on by the command that serves them. Traces are switched on by the
standard `OTEL_` variables, looked at once in each process, so that they also hold in processes that are started to
help.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from enum import StrEnum
from functools import cache
from typing import Protocol

from guildhall.observe.tracing import tracer_from_environment


class Doing(StrEnum):
    """The kinds of work that are marked: few, so that they can be names in a monitoring system."""

    REQUEST = "web request"
    ERRAND = "errand"
    ITEM = "engine item"
    CALL = "model call"
    RENDER = "render"
    TRANSACTION = "store transaction"


Facts = Mapping[str, str | int]
LateFacts = MutableMapping[str, str | int]
"""Facts to which the work itself adds what it learns, such as how it ended."""


class Listener(Protocol):
    """Hears of a piece of work when it begins and when it ends, with the exception it ended in, if any."""

    def during(self, doing: Doing, facts: Facts) -> AbstractContextManager[None]: ...


_listeners: list[Listener] = []


def span(doing: Doing, **facts: str | int) -> AbstractContextManager[LateFacts]:
    """Mark a piece of work. Facts are few and never personal: a kind, a model, a route, not a name or a path."""
    _begin_tracing()
    return _heard(doing, facts) if _listeners else nullcontext(facts)


@contextmanager
def _heard(doing: Doing, facts: LateFacts) -> Iterator[LateFacts]:
    with ExitStack() as stack:
        for listener in _listeners:
            stack.enter_context(listener.during(doing, facts))
        yield facts


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tell this listener of all work in this process, in any thread."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@cache
def _begin_tracing() -> None:
    if tracer := tracer_from_environment():
        _listeners.append(tracer)
