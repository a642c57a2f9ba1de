"""The board a manager sees at once, however large the study.

A small study is counted at every look. A large one is shown as it was last counted, with the time of that, and counted
again in the background when that is a while ago: a look never waits for it, except the very first.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from guildhall.domain.boards import Board
from guildhall.domain.studies import Study
from guildhall.store.boards import keep_board, kept_board
from guildhall.store.workspace import Workspace
from guildhall.study.board import count_board

LARGE = 5_000
"""From so many planned gradings on (counted for each model they show) a board is kept."""
REST_S = 10.0
SHARE = 10.0
"""A board is counted again after ten seconds at the earliest, and takes at most a tenth of a processor's time."""


class Boards:
    """Boards of one workspace, for one server."""

    def __init__(self, workspace: Workspace, *, clock: Callable[[], float]) -> None:
        self._workspace, self._store, self._clock = workspace, workspace.store, clock
        self._counting: set[str] = set()
        self._lock = threading.Lock()

    def of(self, study: Study) -> Board:
        kept = kept_board(self._store, study.id)
        if kept is None:
            return self._count(study)
        board, took_s = kept
        if self._clock() - board.counted_at > max(REST_S, SHARE * took_s):
            self._count_later(study)
        return board

    def _count(self, study: Study) -> Board:
        begun = time.monotonic()
        board = count_board(self._workspace, study, now=self._clock())
        if board.gradings >= LARGE:
            keep_board(self._store, board, took_s=time.monotonic() - begun)
        return board

    def _count_later(self, study: Study) -> None:
        with self._lock:
            if study.id in self._counting:
                return
            self._counting.add(study.id)
        threading.Thread(target=self._count_and_tell, args=(study,), name=f"board of {study.id}", daemon=True).start()

    def _count_and_tell(self, study: Study) -> None:
        try:
            self._count(study)
        finally:
            with self._lock:
                self._counting.discard(study.id)
