"""picks, brief variants and studies"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "brief_variants",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=512), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("task", sa.String(length=1024), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_brief_variants")),
        sa.UniqueConstraint("key", name=op.f("uq_brief_variants_key")),
    )
    with op.batch_alter_table("brief_variants", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_brief_variants_task"), ["task"], unique=False)

    op.create_table(
        "picks",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=512), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("task", sa.String(length=1024), nullable=True),
        sa.Column("author", sa.String(length=1024), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_picks")),
        sa.UniqueConstraint("key", name=op.f("uq_picks_key")),
    )
    with op.batch_alter_table("picks", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_picks_author"), ["author"], unique=False)
        batch_op.create_index(batch_op.f("ix_picks_task"), ["task"], unique=False)

    op.create_table(
        "studies",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=512), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("id", sa.String(length=1024), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_studies")),
        sa.UniqueConstraint("key", name=op.f("uq_studies_key")),
    )
    with op.batch_alter_table("studies", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_studies_id"), ["id"], unique=False)
