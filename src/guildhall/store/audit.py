"""The audit log: who did what to what, chained by digest so that no row can vanish or change unnoticed."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import select, text

from guildhall.domain.values import Digest, canonical_json, sha256
from guildhall.store.hall import audit
from guildhall.store.records import Store

START: Digest = "0" * 64


def record(store: Store, *, at: float, actor: str, action: str, subject: str, facts: Mapping[str, Any]) -> None:
    """Append one row; inside a transaction it is kept or lost together with what it tells."""
    with store.transaction() as connection:
        if connection.dialect.name == "postgresql":  # SQLite's writers already wait for one another
            connection.execute(text("LOCK TABLE audit IN EXCLUSIVE MODE"))
        before = connection.execute(select(audit.c.digest).order_by(audit.c.seq.desc()).limit(1)).scalar() or START
        row = {
            "at": at,
            "actor": actor,
            "action": action,
            "subject": subject,
            "facts": canonical_json(dict(facts)).decode(),
        }
        connection.execute(audit.insert().values(**row, before=before, digest=_digest(row, before)))


def _digest(row: Mapping[str, Any], before: Digest) -> Digest:
    return sha256(canonical_json([before, *(row[name] for name in ("at", "actor", "action", "subject", "facts"))]))


def broken_links(store: Store) -> list[int]:
    """The sequence numbers of rows that do not follow from the row before them; empty for an honest log."""
    broken, before = [], START
    with store.reading() as connection:
        for found in connection.execute(select(audit).order_by(audit.c.seq)).mappings():
            row = dict(found)
            if row["before"] != before or row["digest"] != _digest(row, before):
                broken.append(row["seq"])
            before = row["digest"]
    return broken


def acts(store: Store, *, subject: str, actions: Collection[str]) -> list[dict[str, Any]]:
    """Every row of these kinds about a subject, oldest first: none is beyond reach however many others there are."""
    query = select(audit).where(audit.c.subject == subject, audit.c.action.in_(actions)).order_by(audit.c.seq)
    with store.reading() as connection:
        return [{**row, "facts": json.loads(row["facts"])} for row in connection.execute(query).mappings()]


def history(store: Store, *, subject: str | None = None, limit: int = 200) -> list[dict[str, Any]]:
    """The newest rows, newest first."""
    query = select(audit).order_by(audit.c.seq.desc()).limit(limit)
    if subject is not None:
        query = query.where(audit.c.subject == subject)
    with store.reading() as connection:
        rows = connection.execute(query).mappings().all()
    return [{**row, "facts": json.loads(row["facts"])} for row in rows]
