"""The table of verdicts says what the judgments say, however and by whomever they were written."""

from __future__ import annotations

import threading
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import TaskKey
from guildhall.domain.values import Value
from guildhall.errors import ImpossibleValue
from guildhall.store.backup import restore_backup, take_backup
from guildhall.store.bundles import export_bundle, import_bundle
from guildhall.store.database import open_database, upgrade
from guildhall.store.records import Store
from guildhall.store.secret import KEY_FILE
from guildhall.store.shelves import shelf_of
from guildhall.store.verdict_parts import Verdicts, read_verdicts
from guildhall.store.verdicts import rebuild, unlike_rebuild
from guildhall.store.workspace import Workspace
from tests.store.judged import NUMBERS, STUDIES, broken, emptied, put, said_by_table, said_by_values, world

NOWHERE = Path("/nonexistent/parts")


def true_to_the_values(store: Store) -> None:
    assert list(unlike_rebuild(store)) == []
    assert said_by_table(store, NOWHERE) == said_by_values(store)


orders = st.permutations(range(len(world())))
"""The world in any order; by numbers, which can be shown when a test fails."""


@st.composite
def writings(draw: st.DrawFn) -> list[tuple[list[int], str]]:
    """The world or a part of it, in any order and grouping; some of it written twice, or taken back at first."""
    order = draw(orders)
    order = order[: draw(st.integers(1, len(order)))] if draw(st.booleans()) else order
    cuts = sorted(draw(st.sets(st.integers(0, len(order)), max_size=6)))
    ways = st.sampled_from(["once", "twice", "nested", "taken back", "by one"])
    return [(order[start:end], draw(ways)) for start, end in zip([0, *cuts], [*cuts, len(order)], strict=True)]


def write(store: Store, some: list[Value], how: str) -> None:
    if how == "by one":
        for value in some:
            store.add(value)
        return
    if how == "taken back":
        with pytest.raises(RuntimeError), store.transaction():
            store.add_all(some)
            raise RuntimeError("the power failed")
    for _ in range(2 if how == "twice" else 1):
        with store.transaction():
            half = len(some) // 2 if how == "nested" else 0
            with store.transaction():
                store.add_all(some[:half])
            store.add_all(some[half:])


@settings(max_examples=25)
@given(written=writings())
def test_whatever_the_order_of_writing_the_table_is_what_a_rebuild_would_make(
    store: Store, written: list[tuple[list[int], str]]
) -> None:
    emptied(store)
    for some, how in written:
        write(store, [world()[number] for number in some], how)
    true_to_the_values(store)


@settings(max_examples=10)
@given(first=orders, second=orders)
def test_frames_do_not_follow_row_numbers(store: Store, first: list[int], second: list[int]) -> None:
    found = []
    for order in (first, second):
        emptied(store).add_all(world()[number] for number in order)
        frames = read_verdicts(store, STUDIES, parts=NOWHERE)
        found.append([frames.rows.drop(NUMBERS), *(one for one in frames[1:] if one is not None)])
    for mine, theirs in zip(*found, strict=True):
        assert_frame_equal(mine, theirs)


def test_nothing_of_a_transaction_that_failed_is_left(store: Store) -> None:
    with pytest.raises(RuntimeError), store.transaction():
        store.add_all(world())
        raise RuntimeError("half-way")
    assert read_verdicts(store, STUDIES, parts=NOWHERE).rows.is_empty()
    assert list(unlike_rebuild(store)) == []


@pytest.mark.parametrize("seed", range(3))
def test_what_writers_wrote_at_the_same_time_stands_once_after_the_next_write(store: Store, seed: int) -> None:
    failed: list[BaseException] = []

    def work(number: int) -> None:
        rng = Random(f"{seed} {number}")
        values = rng.sample(world(), len(world()))
        try:
            while values:
                cut = rng.randint(1, 12)
                # Rows of one shelf go in by key, as a bundle brings them: else two writers wait for each other.
                store.add_all(sorted(values[:cut], key=lambda value: (type(value).__name__, value.content_digest())))
                del values[:cut]
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    judgment = next(one for one in world() if isinstance(one, Judgment))
    store.add(judgment.but(reason="The next write."))
    assert store.count(Judgment) == 1 + sum(isinstance(value, Judgment) for value in world())
    true_to_the_values(store)


def test_a_judgment_of_works_its_comparison_does_not_show_is_refused_and_not_kept(store: Store) -> None:
    store.add_all(world())
    before = store.count(Judgment)
    with pytest.raises(ImpossibleValue, match="not the works of its comparison"):
        store.add(broken())
    assert store.count(Judgment) == before
    true_to_the_values(store)


def test_a_number_no_column_holds_is_refused_by_its_name(store: Store) -> None:
    store.add_all(world())
    judgment = next(one for one in world() if isinstance(one, Judgment))
    with pytest.raises(ImpossibleValue, match="sweep is 2147483648"):
        store.add(judgment.but(sweep=1 << 31))


def test_a_broken_judgment_that_waits_does_not_keep_its_comparison_out(store: Store) -> None:
    kinds = {kind: [one for one in world() if isinstance(one, kind)] for kind in (Comparison, Submission)}
    store.add_all(kinds[Submission])
    store.add(broken())
    assert list(unlike_rebuild(store)) == []
    store.add_all(kinds[Comparison])
    ((subject, what),) = unlike_rebuild(store)
    assert "row 1" in subject and "left out of all results" in what
    store.add_all(world())
    assert said_by_table(store, NOWHERE) == said_by_values(store)


