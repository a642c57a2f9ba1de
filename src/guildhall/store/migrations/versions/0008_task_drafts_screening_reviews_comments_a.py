"""task drafts, screening, reviews, comments and decisions"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "desk_copies",
        sa.Column("task", sa.String(length=200), nullable=False),
        sa.Column("author", sa.String(length=200), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("saved", sa.Integer(), nullable=False),
        sa.Column("saved_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("task", name=op.f("pk_desk_copies")),
    )
    with op.batch_alter_table("desk_copies", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_desk_copies_author"), ["author"], unique=False)

    op.create_table(
        "drafts",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=512), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("task", sa.String(length=1024), nullable=True),
        sa.Column("author", sa.String(length=1024), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_drafts")),
        sa.UniqueConstraint("key", name=op.f("uq_drafts_key")),
    )
    with op.batch_alter_table("drafts", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_drafts_author"), ["author"], unique=False)
        batch_op.create_index(batch_op.f("ix_drafts_task"), ["task"], unique=False)

    op.create_table(
        "review_comments",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=512), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("task", sa.String(length=1024), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_review_comments")),
        sa.UniqueConstraint("key", name=op.f("uq_review_comments_key")),
    )
    with op.batch_alter_table("review_comments", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_review_comments_task"), ["task"], unique=False)

    op.create_table(
        "review_decisions",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=512), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("task", sa.String(length=1024), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_review_decisions")),
        sa.UniqueConstraint("key", name=op.f("uq_review_decisions_key")),
    )
    with op.batch_alter_table("review_decisions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_review_decisions_task"), ["task"], unique=False)

    op.create_table(
        "review_holds",
        sa.Column("task", sa.String(length=200), nullable=False),
        sa.Column("draft", sa.String(length=512), nullable=False),
        sa.Column("stage", sa.String(length=32), nullable=False),
        sa.Column("holder", sa.String(length=200), nullable=False),
        sa.Column("since", sa.Float(), nullable=False),
        sa.Column("expires_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("task", name=op.f("pk_review_holds")),
    )
    op.create_table(
        "reviews",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=512), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("task", sa.String(length=1024), nullable=True),
        sa.Column("reviewer", sa.String(length=1024), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_reviews")),
        sa.UniqueConstraint("key", name=op.f("uq_reviews_key")),
    )
    with op.batch_alter_table("reviews", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_reviews_reviewer"), ["reviewer"], unique=False)
        batch_op.create_index(batch_op.f("ix_reviews_task"), ["task"], unique=False)

    op.create_table(
        "screenings",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=512), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("task", sa.String(length=1024), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_screenings")),
        sa.UniqueConstraint("key", name=op.f("uq_screenings_key")),
    )
    with op.batch_alter_table("screenings", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_screenings_task"), ["task"], unique=False)
