"""A look that has an end: at a database that hangs, whoever asks is told within a limit, and one thread waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Generic, TypeVar

T = TypeVar("T")
LONGEST_S = 2.0


class Pulse(Generic[T]):
    """Takes one look at a time, each in a thread of its own; one that hangs is waited for and not begun again."""

    def __init__(self, look: Callable[[], T], *, longest_s: float = LONGEST_S) -> None:
        self._look, self._longest_s = look, longest_s
        self._lock = threading.Lock()
        self._looking: Future[T] | None = None

    def felt(self) -> T | None:
        """What the look found; None when it found nothing within the limit. What it raises is raised."""
        looking = self._begun()
        return looking.result() if wait([looking], timeout=self._longest_s).done else None

    async def feel(self) -> T | None:
        """The same for an event loop: no thread of its pool is asked for, since all of them may wait for what hangs."""
        looking = asyncio.wrap_future(self._begun())
        done, _ = await asyncio.wait([looking], timeout=self._longest_s)
        return looking.result() if done else None

    def _begun(self) -> Future[T]:
        with self._lock:
            if self._looking is None or self._looking.done():
                self._looking = Future()
                threading.Thread(target=self._into, args=(self._looking,), name="pulse", daemon=True).start()
            return self._looking

    def _into(self, found: Future[T]) -> None:
        try:
            found.set_result(self._look())
        except BaseException as error:  # noqa: BLE001 - handed to whoever asked
            found.set_exception(error)
