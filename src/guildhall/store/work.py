"""Work items: what is to be done, who is at it, and how it ended; it outlives a killed process.

An item is known by the digest of everything that may change its outcome, so the same work planned twice is one
row. It is claimed before it starts and finished in the same transaction that keeps what it made. A worker that was
silent for too long loses its items; should it wake up, what it made of them is not kept. How long is told by the
database's clock alone: machines disagree about the time.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Float,
    Index,
    Integer,
    Select,
    String,
    Table,
    Text,
    bindparam,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from guildhall.store.database import clock
from guildhall.store.records import Store, lasting
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
    Column("planned_at", Float),
    Index(None, "run", "kind", "state"),
    Index(None, "state", "kind", "planned_at"),
)

_CHUNK = 500
LEASE_S = 300.0
"""How long a silent worker keeps its items; one that is found dead loses them at once."""


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

    @property
    def failed(self) -> bool:
        return self.state is WorkState.FAILED


@dataclass(frozen=True)
class ItemEnd:
    """How an item ended: what it made (a key or JSON), or the error it failed with."""

    item: str
    at: float
    result: str | None = None
    error: str | None = None


def this_worker() -> str:
    """Who holds a lease: a process that can be found again, or found dead, on the same machine."""
    return worker_at(os.getpid())


def worker_at(pid: int) -> str:
    """The same for another process of this machine."""
    return f"{this_machine()}:{pid}:{_started_at(pid)}"


def has_died(worker: str) -> bool | None:
    """Whether a worker of this machine has ended; None for one that cannot be seen from here."""
    machine, pid, started = worker.rsplit(":", 2)
    # Another owner of the same number has another start.
    return _started_at(int(pid)) != started if machine == this_machine() else None


class Work:
    """The work of one store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @lasting
    def plan(self, keys: Iterable[str], *, kind: str, run: str) -> int:
        """Write down what is to be done; the number of items that were new."""
        new, planned_at = 0, None
        with self.store.transaction() as connection:
            dialect: Any = sqlite if connection.dialect.name == "sqlite" else postgresql
            insert = dialect.insert(work_items).on_conflict_do_nothing(index_elements=["key"])
            for chunk in _chunks(list(dict.fromkeys(keys))):
                known = set(connection.execute(select(work_items.c.key).where(work_items.c.key.in_(chunk))).scalars())
                rows = [_planned(key, kind, run) for key in chunk if key not in known]
                if rows:
                    planned_at = planned_at or connection.execute(select(clock(connection))).scalar_one()
                    connection.execute(insert, [row | {"planned_at": planned_at} for row in rows])
                new += len(rows)
        return new

    @lasting
    def items(self, keys: Iterable[str]) -> dict[str, Item]:
        """How the given items stand; unknown keys are absent."""
        columns = [work_items.c[name] for name in Item.__dataclass_fields__]
        found: dict[str, Item] = {}
        with self.store.reading() as connection:
            for chunk in _chunks(list(keys)):
                for row in connection.execute(select(*columns).where(work_items.c.key.in_(chunk))).mappings():
                    found[row["key"]] = Item(**{**row, "state": WorkState(row["state"])})
        return found

    @lasting
    def at_work(self, keys: Iterable[str]) -> set[str]:
        """Which of the items a living worker holds."""
        held: set[str] = set()
        running = work_items.c.state == WorkState.RUNNING.value
        with self.store.reading() as connection:
            for chunk in _chunks(list(keys)):
                rows = connection.execute(_holds(connection).where(work_items.c.key.in_(chunk), running))
                held |= {row.key for row in rows if not _is_free(row, "")}
        return held

    @lasting
    def claim(self, keys: Sequence[str], *, worker: str, lease_s: float = LEASE_S) -> set[str]:
        """Take the items nobody else is at work on; a dead or silent worker's items are free again."""
        taken: set[str] = set()
        with self.store.transaction() as connection:
            for chunk in _chunks(list(keys)):
                asked = _holds(connection).where(work_items.c.key.in_(chunk)).order_by(work_items.c.key)
                held = connection.execute(asked.with_for_update()).all()
                free = [row.key for row in held if row.state != WorkState.DONE and _is_free(row, worker)]
                connection.execute(
                    update(work_items)
                    .where(work_items.c.key.in_(free))
                    .values(
                        state=WorkState.RUNNING.value,
                        worker=worker,
                        leased_until=clock(connection) + lease_s,
                        tries=work_items.c.tries + 1,
                    )
                )
                taken |= set(free)
        return taken

    @lasting
    def renew(self, *, worker: str, lease_s: float = LEASE_S) -> None:
        """A worker that still lives keeps its items."""
        with self.store.transaction() as connection:
            connection.execute(
                update(work_items)
                .where(work_items.c.worker == worker, work_items.c.state == WorkState.RUNNING.value)
                .values(leased_until=clock(connection) + lease_s)
            )

    @lasting
    def release(self, keys: Sequence[str], *, worker: str) -> None:
        """Give back items that this worker claimed and did not end, as if it had never tried.

        What another worker took over stays with it.
        """
        mine = (work_items.c.worker == worker, work_items.c.state == WorkState.RUNNING.value)
        with self.store.transaction() as connection:
            for chunk in _chunks(list(keys)):
                connection.execute(
                    update(work_items)
                    .where(work_items.c.key.in_(chunk), *mine)
                    .values(state=WorkState.PLANNED.value, worker=None, leased_until=None, tries=work_items.c.tries - 1)
                )

    @lasting
    def put_off(self, key: str, *, worker: str) -> None:
        """Give an item back that was tried and could not be ended by a fault of ours: the try counts."""
        mine = (work_items.c.worker == worker, work_items.c.state == WorkState.RUNNING.value)
        with self.store.transaction() as connection:
            connection.execute(
                update(work_items)
                .where(work_items.c.key == key, *mine)
                .values(state=WorkState.PLANNED.value, worker=None, leased_until=None)
            )

    def still_held(self, keys: Sequence[str], *, worker: str) -> set[str]:
        """Which of the items this worker holds; inside a transaction nobody takes them over before it ends."""
        held: set[str] = set()
        mine = (work_items.c.worker == worker, work_items.c.state == WorkState.RUNNING.value)
        with self.store.reading() as connection:
            for chunk in _chunks(list(keys)):
                query = select(work_items.c.key).where(work_items.c.key.in_(chunk), *mine)
                held |= set(connection.execute(query.order_by(work_items.c.key).with_for_update()).scalars())
        return held

    def ended_so(self, outcomes: Sequence[ItemEnd]) -> set[str]:
        """Which of the items ended exactly so before: a commit whose answer was cut off is found to have been made."""
        mine = {outcome.item: outcome for outcome in outcomes}
        columns = (work_items.c.key, work_items.c.ended_at, work_items.c.result, work_items.c.error)
        with self.store.reading() as connection:
            rows = connection.execute(select(*columns).where(work_items.c.key.in_(mine), work_items.c.worker.is_(None)))
            return {row.key for row in rows if mine[row.key] == ItemEnd(row.key, row.ended_at, row.result, row.error)}

    def finish(self, outcomes: Sequence[ItemEnd]) -> None:
        """Done, or failed where there is an error; call it in the transaction that keeps what was made."""
        if not outcomes:
            return
        with self.store.transaction() as connection:
            connection.execute(
                update(work_items)
                .where(work_items.c.key == bindparam("item_key"))
                .values(
                    state=bindparam("new_state"),
                    result=bindparam("new_result"),
                    error=bindparam("new_error"),
                    ended_at=bindparam("now"),
                    worker=None,
                    leased_until=None,
                ),
                [
                    {
                        "item_key": outcome.item,
                        "new_state": (WorkState.DONE if outcome.error is None else WorkState.FAILED).value,
                        "new_result": outcome.result,
                        "new_error": outcome.error,
                        "now": outcome.at,
                    }
                    for outcome in outcomes
                ],
            )

    @lasting
    def counts(self, *, run: str, kind: str | None = None) -> dict[WorkState, int]:
        """How many items of a run stand where."""
        where = [work_items.c.run == run, *([work_items.c.kind == kind] if kind else [])]
        query = select(work_items.c.state, func.count()).where(*where).group_by(work_items.c.state)
        with self.store.reading() as connection:
            return {WorkState(state): int(number) for state, number in connection.execute(query)}

    def take_back(self, machine: str) -> int:
        """Free at once what the workers of a machine hold that is known to be gone; how many items."""
        gone = work_items.c.worker.startswith(f"{machine}:", autoescape=True)
        with self.store.transaction() as connection:
            return connection.execute(
                update(work_items)
                .where(work_items.c.state == WorkState.RUNNING.value, gone)
                .values(state=WorkState.PLANNED.value, worker=None, leased_until=None)
            ).rowcount

    def reopen(self, keys: Sequence[str], *, done: bool = False) -> int:
        """Plan failed items again, and with `done` those taken for done; the number reopened."""
        states = [WorkState.FAILED.value, *([WorkState.DONE.value] if done else [])]
        reopened = 0
        with self.store.transaction() as connection:
            for chunk in _chunks(list(keys)):
                result = connection.execute(
                    update(work_items)
                    .where(
                        work_items.c.key.in_(chunk),
                        or_(work_items.c.state.in_(states), work_items.c.error.is_not(None)),
                    )
                    .values(state=WorkState.PLANNED.value, result=None, error=None, ended_at=None)
                )
                reopened += result.rowcount
        return reopened


