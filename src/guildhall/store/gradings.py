"""Gradings that programs ask for: who asked, for what, under which idempotency key. How far one has come is work.

The row and its work item are written together; a killed worker leaves an item that the next one takes up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
    func,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from guildhall.domain.gradings import GradingRequest
from guildhall.domain.values import Digest, Id
from guildhall.errors import UnknownName
from guildhall.store.access import api_tokens
from guildhall.store.records import Store
from guildhall.store.shelves import metadata
from guildhall.store.work import Item, Work, WorkState, work_items

gradings = Table(
    "gradings",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("token", String(64), ForeignKey("api_tokens.token_digest"), nullable=False),
    Column("idempotency_key", String(255)),
    Column("asked", String(64), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
    Column("verdicts_wanted", Integer),
    Column("made_at", Float, nullable=False),
    UniqueConstraint("token", "idempotency_key"),
    Index(None, "token", "made_at"),
)
"""`asked` is the digest of everything the caller sent; `verdicts_wanted` is known once the work began."""

KIND = RUN = "gradings"


@dataclass(frozen=True)
class Grading:
    """A grading as it stands. `asked` tells whether two calls asked for the same."""

    request: GradingRequest
    token_name: str
    asked: Digest
    verdicts_wanted: int | None
    made_at: float
    work: Item


class Gradings:
    """The gradings of one store. `token` is the digest of the API token that asked: nobody else's are there."""

    def __init__(self, store: Store) -> None:
        self.store, self.work = store, Work(store)

    def add(
        self, request: GradingRequest, *, token: Digest, key: str | None, asked: Digest, size: int, now: float
    ) -> bool:
        """Queue a grading; False when this token used the key before, and then nothing is written."""
        with self.store.transaction() as connection:
            dialect: Any = sqlite if connection.dialect.name == "sqlite" else postgresql
            row = {"id": request.id, "token": token, "idempotency_key": key, "asked": asked, "size": size}
            added = connection.execute(
                dialect.insert(gradings)
                .values(**row, body=request.canonical().decode(), made_at=now)
                .on_conflict_do_nothing(index_elements=["token", "idempotency_key"])
            )
            if added.rowcount:
                self.work.plan([request.id], kind=KIND, run=RUN)
        return bool(added.rowcount)

    def get(self, identity: Id, *, token: Digest | None = None) -> Grading:
        """A grading by its id; with a token, only one that this token asked for."""
        where = [gradings.c.id == identity, *([gradings.c.token == token] if token else [])]
        found = self._find(where, limit=1)
        if not found:
            raise UnknownName("grading", identity, fix="it is not one this token asked for")
        return found[0]

    def by_key(self, key: str, *, token: Digest) -> Grading | None:
        """What this token asked for under an idempotency key."""
        found = self._find([gradings.c.token == token, gradings.c.idempotency_key == key], limit=1)
        return found[0] if found else None

    def of(self, token: Digest, *, limit: int = 100) -> list[Grading]:
        """The newest gradings this token asked for."""
        return self._find([gradings.c.token == token], limit=limit)

    def newest(self, *, limit: int) -> list[Grading]:
        """The newest gradings, whoever asked."""
        return self._find([], limit=limit)

    def spent(self, token: Digest, *, since: float) -> tuple[int, int]:
        """How many gradings a token asked for since a time, and how many bytes it sent."""
        query = select(func.count(), func.coalesce(func.sum(gradings.c.size), 0)).where(
            gradings.c.token == token, gradings.c.made_at > since
        )
        with self.store.reading() as connection:
            count, size = connection.execute(query).one()
        return int(count), int(size)

    def open(self, *, limit: int = 50) -> list[Grading]:
        """What is queued or at work, the longest waiting first."""
        states = [WorkState.PLANNED.value, WorkState.RUNNING.value]
        return self._find([work_items.c.state.in_(states)], limit=limit, newest=False)

    def want(self, identity: Id, verdicts: int) -> None:
        """Write down how many verdicts a grading asks for, so that its progress has an end."""
        with self.store.transaction() as connection:
            connection.execute(update(gradings).where(gradings.c.id == identity).values(verdicts_wanted=verdicts))

    def _find(self, where: list[Any], *, limit: int, newest: bool = True) -> list[Grading]:
        order = gradings.c.made_at.desc() if newest else gradings.c.made_at
        items = [work_items.c[name] for name in Item.__dataclass_fields__]
        own = [gradings.c[name] for name in ("body", "asked", "verdicts_wanted", "made_at")]
        joined = gradings.join(work_items, work_items.c.key == gradings.c.id).join(api_tokens)
        named = api_tokens.c.name.label("token_name")
        query = (
            select(*own, named, *items).select_from(joined).where(*where).order_by(order, gradings.c.id).limit(limit)
        )
        with self.store.reading() as connection:
            return [_grading(row) for row in connection.execute(query).mappings()]


def _grading(row: Any) -> Grading:
    item = Item(**{name: row[name] for name in Item.__dataclass_fields__} | {"state": WorkState(row["state"])})
    request = GradingRequest.model_validate_json(row["body"])
    return Grading(request, row["token_name"], row["asked"], row["verdicts_wanted"], row["made_at"], item)
