"""Boards as they were last counted: a large study's is looked at far more often than it can be counted."""

from __future__ import annotations

from sqlalchemy import Column, Float, String, Table, Text, delete, select

from guildhall.domain.boards import Board
from guildhall.store.records import Store
from guildhall.store.shelves import metadata

boards = Table(
    "boards",
    metadata,
    Column("study", String(200), primary_key=True),
    Column("took_s", Float, nullable=False),
    Column("body", Text, nullable=False),
)


def keep_board(store: Store, board: Board, *, took_s: float) -> None:
    """In the place of the one before."""
    with store.transaction() as connection:
        connection.execute(delete(boards).where(boards.c.study == board.study))
        row = {"study": board.study, "took_s": took_s, "body": board.model_dump_json()}
        connection.execute(boards.insert().values(**row))


def kept_board(store: Store, study: str) -> tuple[Board, float] | None:
    """The board last kept and how long it took to count."""
    with store.reading() as connection:
        row = connection.execute(select(boards.c.body, boards.c.took_s).where(boards.c.study == study)).first()
    return None if row is None else (Board.model_validate_json(row.body), row.took_s)
