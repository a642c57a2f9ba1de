"""one table of verdicts: its rows are made by `store.database.upgrade`, once the newest schema stands"""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_AT_ONCE = 200


def upgrade() -> None:
    op.create_table(
        "authors",
        sa.Column("code", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("key", sa.String(length=1024), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("sample", sa.Integer(), nullable=False),
        sa.Column("condition", sa.String(), nullable=True),
        sa.Column("effort", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("code", name=op.f("pk_authors")),
        sa.UniqueConstraint("key", "kind", name=op.f("uq_authors_key_kind")),
    )
    op.create_table(
        "graders",
        sa.Column("code", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("key", sa.String(length=1024), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.PrimaryKeyConstraint("code", name=op.f("pk_graders")),
        sa.UniqueConstraint("key", "kind", name=op.f("uq_graders_key_kind")),
    )
    op.create_table(
        "names",
        sa.Column("code", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("key", sa.String(length=1024), nullable=False),
        sa.PrimaryKeyConstraint("code", name=op.f("pk_names")),
        sa.UniqueConstraint("key", "kind", name=op.f("uq_names_key_kind")),
    )
    op.create_table(
        "verdicts",
        sa.Column("judgment", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("place", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("study", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("comparison", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("task", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("work", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("grader", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("rank", sa.Integer(), autoincrement=False, nullable=True),
        sa.Column("sweep", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("planned", sa.Boolean(), autoincrement=False, nullable=False),
        sa.Column("exposure", sa.Integer(), autoincrement=False, nullable=True),
        sa.Column("replaces", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("accepted", sa.SmallInteger(), autoincrement=False, nullable=True),
        sa.Column("edit_minutes", sa.Float(), autoincrement=False, nullable=True),
        sa.Column("guess", sa.SmallInteger(), autoincrement=False, nullable=True),
        sa.Column("strength", sa.SmallInteger(), autoincrement=False, nullable=True),
        sa.Column("confidence", sa.Float(), autoincrement=False, nullable=True),
        sa.Column("specification", sa.SmallInteger(), autoincrement=False, nullable=True),
        sa.Column("active_ms", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("omitted", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("failure", sa.Integer(), autoincrement=False, nullable=True),
        sa.Column("cost_usd", sa.Float(), autoincrement=False, nullable=True),
        sa.Column("made_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("key_head", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("correctness", sa.SmallInteger(), autoincrement=False, nullable=True),
        sa.Column("accuracy", sa.SmallInteger(), autoincrement=False, nullable=True),
        sa.Column("completeness", sa.SmallInteger(), autoincrement=False, nullable=True),
        sa.Column("instruction_following", sa.SmallInteger(), autoincrement=False, nullable=True),
        sa.Column("calculation", sa.SmallInteger(), autoincrement=False, nullable=True),
        sa.Column("structure", sa.SmallInteger(), autoincrement=False, nullable=True),
        sa.Column("style", sa.SmallInteger(), autoincrement=False, nullable=True),
        sa.Column("format", sa.SmallInteger(), autoincrement=False, nullable=True),
        sa.Column("aesthetics", sa.SmallInteger(), autoincrement=False, nullable=True),
        sa.Column("relevance", sa.SmallInteger(), autoincrement=False, nullable=True),
        sa.PrimaryKeyConstraint("judgment", "place", name=op.f("pk_verdicts")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("verdicts", schema=None) as batch_op:
        batch_op.create_index("ix_verdicts_study_judgment", ["study", "judgment"], unique=False)

    op.create_table(
        "verdicts_waiting",
        sa.Column(
            "judgment", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("needs", sa.String(length=512), nullable=False),
        sa.PrimaryKeyConstraint("judgment", name=op.f("pk_verdicts_waiting")),
    )
    with op.batch_alter_table("verdicts_waiting", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_verdicts_waiting_needs"), ["needs"], unique=False)

    op.create_table(
        "works",
        sa.Column("work", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("task", sa.Integer(), nullable=False),
        sa.Column("author", sa.Integer(), nullable=False),
        sa.Column("stop", sa.SmallInteger(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("confidence", sa.Float(), nullable=True),
        sa.Column("kinds", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("work", name=op.f("pk_works")),
    )
    with op.batch_alter_table("works", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_works_task"), ["task"], unique=False)

    with op.batch_alter_table("prepared", schema=None) as batch_op:
        batch_op.add_column(sa.Column("words", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("tells", sa.Integer(), nullable=True))
    _read_off_prepared_work(op.get_bind())


def _read_off_prepared_work(connection: sa.Connection) -> None:
    """Words and tells of what is prepared, a few rows at a time: bodies may be long."""
    prepared = sa.table("prepared", *(sa.column(name) for name in ("seq", "body", "words", "tells")))
    last = connection.execute(sa.select(sa.func.max(prepared.c.seq))).scalar() or 0
    for first in range(1, last + 1, _AT_ONCE):
        some = sa.select(prepared.c.seq, prepared.c.body).where(prepared.c.seq.between(first, first + _AT_ONCE - 1))
        for row, body in connection.execute(some).all():
            found = json.loads(body)
            counts = {
                "words": sum(file["words"] for file in found["files"]),
                "tells": len(found["tells"]) + sum(len(file["tells"]) for file in found["files"]),
            }
            connection.execute(sa.update(prepared).where(prepared.c.seq == row).values(counts))
