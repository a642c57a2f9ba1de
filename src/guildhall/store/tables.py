"""Every table of the schema in one place, for migrations and tests."""

from __future__ import annotations

from guildhall.store.hall import audit, member_secrets, members, seats, slots
from guildhall.store.ledger import model_calls
from guildhall.store.shelves import metadata
from guildhall.store.work import work_items

__all__ = ["audit", "member_secrets", "members", "metadata", "model_calls", "seats", "slots", "work_items"]
