"""A live table for long work: it asks how things stand twice a second, from a thread of its own."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any

from guildhall.errors import GuildhallError

Standing = Callable[[], Mapping[str, Any]]


@contextmanager
def live_table(title: str, standing: Standing, *, quiet: bool = False) -> Iterator[None]:
    """Show done, running, failed, tokens, dollars and the expected end while the block runs.

    On a terminal the table stands still and changes; elsewhere a line is printed now and then. It writes to standard
    error only, so that a pipe gets nothing but results.
    """
    if quiet:
        yield
        return
    stop = threading.Event()
    show = _on_terminal if sys.stderr.isatty() else _as_lines
    thread = threading.Thread(target=_told, args=(show, title, standing, stop), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def counted(what: str, *, quiet: bool = False) -> Callable[[str, int, int], None] | None:
    """Told of each thing done, shows how many of how many: in place on a terminal, else now and then a line."""
    if quiet:
        return None
    still = sys.stderr.isatty()

    def advance(_name: str, at: int, of: int) -> None:
        if still or at == of or at % 100 == 0:
            print(f"{at} of {of} {what}", file=sys.stderr, end="\r" if still and at < of else "\n", flush=True)  # noqa: T201

    return advance


def _told(show: Callable[[str, Standing, threading.Event], None], *about: Any) -> None:
    with suppress(GuildhallError):  # what keeps the work from going on is told by the work itself
        show(*about)


def _on_terminal(title: str, standing: Standing, stop: threading.Event) -> None:
    from rich.console import Console
    from rich.live import Live

    started = time.monotonic()
    before = _ended(standing())
    with Live(console=Console(stderr=True), auto_refresh=False) as live:
        while not stop.wait(0.5):
            live.update(_table(title, standing(), started, before), refresh=True)
        live.update(_table(title, standing(), started, before), refresh=True)


def _as_lines(title: str, standing: Standing, stop: threading.Event) -> None:
    started, last = time.monotonic(), -1
    before = _ended(standing())
    while True:
        stopped = stop.wait(2.0)
        now = standing()
        if _ended(now) != last or stopped:
            last = _ended(now)
            cells = ", ".join(f"{name} {words}" for name, words in _cells(now, started, before).items())
            print(f"{title}: {cells}", file=sys.stderr, flush=True)  # noqa: T201 - progress belongs on standard error
        if stopped:
            return


def _table(title: str, now: Mapping[str, Any], started: float, before: int) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    cells = _cells(now, started, before)
    shown = Table(title=Text(title), title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for name in cells:
        shown.add_column(name, justify="right")
    shown.add_row(*map(Text, cells.values()))
    return shown


def _cells(now: Mapping[str, Any], started: float, before: int) -> dict[str, str]:
    tokens = int(now["input_tokens"]) + int(now["output_tokens"])
    return {
        "done": f"{now['done']}/{now['items']}",
        "running": str(now["running"]),
        "failed": str(now["failed"]),
        "tokens": f"{tokens:,}",
        "dollars": in_dollars(now["cost_usd"], now["known_usd"]),
        "ends": _end_time(now, started, before),
    }


def in_dollars(cost: float | None, known: float) -> str:
    """A price in words: unknown is never shown as 0."""
    if cost is not None:
        return f"${cost:,.2f}"
    return f"${known:,.2f} and an unknown part" if known else "price unknown"


def _ended(now: Mapping[str, Any]) -> int:
    return int(now["done"]) + int(now["failed"])


def _end_time(now: Mapping[str, Any], started: float, before: int) -> str:
    ended = _ended(now) - before
    left = int(now["items"]) - _ended(now)
    if left == 0:
        return "done"
    if ended == 0:
        return "not known yet"
    seconds = (time.monotonic() - started) / ended * left
    return datetime.fromtimestamp(time.time() + seconds).astimezone().strftime("%H:%M:%S")
