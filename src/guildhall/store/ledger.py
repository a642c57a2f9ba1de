"""The ledger: one row for each model call, written before it is sent and completed when it is answered.

What a killed process had spent is still counted, and calls whose answer never arrived are counted apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Float, Index, Integer, String, Table, Text, bindparam, delete, func, select, update

from guildhall.domain.submissions import Usage
from guildhall.store.records import Store
from guildhall.store.shelves import metadata

model_calls = Table(
    "model_calls",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("item", String(64), nullable=False),
    Column("run", String(200), nullable=False),
    Column("model", String(200), nullable=False),
    Column("begun_at", Float, nullable=False),
    Column("ended_at", Float),
    Column("input_tokens", Integer, nullable=False, default=0),
    Column("output_tokens", Integer, nullable=False, default=0),
    Column("cached_input_tokens", Integer, nullable=False, default=0),
    Column("cache_written_tokens", Integer, nullable=False, default=0),
    Column("reasoning_tokens", Integer, nullable=False, default=0),
    Column("cost_usd", Float),
    Column("price_date", String(64)),
    Column("seconds", Float),
    Column("error", Text),
    Index(None, "run"),
    Index(None, "item"),
)

_COUNTED = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_written_tokens", "reasoning_tokens")


@dataclass(frozen=True)
class Sent:
    """A model call about to be sent."""

    id: str
    item: str
    run: str
    model: str
    at: float


@dataclass(frozen=True)
class Answered:
    """A model call that was answered, or failed for good."""

    id: str
    usage: Usage
    at: float
    seconds: float | None = None
    error: str | None = None


@dataclass(frozen=True)
class Spending:
    """What a run has used: the answered calls, and how many were sent whose answer never arrived."""

    usage: Usage
    known_usd: float
    unanswered: int
    unpriced: int


class Ledger:
    """The model calls of one store. Times are seconds since 1970, handed in by the caller."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def begin(self, calls: Sequence[Sent]) -> None:
        """Ledger rows of calls that are about to be sent."""
        if not calls:
            return
        with self.store.transaction() as connection:
            connection.execute(
                model_calls.insert(),
                [
                    {"id": call.id, "item": call.item, "run": call.run, "model": call.model, "begun_at": call.at}
                    for call in calls
                ],
            )

    def end(self, calls: Sequence[Answered]) -> None:
        """Complete ledger rows with what the provider counted."""
        if not calls:
            return
        counted: dict[str, Any] = {name: bindparam(f"new_{name}") for name in _COUNTED}
        with self.store.transaction() as connection:
            connection.execute(
                update(model_calls)
                .where(model_calls.c.id == bindparam("call_id"))
                .values(
                    ended_at=bindparam("now"),
                    seconds=bindparam("took"),
                    error=bindparam("what"),
                    cost_usd=bindparam("cost"),
                    price_date=bindparam("priced"),
                    **counted,
                ),
                [
                    {
                        "call_id": call.id,
                        "now": call.at,
                        "took": call.seconds,
                        "what": call.error,
                        "cost": call.usage.cost_usd,
                        "priced": call.usage.price_date,
                        **{f"new_{name}": getattr(call.usage, name) for name in _COUNTED},
                    }
                    for call in calls
                ],
            )

    def void(self, ids: Sequence[str]) -> None:
        """Take back rows of calls that were never sent after all: their answer was cached."""
        if ids:
            with self.store.transaction() as connection:
                connection.execute(delete(model_calls).where(model_calls.c.id.in_(list(ids))))

    def begun(self, items: Sequence[str]) -> set[str]:
        """Which of the items have sent a call."""
        found: set[str] = set()
        with self.store.reading() as connection:
            for start in range(0, len(items), 500):
                part = list(items[start : start + 500])
                query = select(model_calls.c.item).where(model_calls.c.item.in_(part)).distinct()
                found |= set(connection.execute(query).scalars())
        return found

    def spent(self, *, run: str | None = None, items: Sequence[str] | None = None) -> Spending:
        """What the ledger holds for a run (or for everything), in calls, tokens and dollars."""
        where = [model_calls.c.run == run] if run is not None else []
        if items is not None:
            where.append(model_calls.c.item.in_(list(items)))
        ended = model_calls.c.ended_at.is_not(None)
        sums = [func.coalesce(func.sum(model_calls.c[name]), 0).label(name) for name in _COUNTED]
        with self.store.reading() as connection:
            row = (
                connection.execute(
                    select(
                        *sums,
                        func.count(model_calls.c.ended_at).label("calls"),
                        func.coalesce(func.sum(model_calls.c.cost_usd), 0.0).label("cost"),
                        func.min(model_calls.c.price_date).label("price_date"),
                        func.count().label("sent"),
                    ).where(*where)
                )
                .mappings()
                .one()
            )
            unpriced = connection.execute(
                select(func.count()).where(
                    *where, ended, model_calls.c.cost_usd.is_(None), model_calls.c.error.is_(None)
                )
            ).scalar_one()
        counts = {name: int(row[name]) for name in _COUNTED}
        known_usd, calls = float(row["cost"]), int(row["calls"])
        cost_usd = known_usd if unpriced == 0 else None
        usage = Usage(**counts, calls=calls, cost_usd=cost_usd, price_date=row["price_date"])
        return Spending(usage, known_usd=known_usd, unanswered=int(row["sent"]) - calls, unpriced=int(unpriced))
