"""Boards as they were last counted: a large study's is looked at far more often than it can be counted."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Column, Float, String, Table, Text, select
from sqlalchemy.dialects import postgresql, sqlite

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
    """In the place of the one before; two servers may have counted at the same time."""
    counted = {"took_s": took_s, "body": board.model_dump_json()}
    with store.transaction() as connection:
        dialect: Any = sqlite if connection.dialect.name == "sqlite" else postgresql
        row = dialect.insert(boards).values(study=board.study, **counted)
        connection.execute(row.on_conflict_do_update(index_elements=["study"], set_=counted))


def kept_board(store: Store, study: str) -> tuple[Board, float] | None:
    """The board last kept and how long it took to count; None where none was, or one that this version cannot read."""
    with store.glance() as connection:
        row = connection.execute(select(boards.c.body, boards.c.took_s).where(boards.c.study == study)).first()
    if row is None:
        return None
    try:
        return _parsed(row.body), row.took_s
    except ValidationError:
        return None


@lru_cache(maxsize=16)
def _parsed(body: str) -> Board:
    """A large board is looked at many times before it is counted again."""
    return Board.model_validate_json(body)
