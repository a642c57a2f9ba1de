"""Tables of the hall: people, planned slots, the seats graders take, and the audit log.

These rows change while people work; what they end in (a `Judgment`) is kept on a shelf and never changes.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from guildhall.store.shelves import RowNumber, metadata

members = Table(
    "members",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("code_name", String(200), nullable=False, unique=True),
    Column("role", String(16), nullable=False),
    Column("body", Text, nullable=False),
    Column("active", Boolean, nullable=False, default=True),
    Column("employer_mark", String(64), index=True),
)
"""Who may come in, by code name; the whole `Member` as JSON."""

member_secrets = Table(
    "member_secrets",
    metadata,
    Column("member", String(64), ForeignKey("members.id"), primary_key=True),
    Column("key", LargeBinary),
    Column("sealed", LargeBinary, nullable=False),
    Column("address_mark", String(64), unique=True),
)
"""Personal fields, sealed under a key of their own: erasing a person destroys the key. `address_mark` finds an e-mail
address without holding it."""

slots = Table(
    "slots",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("study", String(200), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("comparison", String(64), nullable=False),
    Column("task", String(200), nullable=False),
    Column("occupation", String(300), nullable=False),
    Column("turn", Integer, nullable=False),
    Column("rank", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("holder", String(64)),
    Column("done", Boolean, nullable=False, default=False),
    Index("ix_slots_open", "study", "done", "holder", "rank"),
    Index("ix_slots_open_to", "study", "occupation", "done", "holder", "rank"),
    Index(None, "comparison"),
)
"""Planned gradings. `holder` is the one seat that may fill the slot: a slot is never graded twice as planned."""

seats = Table(
    "seats",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("slot", String(64), ForeignKey("slots.id"), nullable=False),
    Column("study", String(200), nullable=False),
    Column("comparison", String(64), nullable=False),
    Column("task", String(200), nullable=False),
    Column("member", String(64), ForeignKey("members.id"), nullable=False),
    Column("state", String(16), nullable=False),
    Column("turn", Integer, nullable=False),
    Column("exposure", Integer, nullable=False),
    Column("claimed_at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
    Column("ended_at", Float),
    Column("draft", Text),
    Column("draft_version", Integer, nullable=False, default=0),
    Column("draft_saved_at", Float),
    Column("clock", Text),
    Column("read_brief_at", Float),
    Column("decline_reason", Text),
    Column("judgment", String(64)),
    Column("submit_key", String(64)),
    UniqueConstraint("submit_key"),
    UniqueConstraint("slot", "member"),
    Index("ix_seats_taken", "member", "claimed_at", "id", "state"),
    Index("ix_seats_met", "member", "task", "comparison", "study", "state"),
    Index(None, "state", "expires_at"),
)
"""Who took which slot, and how far they came. A claim asks what a grader took last and whether they met a set before:
both are answered from an index alone, however many seats the hall has seen."""

audit = Table(
    "audit",
    metadata,
    Column("seq", RowNumber, primary_key=True, autoincrement=True),
    Column("at", Float, nullable=False),
    Column("actor", String(200), nullable=False),
    Column("action", String(100), nullable=False),
    Column("subject", String(512), nullable=False),
    Column("facts", Text, nullable=False),
    Column("before", String(64), nullable=False, unique=True),
    Column("digest", String(64), nullable=False, unique=True),
    Index(None, "subject"),
)
"""Each row names the digest of the one before it, so that a removed or changed row breaks the chain."""