def test_an_upgrade_makes_the_table_of_all_that_was_kept_and_names_what_it_left_out(database_url: str) -> None:
    engine = open_database(database_url)
    upgrade(engine, "0012")
    old = Store(engine)
    for value in (*world(), broken()):
        _put_before(old, value)
    upgrade(engine)
    store = Store.open(database_url)
    ((_, what),) = unlike_rebuild(store)
    assert "left out of all results: order is not the works of its comparison" in what
    assert said_by_table(store, NOWHERE) == said_by_values(store)
    for opened in (old, store):
        opened.close()


def _put_before(store: Store, value: Value) -> None:
    """Keep a value in a schema that has no table of verdicts."""
    shelf = shelf_of(type(value))
    row = {name: cell for name, cell in shelf.row(value).items() if name != "place"}  # nor of places
    with store.engine.connect().execution_options(writes=True) as connection, connection.begin():
        connection.execute(shelf.table.insert().values(row))


def test_a_bundle_brings_its_verdicts_to_a_workspace_that_has_others(tmp_path: Path, database_url: str) -> None:
    url = None if database_url.startswith("sqlite") else database_url
    with Workspace.create(tmp_path / "a") as source, Workspace.create(tmp_path / "b", database=url) as target:
        source.store.add_all(world())
        export_bundle(source.store, source.blobs, tmp_path / "a.tar")
        target.store.add_all(Random(1).sample(world(), 40))
        import_bundle(target.store, target.blobs, tmp_path / "a.tar")
        true_to_the_values(target.store)
        assert said_by_table(target.store, NOWHERE) == said_by_table(source.store, NOWHERE)


def test_a_bundle_holds_no_verdicts_and_a_backup_brings_them_back(tmp_path: Path, database_url: str) -> None:
    url = None if database_url.startswith("sqlite") else database_url
    with Workspace.create(tmp_path / "w", database=url) as workspace:
        workspace.store.add_all(world())
        contents = export_bundle(workspace.store, workspace.blobs, tmp_path / "w.tar")
        assert set(contents.rows) == {"tasks", "submissions", "comparisons", "judgments"}
        backup = take_backup(workspace, tmp_path / "backup.tar", now=1.0)
        assert backup.rows["verdicts"] == len(said_by_values(workspace.store))
        said = said_by_table(workspace.store, workspace.verdict_parts)
    if url is not None:
        url = str(_another(url))
    with restore_backup(
        tmp_path / "backup.tar", tmp_path / "again", database=url, key=tmp_path / "w" / KEY_FILE
    ) as restored:
        assert said_by_table(restored.store, restored.verdict_parts) == said
        judgment = next(one for one in world() if isinstance(one, Judgment))
        restored.store.add(judgment.but(reason="Another look.", grader={"kind": "person", "code_name": "new"}))
        true_to_the_values(restored.store)


def _another(url: str) -> str:
    """A second, empty database on the same server."""
    import psycopg

    name = f"{url.rpartition('/')[2]}_restored"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
    return f"{url.rpartition('/')[0]}/{name}"


def test_a_rebuild_changes_nothing_of_a_table_that_was_true(store: Store) -> None:
    store.add_all(world())
    before = said_by_table(store, NOWHERE)
    assert rebuild(store) == store.count(Judgment)
    assert said_by_table(store, NOWHERE) == before
    put(store, broken())
    assert rebuild(store) == store.count(Judgment)
    assert said_by_table(store, NOWHERE) == before


@pytest.mark.parametrize("form_first", [True, False])
def test_a_judgment_is_of_the_wording_stated_else_pinned_else_the_one_its_work_was_made_for(
    store: Store, form_first: bool
) -> None:
    form = Study(id="one", title="One", seed=1, tasks=(TaskKey("t-1@7"),))
    stated = next(one for one in world() if isinstance(one, Comparison) and one.task == "t-1" and one.study == "one")
    stated = stated.but(task_version=3)
    judgment = next(one for one in world() if isinstance(one, Judgment))
    stating = judgment.but(comparison=stated.key, order=stated.submissions, ranks=(1, 2), usability=())
    values = [*world(), stated, stating]
    store.add_all([form, *values] if form_first else [*values, form])
    found = read_verdicts(store, ("one", "two"), parts=NOWHERE)
    keys = dict(zip(found.tasks["task"], found.tasks["key"], strict=True))
    told = {(row["study"], row["key"]) for row in _with_task(found, keys)}
    assert told == {(0, "t-1@7"), (0, "t-1@3"), (0, "t-2@2"), (1, "t-1@1"), (1, "t-2@2")}
    assert list(unlike_rebuild(store)) == []


def _with_task(found: Verdicts, keys: dict[int, str]) -> list[dict[str, Any]]:
    return [{**row, "key": keys[row["task"]]} for row in found.rows.select("study", "task").unique().to_dicts()]


def test_what_comes_beside_a_judgment_another_writer_kept_first_is_not_overlooked(store: Store) -> None:
    """Two writers bring one judgment; the second one's works are what a third judgment waits for."""
    values = world()
    judged = [one for one in values if isinstance(one, Judgment)]
    first = set(judged[0].order)
    later = [one for one in values if isinstance(one, Submission) and one.key not in first]
    store.add_all([one for one in values if one not in later])
    with store.transaction():
        store.add_all(later)
        written = store._written.get()
        assert written is not None
        written.note("judgments", [judged[0].key])
    true_to_the_values(store)
