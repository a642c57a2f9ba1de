"""Work items and the ledger of model calls: what must outlive a killed process.

An item is known by the digest of everything that may change its outcome, so the same work planned twice is one
row. It is claimed before it starts and finished in the same transaction that keeps what it made. The ledger has
one row for each model call, written before the call is sent and completed when it is answered: what a killed
process had spent is still counted, and calls whose answer never arrived are counted apart.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Column, Float, Index, Integer, String, Table, Text, func, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from guildhall.domain.submissions import Usage
from guildhall.store.records import Store
from guildhall.store.shelves import metadata

work_items = Table(
    "work_items",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("kind", String(200), nullable=False),
    Column("state", String(16), nullable=False),
    Column("run", String(200), nullable=False),
    Column("tries", Integer, nullable=False, default=0),
    Column("result", Text),
    Column("error", Text),
    Column("worker", String(200)),
    Column("leased_until", Float),
    Column("ended_at", Float),
    Index(None, "run", "kind", "state"),
)

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
_CHUNK = 500


class WorkState(StrEnum):
    PLANNED = "planned"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True)
class Item:
    """One row of work as it stands."""

    key: str
    kind: str
    state: WorkState
    run: str
    tries: int
    result: str | None
    error: str | None


@dataclass(frozen=True)
class Spending:
    """What a run has used: the answered calls, and how many were sent whose answer never arrived."""

    usage: Usage
    known_usd: float
    unanswered: int
    unpriced: int


def this_worker() -> str:
    """Who holds a lease: a process that can be found again, or found dead, on the same machine."""
    return f"{socket.gethostname()}:{os.getpid()}:{_started_at(os.getpid())}"


class Work:
    """The work table and the ledger of one store. Times are seconds since 1970, handed in by the caller."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def plan(self, keys: Iterable[str], *, kind: str, run: str) -> int:
        """Write down what is to be done; the number of items that were new."""
        new = 0
        with self.store.transaction() as connection:
            dialect: Any = sqlite if connection.dialect.name == "sqlite" else postgresql
            insert = dialect.insert(work_items).on_conflict_do_nothing(index_elements=["key"])
            for chunk in _chunks(list(dict.fromkeys(keys))):
                known = set(connection.execute(select(work_items.c.key).where(work_items.c.key.in_(chunk))).scalars())
                rows = [_planned(key, kind, run) for key in chunk if key not in known]
                if rows:
                    connection.execute(insert, rows)
                new += len(rows)
        return new

    def items(self, keys: Iterable[str]) -> dict[str, Item]:
        """How the given items stand; unknown keys are absent."""
        columns = [work_items.c[name] for name in Item.__dataclass_fields__]
        found: dict[str, Item] = {}
        with self.store.reading() as connection:
            for chunk in _chunks(list(keys)):
                for row in connection.execute(select(*columns).where(work_items.c.key.in_(chunk))).mappings():
                    found[row["key"]] = Item(**{**row, "state": WorkState(row["state"])})
        return found

    def claim(self, keys: Sequence[str], *, worker: str, now: float, lease_s: float = 300) -> set[str]:
        """Take the items nobody else is at work on; a dead or silent worker's items are free again."""
        taken: set[str] = set()
        with self.store.transaction() as connection:
            for chunk in _chunks(list(keys)):
                held = connection.execute(
                    select(work_items.c.key, work_items.c.worker, work_items.c.leased_until, work_items.c.state).where(
                        work_items.c.key.in_(chunk)
                    )
                ).all()
                free = [row.key for row in held if row.state != WorkState.DONE and _is_free(row, worker, now)]
                connection.execute(
                    update(work_items)
                    .where(work_items.c.key.in_(free))
                    .values(
                        state=WorkState.RUNNING.value,
                        worker=worker,
                        leased_until=now + lease_s,
                        tries=work_items.c.tries + 1,
                    )
                )
                taken |= set(free)
        return taken

    def renew(self, *, worker: str, now: float, lease_s: float = 300) -> None:
        """A worker that still lives keeps its items."""
        with self.store.transaction() as connection:
            connection.execute(
                update(work_items)
                .where(work_items.c.worker == worker, work_items.c.state == WorkState.RUNNING.value)
                .values(leased_until=now + lease_s)
            )

    def release(self, keys: Sequence[str]) -> None:
        """Give back items that were claimed and not begun."""
        with self.store.transaction() as connection:
            for chunk in _chunks(list(keys)):
                connection.execute(
                    update(work_items)
                    .where(work_items.c.key.in_(chunk), work_items.c.state == WorkState.RUNNING.value)
                    .values(state=WorkState.PLANNED.value, worker=None, leased_until=None)
                )

    def finish(self, key: str, *, result: str | None, error: str | None = None, now: float) -> None:
        """Done, or failed where there is an error; call it in the transaction that keeps what was made."""
        state = WorkState.DONE if error is None else WorkState.FAILED
        with self.store.transaction() as connection:
            connection.execute(
                update(work_items)
                .where(work_items.c.key == key)
                .values(state=state.value, result=result, error=error, worker=None, leased_until=None, ended_at=now)
            )

    def begin_calls(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Ledger rows of calls about to be sent: `id, item, run, model, begun_at`."""
        with self.store.transaction() as connection:
            connection.execute(model_calls.insert(), list(rows))

    def end_call(
        self, call: str, *, usage: Usage, now: float, seconds: float | None = None, error: str | None = None
    ) -> None:
        """Complete a ledger row with what the provider counted."""
        with self.store.transaction() as connection:
            counted = {name: getattr(usage, name) for name in _COUNTED}
            connection.execute(
                update(model_calls)
                .where(model_calls.c.id == call)
                .values(
                    ended_at=now,
                    seconds=seconds,
                    error=error,
                    cost_usd=usage.cost_usd,
                    price_date=usage.price_date,
                    **counted,
                )
            )

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

    def counts(self, *, run: str, kind: str | None = None) -> dict[WorkState, int]:
        """How many items of a run stand where."""
        where = [work_items.c.run == run, *([work_items.c.kind == kind] if kind else [])]
        query = select(work_items.c.state, func.count()).where(*where).group_by(work_items.c.state)
        with self.store.reading() as connection:
            return {WorkState(state): int(number) for state, number in connection.execute(query)}

    def reopen(self, keys: Sequence[str]) -> int:
        """Plan failed items again; the number reopened."""
        reopened = 0
        with self.store.transaction() as connection:
            for chunk in _chunks(list(keys)):
                result = connection.execute(
                    update(work_items)
                    .where(
                        work_items.c.key.in_(chunk),
                        or_(work_items.c.state == WorkState.FAILED.value, work_items.c.error.is_not(None)),
                    )
                    .values(state=WorkState.PLANNED.value, result=None, error=None, ended_at=None)
                )
                reopened += result.rowcount
        return reopened


def _planned(key: str, kind: str, run: str) -> dict[str, Any]:
    return {"key": key, "kind": kind, "state": WorkState.PLANNED.value, "run": run, "tries": 0}


def _is_free(row: Any, worker: str, now: float) -> bool:
    if row.state != WorkState.RUNNING.value or row.worker is None or row.worker == worker:
        return True
    host, pid, started = row.worker.rsplit(":", 2)
    if host == socket.gethostname():
        # The same machine can say at once whether that very process still lives; another pid owner has another start.
        return _started_at(int(pid)) != started
    return bool(row.leased_until is None or row.leased_until < now)


def _started_at(pid: int) -> str:
    """When the process began, in clock ticks since boot; empty when there is no such process."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def _chunks(keys: list[str]) -> Iterable[list[str]]:
    return (keys[start : start + _CHUNK] for start in range(0, len(keys), _CHUNK))
