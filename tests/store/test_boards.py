"""Boards are kept once for each study, whoever counts them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import update

from guildhall.domain.boards import Board, Progress
from guildhall.store.boards import boards, keep_board, kept_board
from guildhall.store.records import Store

NOTHING = Progress(planned=0, held=0, done=0)


def test_servers_that_count_at_the_same_time_keep_one_board(store: Store) -> None:
    def keep(number: int) -> None:
        keep_board(store, Board(study="s", counted_at=number, progress=NOTHING), took_s=number)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(keep, range(40)))
    kept = kept_board(store, "s")
    assert kept is not None
    assert kept[0].counted_at == kept[1]


def test_a_board_that_an_earlier_version_kept_is_counted_anew(store: Store) -> None:
    keep_board(store, Board(study="s", counted_at=1.0, progress=NOTHING), took_s=1.0)
    with store.transaction() as connection:
        connection.execute(update(boards).values(body='{"study": "s", "counted_at": 1.0}'))
    assert kept_board(store, "s") is None
