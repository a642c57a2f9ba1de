"""how people came in"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("entry_links", schema=None) as batch_op:
        batch_op.add_column(sa.Column("entry", sa.String(length=16), nullable=True))

    with op.batch_alter_table("passkeys", schema=None) as batch_op:
        batch_op.add_column(sa.Column("own", sa.Boolean(), nullable=True))

    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.add_column(sa.Column("entry", sa.String(length=16), nullable=True))
