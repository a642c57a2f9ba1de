"""Every table of the schema in one place, for migrations and tests."""

from __future__ import annotations

from guildhall.store.shelves import metadata

__all__ = ["metadata"]
