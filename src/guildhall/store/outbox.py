"""The outbox: what is to reach somebody outside, by e-mail or by webhook, kept until it did or was given up.

Sending is tried again with growing pauses. To take an item is to move its next try into the future, so that a worker
killed on the way costs one pause and nothing else. Neither an address nor a link nor a secret is ever kept here.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, LargeBinary, String, Table, Text, select, update

from guildhall.domain.values import canonical_json
from guildhall.store.records import Store
from guildhall.store.shelves import metadata

webhooks = Table(
    "webhooks",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("url", String(2000), nullable=False),
    Column("events", Text, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("member", String(64), ForeignKey("members.id"), nullable=False),
    Column("made_at", Float, nullable=False),
    Column("revoked_at", Float),
)
"""Who is told what. `sealed` is the signing secret under the workspace's own key."""

outbox = Table(
    "outbox",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("target", String(64), nullable=False),
    Column("event", String(64), nullable=False),
    Column("body", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("tries", Integer, nullable=False),
    Column("next_at", Float, nullable=False),
    Column("answer", String(300)),
    Column("made_at", Float, nullable=False),
    Column("ended_at", Float),
    Index(None, "state", "next_at"),
    Index(None, "kind", "made_at"),
)

EVENTS = {
    "judgment.submitted": "a planned judgment was submitted",
    "study.complete": "the last planned judgment of a study was submitted",
    "grading.done": "a grading a program asked for is done",
    "grading.failed": "a grading a program asked for has failed",
}
"""What a webhook can be told of, in words for the manager."""

PAUSES_S = (10.0, 60.0, 300.0, 1800.0, 7200.0, 6 * 3600.0, 12 * 3600.0)
"""How long to wait after each try that failed; after the last one the item is given up."""


class SendState(StrEnum):
    WAITING = "waiting"
    SENT = "sent"
    GIVEN_UP = "given up"


class Channel(StrEnum):
    MAIL = "mail"
    WEBHOOK = "webhook"


@dataclass(frozen=True)
class Parcel:
    """One item: to whom, what, and how its sending stands. `answer` says how the last try ended."""

    id: str
    kind: Channel
    target: str
    event: str
    body: str
    state: SendState
    tries: int
    next_at: float
    answer: str | None
    made_at: float
    ended_at: float | None

    @property
    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


class Outbox:
    """The outbox of one store. Times are seconds since 1970, handed in by the caller."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def post(self, kind: Channel, *, target: str, event: str, facts: Mapping[str, Any], now: float) -> str:
        """Queue an item; inside a transaction it is kept or lost together with what it tells."""
        row = {"id": secrets.token_hex(16), "kind": kind.value, "target": target, "event": event, "tries": 0}
        body = canonical_json(dict(facts)).decode()
        with self.store.transaction() as connection:
            connection.execute(
                outbox.insert().values(**row, body=body, state=SendState.WAITING.value, next_at=now, made_at=now)
            )
        return str(row["id"])

    def awaited(self, event: str) -> bool:
        """Whether any webhook asked for this event."""
        return bool(self._listeners(event))

    def announce(self, event: str, facts: Mapping[str, Any], *, now: float) -> int:
        """Tell every webhook that asked for this event; how many there are."""
        with self.store.transaction():
            told = self._listeners(event)
            for hook in told:
                self.post(Channel.WEBHOOK, target=hook, event=event, facts=facts, now=now)
        return len(told)

    def _listeners(self, event: str) -> list[str]:
        query = select(webhooks.c.id, webhooks.c.events).where(webhooks.c.revoked_at.is_(None))
        with self.store.reading() as connection:
            return [row.id for row in connection.execute(query) if event in json.loads(row.events)]

    def take(self, kind: Channel, *, now: float) -> Parcel | None:
        """The item of a kind that is due longest, now this worker's to send; None when none is due."""
        due = (outbox.c.kind == kind.value, outbox.c.state == SendState.WAITING.value, outbox.c.next_at <= now)
        with self.store.transaction() as connection:
            row = (
                connection.execute(select(outbox).where(*due).order_by(outbox.c.next_at, outbox.c.id).limit(1))
                .mappings()
                .first()
            )
            if row is None:
                return None
            pause = PAUSES_S[min(row["tries"], len(PAUSES_S) - 1)]
            moved = {"tries": row["tries"] + 1, "next_at": now + pause}
            # Guarded by the time it was due: of two workers on PostgreSQL only one moves it.
            mine = connection.execute(
                update(outbox).where(outbox.c.id == row["id"], outbox.c.next_at == row["next_at"], *due).values(**moved)
            ).rowcount
        return _parcel({**row, **moved}) if mine else None

    def settle(self, parcel: Parcel, *, sent: bool, answer: str, now: float, again: bool = True) -> SendState:
        """How a try ended. A failure waits for its next try, unless it was the last or another could not help."""
        over = sent or not again or parcel.tries > len(PAUSES_S)
        state = SendState.SENT if sent else SendState.GIVEN_UP if over else SendState.WAITING
        with self.store.transaction() as connection:
            connection.execute(
                update(outbox)
                .where(outbox.c.id == parcel.id)
                .values(state=state.value, answer=answer[:300], ended_at=now if over else None)
            )
        return state

    def log(self, kind: Channel, *, limit: int = 100) -> list[Parcel]:
        """The newest items of a kind, newest first."""
        query = select(outbox).where(outbox.c.kind == kind.value).order_by(outbox.c.made_at.desc(), outbox.c.id)
        with self.store.reading() as connection:
            return [_parcel({**row}) for row in connection.execute(query.limit(limit)).mappings()]


def _parcel(row: dict[str, Any]) -> Parcel:
    return Parcel(**{**row, "kind": Channel(row["kind"]), "state": SendState(row["state"])})
