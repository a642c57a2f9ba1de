"""A second process for what a large report computes and draws meanwhile: Python itself does one thing at a time."""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import ParamSpec, Protocol, TypeVar

from guildhall.reports.plots.frame import to_svg

LARGE = 20_000
"""From so many comparisons on a second process is worth its start."""
P = ParamSpec("P")
Found = TypeVar("Found")


class Hand(Protocol):
    """Takes work that may be done meanwhile; what it gives back is asked for the result, once."""

    def __call__(self, work: Callable[P, Found], /, *args: P.args, **kwargs: P.kwargs) -> Callable[[], Found]: ...


def when_asked(work: Callable[P, Found], /, *args: P.args, **kwargs: P.kwargs) -> Callable[[], Found]:
    """Without a second process work is done when its result is asked for."""
    return partial(work, *args, **kwargs)


@contextmanager
def second_hand(n_comparisons: int) -> Iterator[Hand]:
    """Where work may be given. Ask for what was given last first: what is not begun by then is done by who asks."""
    if n_comparisons < LARGE:
        yield when_asked
        return
    # Forking a process that runs threads can deadlock the child, so it starts clean.
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        pool.submit(_get_ready)

        def give(work: Callable[P, Found], /, *args: P.args, **kwargs: P.kwargs) -> Callable[[], Found]:
            begun = pool.submit(work, *args, **kwargs)
            return lambda: work(*args, **kwargs) if begun.cancel() else begun.result()

        yield give


def _get_ready() -> None:
    """Load what takes long to load, the drawing program above all, while the judgments are still being read."""
    for name in ("guildhall.analysis.breakdown", "guildhall.analysis.speed_and_cost", "guildhall.reports.figures"):
        import_module(name)
    to_svg({"mark": "point"})
    gc.disable()  # as in the first process


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
