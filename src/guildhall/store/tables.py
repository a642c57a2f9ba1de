"""Every table of the schema in one place, for migrations and tests."""

from __future__ import annotations

from guildhall.store.ledger import model_calls
from guildhall.store.shelves import metadata
from guildhall.store.work import work_items

__all__ = ["metadata", "model_calls", "work_items"]
