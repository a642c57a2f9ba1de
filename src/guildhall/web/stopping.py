"""Stopping in good order: SIGTERM ends what can end, and what is under way gets a limited time.

SIGTERM may come several times (from a service manager to all processes, and from one of ours to the other): it means
the same each time. A second Ctrl-C means that somebody does not want to wait.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

STOP_WITHIN_S = 25.0
"""What is under way gets this long unless one says otherwise; service managers must wait a little longer."""
_SPARE_S = 5.0
logger = logging.getLogger(__name__)


@contextmanager
def stop_signals(on_stop: Callable[[], None], on_hurry: Callable[[], None]) -> Iterator[None]:
    """Call `on_stop` at the first SIGTERM or Ctrl-C, and `on_hurry` at a second Ctrl-C."""
    told = threading.Event()

    def heard(number: int, _frame: FrameType | None) -> None:
        if not told.is_set():
            told.set()
            on_stop()
        elif number == signal.SIGINT:
            on_hurry()

    before: dict[int, Any] = {number: signal.signal(number, heard) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def end_at_last(limit_s: float) -> None:
    """End this process should it still be there after the limit: a thread that never returns must not keep it.

    Nothing acknowledged is lost by it: whatever was promised is in the database.
    """

    def end() -> None:
        logger.error("what was under way did not end within %g s and was cut short", limit_s)
        logging.shutdown()
        os._exit(1)

    timer = threading.Timer(limit_s + _SPARE_S, end)
    timer.daemon = True
    timer.start()