def abandoned(store: Store) -> set[str]:
    """Running items whose worker is dead or silent: they are free for whoever claims them next."""
    with store.reading() as connection:
        rows = connection.execute(_holds(connection).where(work_items.c.state == WorkState.RUNNING.value))
        return {row.key for row in rows if _is_free(row, "")}


def _holds(connection: Connection) -> Select[Any]:
    """Who holds what, until when, and what time it is."""
    columns = (work_items.c.key, work_items.c.worker, work_items.c.leased_until, work_items.c.state)
    return select(*columns, clock(connection).label("now"))


def _planned(key: str, kind: str, run: str) -> dict[str, Any]:
    return {"key": key, "kind": kind, "state": WorkState.PLANNED.value, "run": run, "tries": 0}


def _is_free(row: Any, worker: str) -> bool:
    if row.state != WorkState.RUNNING.value or row.worker is None or row.worker == worker:
        return True
    # The same machine can say at once whether that very process still lives; for others the lease must run out.
    return bool(has_died(row.worker) or row.leased_until is None or row.leased_until < row.now)


@cache
def this_machine() -> str:
    """Where process numbers mean the same: containers and clusters give many machines one host name."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8]
    return f"{socket.gethostname()}/{boot}/{Path('/proc/self/ns/pid').stat().st_ino}"


def _started_at(pid: int) -> str:
    """When the process began, in clock ticks since boot; empty when there is no such process, or only its name left."""
    try:
        state, *figures = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if state in "ZX" else figures[18]


def _chunks(keys: list[str]) -> Iterable[list[str]]:
    return (keys[start : start + _CHUNK] for start in range(0, len(keys), _CHUNK))
