"""Every table of the schema in one place, for migrations and tests."""

from __future__ import annotations

from guildhall.store.access import api_tokens, entry_links, passkey_challenges, passkeys, sessions, workspace_facts
from guildhall.store.boards import boards
from guildhall.store.gradings import gradings
from guildhall.store.hall import audit, member_secrets, members, seats, slots
from guildhall.store.ledger import model_calls
from guildhall.store.outbox import outbox, webhooks
from guildhall.store.reviewing import desk_copies, review_holds
from guildhall.store.shelves import metadata
from guildhall.store.verdict_tables import authors, graders, names, verdicts, waiting, works
from guildhall.store.work import work_items

__all__ = [
    "api_tokens",
    "audit",
    "authors",
    "boards",
    "desk_copies",
    "entry_links",
    "graders",
    "gradings",
    "member_secrets",
    "members",
    "metadata",
    "model_calls",
    "names",
    "outbox",
    "passkey_challenges",
    "passkeys",
    "review_holds",
    "seats",
    "sessions",
    "slots",
    "verdicts",
    "waiting",
    "webhooks",
    "work_items",
    "works",
    "workspace_facts",
]
