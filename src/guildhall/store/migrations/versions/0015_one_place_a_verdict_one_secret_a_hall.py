"""one place a verdict, one secret a hall, the age of what waits

Of verdicts that stood twice before, the first has the place; the others stay without one, counted as surplus.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_AT_ONCE = 500


def upgrade() -> None:
    op.create_table(
        "workspace_facts",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_workspace_facts")),
    )
    with op.batch_alter_table("judgments", schema=None) as batch_op:
        batch_op.add_column(sa.Column("place", sa.String(length=1024), nullable=True))
        batch_op.create_index(batch_op.f("ix_judgments_place"), ["place"], unique=True)
    with op.batch_alter_table("work_items", schema=None) as batch_op:
        batch_op.add_column(sa.Column("planned_at", sa.Float(), nullable=True))
        batch_op.create_index(batch_op.f("ix_work_items_state_kind_planned_at"), ["state", "kind", "planned_at"])
    _put_in_places(op.get_bind())


def _put_in_places(connection: sa.Connection) -> None:
    """Places of what programs judged, in the order in which it was kept."""
    judgments = sa.table("judgments", *(sa.column(name) for name in ("seq", "grader", "failed", "body", "place")))
    seq, place = judgments.c.seq, judgments.c.place
    last = connection.execute(sa.select(sa.func.max(seq))).scalar() or 0
    columns = (seq, judgments.c.grader, judgments.c.body)
    of_programs = judgments.c.failed.is_(False), judgments.c.grader.startswith("judge:")
    for first in range(1, last + 1, _AT_ONCE):
        rows = connection.execute(
            sa.select(*columns).where(seq.between(first, first + _AT_ONCE - 1), *of_programs).order_by(seq)
        ).all()
        found = {row.seq: _place(json.loads(row.body), row.grader) for row in rows}
        if not found:
            continue
        taken = set(connection.execute(sa.select(place).where(place.in_(found.values()))).scalars())
        new: list[dict[str, Any]] = []
        for row, wanted in found.items():
            if wanted not in taken:
                taken.add(wanted)
                new.append({"row": row, "wanted": wanted})
        if new:
            connection.execute(
                sa.update(judgments).where(seq == sa.bindparam("row")).values(place=sa.bindparam("wanted")), new
            )


def _place(body: dict[str, Any], grader: str) -> str:
    about = [body["comparison"], grader, body["order"], body["sweep"]]
    return hashlib.sha256(json.dumps(about, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()
