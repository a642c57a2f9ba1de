"""Boards are kept once for each study, whoever counts them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from guildhall.domain.boards import Board
from guildhall.store.boards import keep_board, kept_board
from guildhall.store.records import Store


def test_servers_that_count_at_the_same_time_keep_one_board(store: Store) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: keep_board(store, Board(study="s", counted_at=number), took_s=number), range(40)))
    kept = kept_board(store, "s")
    assert kept is not None
    assert kept[0].counted_at == kept[1]
