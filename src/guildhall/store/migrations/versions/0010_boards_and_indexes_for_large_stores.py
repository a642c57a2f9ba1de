"""boards and indexes for large stores"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "boards",
        sa.Column("study", sa.String(length=200), nullable=False),
        sa.Column("took_s", sa.Float(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("study", name=op.f("pk_boards")),
    )
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_audit_subject"), ["subject"], unique=False)

    with op.batch_alter_table("slots", schema=None) as batch_op:
        batch_op.create_index("ix_slots_open_to", ["study", "occupation", "done", "holder", "rank"], unique=False)
