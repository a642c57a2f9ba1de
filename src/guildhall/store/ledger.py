"""The ledger: one row for each model call, written before it is sent and completed when it is answered.

What a killed process had spent is still counted. A row that is open belongs to a call on its way, or to one of which it
is only known that it was sent: a kill, a stop or a lost connection came before its answer. Those are counted by number,
at an unknown cost. An answer that arrived when nobody waited for it any more was paid for, and says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Column, Float, Index, Integer, String, Table, Text, bindparam, delete, func, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from guildhall.domain.submissions import Usage
from guildhall.store.records import Store, lasting
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
_CHUNK = 500

LATE = "the answer arrived after its caller had"
"""How the error of an answer begins that was paid for and not used."""


def booked_on(study: str) -> tuple[str, str]:
    """The names on which the ledger keeps what a study's sampling spends, and what its judging spends."""
    return study, f"{study}:judging"


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
class LateAnswer:
    """An answer that arrived when its caller no longer waited for it. `error` begins with `LATE` and says why."""

    id: str
    call: Sent
    usage: Usage
    at: float
    error: str


class CallState(StrEnum):
    """How a call stands: not ended, ended without anything counted for it, or counted."""

    OPEN = "open"
    FAILED = "failed"
    COUNTED = "counted"


@dataclass(frozen=True)
class Spending:
    """What a run has used: the answered calls, of these the late ones, and how many were sent, answer unknown.

    The cost is unknown as soon as one call's is; `known_usd` is the part that is known.
    """

    usage: Usage
    known_usd: float
    unanswered: int
    unpriced: int
    late: int


class Ledger:
    """The model calls of one store. Times are seconds since 1970, handed in by the caller."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def begin(self, calls: Sequence[Sent]) -> None:
        """Ledger rows of calls that are about to be sent."""
        if not calls:
            return
        with self.store.transaction() as connection:
            dialect: Any = sqlite if connection.dialect.name == "sqlite" else postgresql
            connection.execute(
                dialect.insert(model_calls).on_conflict_do_nothing(index_elements=["id"]),
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
        """Take back rows of requests that were refused, or not sent after all: they cost nothing."""
        if ids:
            with self.store.transaction() as connection:
                connection.execute(delete(model_calls).where(model_calls.c.id.in_(list(ids))))

    def states(self, ids: Sequence[str]) -> dict[str, CallState]:
        """How the calls stand; those the ledger does not hold are absent."""
        counted = model_calls.c.input_tokens + model_calls.c.output_tokens
        found: dict[str, CallState] = {}
        with self.store.reading() as connection:
            for part in _chunks(ids):
                query = select(model_calls.c.id, model_calls.c.ended_at, model_calls.c.error, counted.label("tokens"))
                for row in connection.execute(query.where(model_calls.c.id.in_(part))):
                    ended_well = row.error is None or row.tokens > 0
                    ended = CallState.COUNTED if ended_well else CallState.FAILED
                    found[row.id] = CallState.OPEN if row.ended_at is None else ended
        return found

    def book(self, answers: Sequence[LateAnswer]) -> int:
        """Give each late answer its own row, once, in place of the open row of its call; the number that were new."""
        if not answers:
            return 0
        new = 0
        with self.store.transaction() as connection:
            dialect: Any = sqlite if connection.dialect.name == "sqlite" else postgresql
            insert = dialect.insert(model_calls).on_conflict_do_nothing(index_elements=["id"])
            for part in _chunks([_row(answer) for answer in answers]):
                new += len(connection.execute(insert.values(part).returning(model_calls.c.id)).all())
            for calls in _chunks([answer.call.id for answer in answers]):
                still_open = (model_calls.c.id.in_(calls), model_calls.c.ended_at.is_(None))
                connection.execute(delete(model_calls).where(*still_open))
        return new

    @lasting
    def begun(self, items: Sequence[str]) -> set[str]:
        """Which of the items have sent a call."""
        found: set[str] = set()
        with self.store.reading() as connection:
            for part in _chunks(items):
                query = select(model_calls.c.item).where(model_calls.c.item.in_(part)).distinct()
                found |= set(connection.execute(query).scalars())
        return found

    @lasting
    def spent(self, *, run: str | None = None, items: Sequence[str] | None = None) -> Spending:
        """What the ledger holds for a run (or for everything), in calls, tokens and dollars."""
        where = [model_calls.c.run == run] if run is not None else []
        if items is not None:
            where.append(model_calls.c.item.in_(list(items)))
        late = model_calls.c.error.startswith(LATE)
        answered = model_calls.c.ended_at.is_not(None), or_(model_calls.c.error.is_(None), late)
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
                        func.count().filter(late).label("late"),
                        func.count().filter(*answered, model_calls.c.cost_usd.is_(None)).label("unpriced"),
                    ).where(*where)
                )
                .mappings()
                .one()
            )
        counts = {name: int(row[name]) for name in _COUNTED}
        known_usd, calls = float(row["cost"]), int(row["calls"])
        unanswered = int(row["sent"]) - calls
        cost_usd = known_usd if row["unpriced"] == 0 and unanswered == 0 else None
        usage = Usage(**counts, calls=calls, cost_usd=cost_usd, price_date=row["price_date"])
        return Spending(
            usage,
            known_usd=known_usd,
            unanswered=unanswered,
            unpriced=int(row["unpriced"]),
            late=int(row["late"]),
        )


def _row(answer: LateAnswer) -> dict[str, Any]:
    call, usage = answer.call, answer.usage
    return {
        "id": answer.id,
        "item": call.item,
        "run": call.run,
        "model": call.model,
        "begun_at": call.at,
        "ended_at": answer.at,
        "cost_usd": usage.cost_usd,
        "price_date": usage.price_date,
        "seconds": answer.at - call.at,
        "error": answer.error,
        **{name: getattr(usage, name) for name in _COUNTED},
    }


def _chunks(things: Sequence[Any]) -> Iterator[list[Any]]:
    return (list(things[start : start + _CHUNK]) for start in range(0, len(things), _CHUNK))
