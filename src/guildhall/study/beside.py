"""A second process for what a large report computes and draws meanwhile: Python itself does one thing at a time."""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

LARGE = 100_000
"""From so many rows on a second process is worth its start."""
P = ParamSpec("P")
Found = TypeVar("Found")


class AtOnce(Executor):
    """Does in this process, and at once, what it is given."""

    def submit(self, function: Callable[P, Found], /, *args: P.args, **kwargs: P.kwargs) -> Future[Found]:
        done: Future[Found] = Future()
        done.set_result(function(*args, **kwargs))
        return done


@contextmanager
def second_hand(n_rows: int) -> Iterator[Executor]:
    """Where work may be given to be done meanwhile, and its result asked for later."""
    if n_rows < LARGE:
        yield AtOnce()
        return
    # Forking a process that runs threads can deadlock the child, so it starts clean.
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@contextmanager
def nothing_collected() -> Iterator[None]:
    """A report makes millions of values and no circles of them; looking for circles would take a fifth of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
