"""tasks, submissions, judgments, essays"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "comparisons",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=512), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("study", sa.String(length=1024), nullable=True),
        sa.Column("task", sa.String(length=1024), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_comparisons")),
        sa.UniqueConstraint("key", name=op.f("uq_comparisons_key")),
    )
    with op.batch_alter_table("comparisons", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_comparisons_study"), ["study"], unique=False)
        batch_op.create_index(batch_op.f("ix_comparisons_task"), ["task"], unique=False)

    op.create_table(
        "essays",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=512), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("run", sa.String(length=1024), nullable=True),
        sa.Column("domain", sa.String(length=1024), nullable=True),
        sa.Column("author", sa.String(length=1024), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_essays")),
        sa.UniqueConstraint("key", name=op.f("uq_essays_key")),
    )
    with op.batch_alter_table("essays", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_essays_author"), ["author"], unique=False)
        batch_op.create_index(batch_op.f("ix_essays_domain"), ["domain"], unique=False)
        batch_op.create_index(batch_op.f("ix_essays_run"), ["run"], unique=False)

    op.create_table(
        "judgments",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=512), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("comparison", sa.String(length=1024), nullable=True),
        sa.Column("grader", sa.String(length=1024), nullable=True),
        sa.Column("failed", sa.Boolean(), nullable=True),
        sa.Column("replaces", sa.String(length=1024), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_judgments")),
        sa.UniqueConstraint("key", name=op.f("uq_judgments_key")),
    )
    with op.batch_alter_table("judgments", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_judgments_comparison"), ["comparison"], unique=False)
        batch_op.create_index(batch_op.f("ix_judgments_failed"), ["failed"], unique=False)
        batch_op.create_index(batch_op.f("ix_judgments_grader"), ["grader"], unique=False)
        batch_op.create_index(batch_op.f("ix_judgments_replaces"), ["replaces"], unique=False)

    op.create_table(
        "marks",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=512), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("run", sa.String(length=1024), nullable=True),
        sa.Column("essay", sa.String(length=1024), nullable=True),
        sa.Column("grader", sa.String(length=1024), nullable=True),
        sa.Column("replaces", sa.String(length=1024), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_marks")),
        sa.UniqueConstraint("key", name=op.f("uq_marks_key")),
    )
    with op.batch_alter_table("marks", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_marks_essay"), ["essay"], unique=False)
        batch_op.create_index(batch_op.f("ix_marks_grader"), ["grader"], unique=False)
        batch_op.create_index(batch_op.f("ix_marks_replaces"), ["replaces"], unique=False)
        batch_op.create_index(batch_op.f("ix_marks_run"), ["run"], unique=False)

    op.create_table(
        "severity_ratings",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=512), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("study", sa.String(length=1024), nullable=True),
        sa.Column("submission", sa.String(length=1024), nullable=True),
        sa.Column("grader", sa.String(length=1024), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_severity_ratings")),
        sa.UniqueConstraint("key", name=op.f("uq_severity_ratings_key")),
    )
    with op.batch_alter_table("severity_ratings", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_severity_ratings_grader"), ["grader"], unique=False)
        batch_op.create_index(batch_op.f("ix_severity_ratings_study"), ["study"], unique=False)
        batch_op.create_index(batch_op.f("ix_severity_ratings_submission"), ["submission"], unique=False)

    op.create_table(
        "submissions",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=512), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("task", sa.String(length=1024), nullable=True),
        sa.Column("author", sa.String(length=1024), nullable=True),
        sa.Column("replaces", sa.String(length=1024), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_submissions")),
        sa.UniqueConstraint("key", name=op.f("uq_submissions_key")),
    )
    with op.batch_alter_table("submissions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_submissions_author"), ["author"], unique=False)
        batch_op.create_index(batch_op.f("ix_submissions_replaces"), ["replaces"], unique=False)
        batch_op.create_index(batch_op.f("ix_submissions_task"), ["task"], unique=False)

    op.create_table(
        "tasks",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=512), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("id", sa.String(length=1024), nullable=True),
        sa.Column("sector", sa.String(length=1024), nullable=True),
        sa.Column("occupation", sa.String(length=1024), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_tasks")),
        sa.UniqueConstraint("key", name=op.f("uq_tasks_key")),
    )
    with op.batch_alter_table("tasks", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_tasks_id"), ["id"], unique=False)
        batch_op.create_index(batch_op.f("ix_tasks_occupation"), ["occupation"], unique=False)
        batch_op.create_index(batch_op.f("ix_tasks_sector"), ["sector"], unique=False)
