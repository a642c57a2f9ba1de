"""Tables of the door: sessions, entry links, passkeys, API tokens, facts. Only digests of secrets are kept."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, ForeignKey, Index, Integer, LargeBinary, String, Table, Text

from guildhall.store.shelves import metadata

sessions = Table(
    "sessions",
    metadata,
    Column("token_digest", String(64), primary_key=True),
    Column("member", String(64), ForeignKey("members.id"), nullable=False),
    Column("form_token", String(64), nullable=False),
    Column("opened_at", Float, nullable=False),
    Column("seen_at", Float, nullable=False),
    Column("ends_at", Float, nullable=False),
    Column("entry", String(16)),
    Index(None, "member"),
)
"""`entry` says how its holder came in; it is absent from times before that was kept."""

entry_links = Table(
    "entry_links",
    metadata,
    Column("token_digest", String(64), primary_key=True),
    Column("member", String(64), ForeignKey("members.id"), nullable=False),
    Column("expires_at", Float, nullable=False),
    Column("used_at", Float),
    Column("entry", String(16)),
)

passkeys = Table(
    "passkeys",
    metadata,
    Column("credential", String(512), primary_key=True),
    Column("member", String(64), ForeignKey("members.id"), nullable=False),
    Column("public_key", LargeBinary, nullable=False),
    Column("sign_count", Integer, nullable=False),
    Column("added_at", Float, nullable=False),
    Column("name", String(100), nullable=False, server_default="passkey"),
    Column("used_at", Float),
    Column("own", Boolean),
    Index(None, "member"),
)
"""`own`: added in a session that nobody else could have opened; absent where that is not known."""

passkey_challenges = Table(
    "passkey_challenges",
    metadata,
    Column("challenge_digest", String(64), primary_key=True),
    Column("member", String(64), ForeignKey("members.id")),
    Column("expires_at", Float, nullable=False),
)
"""Questions an authenticator may still answer, each once; `member` is absent where somebody is about to come in."""

api_tokens = Table(
    "api_tokens",
    metadata,
    Column("token_digest", String(64), primary_key=True),
    Column("name", String(200), nullable=False),
    Column("member", String(64), ForeignKey("members.id"), nullable=False),
    Column("scopes", Text, nullable=False),
    Column("made_at", Float, nullable=False),
    Column("revoked_at", Float),
)

workspace_facts = Table(
    "workspace_facts",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)
"""What all folders and machines that share one database must agree on, such as the mark of their secret."""
