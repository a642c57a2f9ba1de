"""What code asks of the database, written down while it asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from sqlalchemy import event

from guildhall.store.records import Store


class Statement(NamedTuple):
    text: str
    parameters: Any


@contextmanager
def statements(store: Store) -> Iterator[list[Statement]]:
    """The statements sent to the store's database inside the block, in their order."""
    sent: list[Statement] = []

    def note(_connection: Any, _cursor: Any, text: str, parameters: Any, *_: Any) -> None:
        sent.append(Statement(text, parameters))

    event.listen(store.engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(store.engine, "before_cursor_execute", note)
