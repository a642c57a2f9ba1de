"""Where work runs: in this process, in several, or (in `guildhall.engine.cluster`) on many machines."""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from guildhall.errors import DatabaseAway
from guildhall.observe.spans import Doing, span

logger = logging.getLogger(__name__)
_TRIES = 3
A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True)
class Ended(Generic[A, B]):
    """One argument's outcome: a value, or the error that work on it ended with."""

    argument: A
    value: B | None = None
    error: Exception | None = None

    def result(self) -> B:
        """The value; raises the error where there is one."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


@dataclass(frozen=True)
class Needs:
    """What work on one argument takes of a machine beside a core, and how many may be under way at all.

    Sandboxes and offices are reckoned with on a cluster, where machines differ.
    """

    sandboxes: int = 0
    offices: int = 0
    at_once: int | None = None

    def at_most(self, places: int) -> int:
        return places if self.at_once is None else min(places, self.at_once)


ONLY_A_CORE = Needs()


class Executor(Protocol):
    """Runs a function over arguments and yields each outcome as it ends, in any order.

    One argument's failure ends no other. The function and its arguments can be pickled; what must survive a
    crash is written to the store by the function itself, which may be run again on the same argument.
    """

    @property
    def places(self) -> int:
        """How many arguments are worked on at a time, at most."""
        ...

    def map(
        self, function: Callable[[A], B], arguments: Iterable[A], *, needs: Needs = ONLY_A_CORE
    ) -> Iterator[Ended[A, B]]: ...


class InProcess:
    """One after the other, here: nothing to start, nothing to pickle."""

    places = 1

    def map(
        self,
        function: Callable[[A], B],
        arguments: Iterable[A],
        *,
        needs: Needs = ONLY_A_CORE,  # noqa: ARG002
    ) -> Iterator[Ended[A, B]]:
        for argument in arguments:
            yield attempt(function, argument)


class Processes:
    """In `count` processes of this machine. A process that is killed takes down its own work only:

    what it held is tried again in a fresh process, up to `tries` times.
    """

    def __init__(self, count: int, *, tries: int = 3) -> None:
        self.places, self.tries = count, tries

    def map(
        self,
        function: Callable[[A], B],
        arguments: Iterable[A],
        *,
        needs: Needs = ONLY_A_CORE,
    ) -> Iterator[Ended[A, B]]:
        waiting = list(arguments)
        for remaining in range(self.tries, 0, -1):
            lost: list[A] = []
            for ended in self._round(function, waiting, needs.at_most(self.places)):
                if isinstance(ended.error, BrokenProcessPool) and remaining > 1:
                    lost.append(ended.argument)
                else:
                    yield ended
            waiting = lost
            if not waiting:
                return

    def _round(self, function: Callable[[A], B], arguments: list[A], places: int) -> Iterator[Ended[A, B]]:
        # Forking a process that runs threads can deadlock the child, so each worker starts clean.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(places, mp_context=context) as pool:
            futures: dict[Future[Any], A] = {}
            for argument in arguments:
                try:
                    futures[pool.submit(attempt, function, argument)] = argument
                except BrokenProcessPool as error:
                    yield Ended(argument, error=error)
            for future in as_completed(futures):
                try:
                    yield future.result()
                except BrokenProcessPool as error:
                    yield Ended(futures[future], error=error)


def in_order(
    executor: Executor, function: Callable[[A], B], arguments: Iterable[A], *, needs: Needs = ONLY_A_CORE
) -> list[B]:
    """What the function makes of each argument, in the arguments' order; the first error is raised."""
    numbered = list(enumerate(arguments))
    ended = executor.map(partial(_numbered, function), numbered, needs=needs)
    return [value for _, value in sorted((one.result() for one in ended), key=lambda pair: pair[0])]


def _numbered(function: Callable[[A], B], numbered: tuple[int, A]) -> tuple[int, B]:
    number, argument = numbered
    return number, function(argument)


def attempt(function: Callable[[A], B], argument: A) -> Ended[A, B]:
    """Work on one argument here, and how it ended. Where a database went away under it, it is done again."""
    for left in reversed(range(_TRIES)):
        try:
            with span(Doing.ITEM, kind=getattr(function, "__name__", "work")):
                return Ended(argument, value=function(argument))
        except Exception as error:  # noqa: BLE001 - reported with its argument, never lost
            if not left or not isinstance(error, DatabaseAway):
                return Ended(argument, error=error)
            logger.warning("%s; done again once it answers", error)
    raise AssertionError  # unreachable: the last try returns
