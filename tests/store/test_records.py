"""The store gives back what it was given, on both databases, and never edits in place."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from guildhall.domain.tasks import Task
from guildhall.domain.values import Value
from guildhall.errors import Conflict, NoSchema, UnknownName
from guildhall.store import database
from guildhall.store.database import HEAD, open_database, upgrade
from guildhall.store.records import Store
from guildhall.store.shelves import SHELVES, shelf_of
from tests.postgres import Server
from tests.strategies import STRATEGIES, kept_values, tasks

PLAIN = Task(id="t-1", sector="Information", occupation="Editors", brief="Write it.")


@given(values=st.lists(kept_values, min_size=1, max_size=5))
def test_every_value_comes_back_equal(store: Store, values: list[Value]) -> None:
    for value in values:
        try:
            store.add(value)
        except Conflict:
            continue  # two drawn values may share a key; the next test is about that
        key = shelf_of(type(value)).key(value)
        assert store.get(type(value), key) == value


def test_the_strategies_cover_every_shelf() -> None:
    """A shelf added without a strategy would escape the round trip above."""
    assert set(STRATEGIES) == {shelf.type for shelf in SHELVES}


def test_the_same_value_twice_is_kept_once(store: Store) -> None:
    assert store.add(PLAIN)
    assert not store.add(PLAIN)
    assert store.count(Task) == 1


def test_the_same_key_with_another_content_is_refused(store: Store) -> None:
    store.add(PLAIN)
    with pytest.raises(Conflict, match="t-1@1"):
        store.add(PLAIN.but(brief="Write it again."))
    assert store.get(Task, "t-1@1") == PLAIN


def test_a_conflict_inside_a_batch_keeps_nothing_of_it(store: Store) -> None:
    store.add(PLAIN)
    with pytest.raises(Conflict):
        store.add_all([PLAIN.but(id="t-2"), PLAIN.but(brief="other")])
    assert store.count(Task) == 1


def test_a_transaction_that_fails_keeps_nothing(store: Store) -> None:
    with pytest.raises(RuntimeError), store.transaction():
        store.add(PLAIN)
        raise RuntimeError("half-way")
    assert store.count(Task) == 0


def test_find_filters_by_column_and_keeps_the_order_of_arrival(store: Store) -> None:
    store.add_all(
        PLAIN.but(id=f"t-{number}", sector="Information" if number % 2 else "Government") for number in range(6)
    )
    assert [task.id for task in store.find(Task, sector="Information")] == ["t-1", "t-3", "t-5"]
    assert store.count(Task, id=["t-0", "t-3"]) == 2
    with pytest.raises(UnknownName, match="colour"):
        store.find(Task, colour="red")


def test_writers_at_the_same_time_keep_every_value_once(store: Store) -> None:
    def write(start: int) -> None:
        for number in range(start, start + 20):
            store.add(PLAIN.but(id=f"t-{number}"))

    threads = [threading.Thread(target=write, args=(10 * index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.count(Task) == 50


def test_a_database_without_our_schema_is_refused_by_name(database_url: str) -> None:
    with pytest.raises(NoSchema, match="init --upgrade"):
        Store.open(database_url)


def test_the_written_schema_is_the_newest_migration(database_url: str) -> None:
    engine = open_database(database_url)
    upgrade(engine)
    store = Store.open(database_url)
    assert store.revision() == HEAD
    store.close()
    engine.dispose()


@given(task=tasks)
def test_equal_values_have_equal_bytes(task: Task) -> None:
    assert Task.model_validate_json(task.canonical()).canonical() == task.canonical()


def test_the_newest_value_is_the_one_kept_last(store: Store) -> None:
    assert store.newest(Task, id="t-1") is None
    store.add_all([PLAIN, PLAIN.but(version=2), PLAIN.but(id="t-2")])
    assert store.newest(Task, id="t-1") == PLAIN.but(version=2)


def test_a_glance_inside_a_transaction_sees_what_it_wrote(store: Store) -> None:
    with store.transaction():
        store.add(PLAIN)
        assert store.get(Task, "t-1@1") == PLAIN


def test_a_connection_that_died_while_idle_is_replaced_unnoticed(
    postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_TRUSTED_S", 0.0)
    engine = open_database(postgres.new_database())
    with engine.connect() as connection:
        backend = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
    other = open_database(engine.url.render_as_string(hide_password=False))
    with other.connect() as connection:
        connection.execute(text(f"SELECT pg_terminate_backend({backend}, 10000)"))
    with engine.connect() as connection:
        assert connection.execute(text("SELECT pg_backend_pid()")).scalar_one() != backend
    engine.dispose()
    other.dispose()
