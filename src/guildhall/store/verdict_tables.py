"""The tables in which verdicts stand, and those of the names that their whole numbers stand for."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, Float, Index, Integer, SmallInteger, String, Table, UniqueConstraint

from guildhall.store.shelves import RowNumber, metadata
from guildhall.store.verdict_rows import COLUMNS, REQUIRED

SPAN = 1 << 17
"""Row numbers of judgments that are kept together for quick reading."""
_PRIMARY = {"judgment", "place"}
verdicts = Table(
    "verdicts",
    metadata,
    *(
        Column(name, kind, primary_key=name in _PRIMARY, nullable=name not in REQUIRED, autoincrement=False)
        for name, kind in COLUMNS.items()
    ),
    Index("ix_verdicts_study_judgment", "study", "judgment"),
    sqlite_with_rowid=False,
)
works = Table(
    "works",
    metadata,
    Column("work", RowNumber, primary_key=True, autoincrement=False),
    Column("task", Integer, nullable=False, index=True),
    Column("author", Integer, nullable=False),
    Column("stop", SmallInteger, nullable=False),
    Column("seconds", Float),
    Column("cost_usd", Float),
    Column("confidence", Float),
    Column("kinds", Integer),
)


def _codes(name: str, *facts: Column[Any]) -> Table:
    """Names of some kinds and the whole numbers that stand for them."""
    return Table(
        name,
        metadata,
        Column("code", Integer, primary_key=True, autoincrement=True),
        Column("kind", String(40), nullable=False),
        Column("key", String(1024), nullable=False),
        *facts,
        UniqueConstraint("key", "kind"),
    )


graders = _codes("graders", Column("name", String(200), nullable=False))
"""A person whose kind changed stands there once for each."""
authors = _codes(
    "authors",
    Column("name", String(200), nullable=False),
    Column("sample", Integer, nullable=False),
    Column("condition", String),
    Column("effort", String),
)
names = _codes("names")
"""Studies, wordings of tasks, kinds of files and of failures."""
waiting = Table(
    "verdicts_waiting",
    metadata,
    Column("judgment", RowNumber, primary_key=True, autoincrement=False),
    Column("needs", String(512), nullable=False, index=True),
)
"""Judgments that cannot be projected yet, with the key of what is missing, or `NEVER`."""
NEVER = ""
"""A judgment kept long ago that cannot be what its comparison asked for: no row is made of it."""
PROJECTED = (verdicts, works, graders, authors, names, waiting)
MADE = "made"
"""The kind of name that says the table was made: a word drawn anew each time, so that no older part is taken for it."""
