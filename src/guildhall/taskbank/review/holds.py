"""Who holds which task, since when. A hold keeps two reviewers off one task; it runs out after three days."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite

from guildhall.domain.reviews import Stage
from guildhall.domain.values import Id, Value
from guildhall.store.records import Store
from guildhall.store.reviewing import review_holds

HOLD_S = 72 * 3600.0


class Hold(Value):
    task: Id
    draft: Id
    stage: Stage
    holder: Id
    since: float
    expires_at: float


class Holds:
    """The holds of one store. `now` is seconds since 1970, handed in by the caller."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def take(self, wanted: Hold, *, now: float) -> Hold:
        """Hold a task, or learn who holds it: of two simultaneous takers the first wins."""
        with self.store.transaction() as connection:
            stale = (review_holds.c.expires_at <= now) | (review_holds.c.draft != wanted.draft)
            connection.execute(delete(review_holds).where(review_holds.c.task == wanted.task, stale))
            dialect: Any = sqlite if connection.dialect.name == "sqlite" else postgresql
            insert = dialect.insert(review_holds).on_conflict_do_nothing(index_elements=["task"])
            connection.execute(insert.values(**wanted.model_dump(mode="json")))
            row = connection.execute(select(review_holds).where(review_holds.c.task == wanted.task)).mappings().one()
        return Hold.model_validate(dict(row))

    def drop(self, task: Id) -> None:
        with self.store.transaction() as connection:
            connection.execute(delete(review_holds).where(review_holds.c.task == task))

    def of(self, task: Id, *, now: float) -> Hold | None:
        return self.all(now=now).get(task)

    def all(self, *, now: float) -> dict[Id, Hold]:
        """Holds that have not run out, by task."""
        with self.store.reading() as connection:
            rows = connection.execute(select(review_holds).where(review_holds.c.expires_at > now)).mappings().all()
        return {row["task"]: Hold.model_validate(dict(row)) for row in rows}
