"""gradings, webhooks, the outbox and passkey names"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("target", sa.String(length=64), nullable=False),
        sa.Column("event", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.Float(), nullable=False),
        sa.Column("answer", sa.String(length=300), nullable=True),
        sa.Column("made_at", sa.Float(), nullable=False),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
    )
    with op.batch_alter_table("outbox", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_outbox_kind_made_at"), ["kind", "made_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_outbox_state_next_at"), ["state", "next_at"], unique=False)

    op.create_table(
        "passkey_challenges",
        sa.Column("challenge_digest", sa.String(length=64), nullable=False),
        sa.Column("member", sa.String(length=64), nullable=True),
        sa.Column("expires_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["member"], ["members.id"], name=op.f("fk_passkey_challenges_member_members")),
        sa.PrimaryKeyConstraint("challenge_digest", name=op.f("pk_passkey_challenges")),
    )
    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("url", sa.String(length=2000), nullable=False),
        sa.Column("events", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("member", sa.String(length=64), nullable=False),
        sa.Column("made_at", sa.Float(), nullable=False),
        sa.Column("revoked_at", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["member"], ["members.id"], name=op.f("fk_webhooks_member_members")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
    )
    op.create_table(
        "gradings",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("token", sa.String(length=64), nullable=False),
        sa.Column("idempotency_key", sa.String(length=255), nullable=True),
        sa.Column("asked", sa.String(length=64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("verdicts_wanted", sa.Integer(), nullable=True),
        sa.Column("made_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["token"], ["api_tokens.token_digest"], name=op.f("fk_gradings_token_api_tokens")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_gradings")),
        sa.UniqueConstraint("token", "idempotency_key", name=op.f("uq_gradings_token_idempotency_key")),
    )
    with op.batch_alter_table("gradings", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_gradings_token_made_at"), ["token", "made_at"], unique=False)

    with op.batch_alter_table("passkeys", schema=None) as batch_op:
        batch_op.add_column(sa.Column("name", sa.String(length=100), server_default="passkey", nullable=False))
        batch_op.add_column(sa.Column("used_at", sa.Float(), nullable=True))
