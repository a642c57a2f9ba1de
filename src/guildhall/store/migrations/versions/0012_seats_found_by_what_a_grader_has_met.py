"""seats found by what a grader has met"""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("seats", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_seats_member_state"))
        batch_op.drop_index(batch_op.f("ix_seats_member_task"))
        batch_op.create_index("ix_seats_met", ["member", "task", "comparison", "study", "state"], unique=False)
        batch_op.create_index("ix_seats_taken", ["member", "claimed_at", "id", "state"], unique=False)
