"""Tables of authoring and review: what authors are still writing, and who holds which task.

These rows change while people work; what they end in (a `Draft`, a `Review`) is kept on a shelf and never changes.
"""

from __future__ import annotations

from sqlalchemy import Column, Float, Index, Integer, String, Table, Text

from guildhall.store.shelves import metadata

desk_copies = Table(
    "desk_copies",
    metadata,
    Column("task", String(200), primary_key=True),
    Column("author", String(200), nullable=False),
    Column("body", Text, nullable=False),
    Column("saved", Integer, nullable=False),
    Column("saved_at", Float, nullable=False),
    Index(None, "author"),
)
"""A task as its author is writing it. `saved` counts how often: a save that saw an older count is refused."""

review_holds = Table(
    "review_holds",
    metadata,
    Column("task", String(200), primary_key=True),
    Column("draft", String(512), nullable=False),
    Column("stage", String(32), nullable=False),
    Column("holder", String(200), nullable=False),
    Column("since", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
)
"""Which reviewer is at which task; a row is gone when the review is in, and may be taken over when it has run out."""
