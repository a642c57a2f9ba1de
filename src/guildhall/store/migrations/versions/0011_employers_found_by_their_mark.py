"""employers found by their mark"""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("members", schema=None) as batch_op:
        batch_op.add_column(sa.Column("employer_mark", sa.String(length=64), nullable=True))
        batch_op.create_index(batch_op.f("ix_members_employer_mark"), ["employer_mark"], unique=False)
    members = sa.table("members", *(sa.column(name) for name in ("id", "body", "employer_mark")))
    connection = op.get_bind()
    for identity, body in connection.execute(sa.select(members.c.id, members.c.body)).all():
        mark = json.loads(body).get("employer_mark")
        connection.execute(sa.update(members).where(members.c.id == identity).values(employer_mark=mark))
