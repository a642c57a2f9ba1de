"""Fields of kept values as columns, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime

from guildhall.domain.authors import ModelRun, Person
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef
from guildhall.store.fields import Along, JsonText, read_fields
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of


def submission(number: int) -> Submission:
    author = ModelRun(name=f"model-{number % 2}", model="scripted/x", sample=number + 1)
    files = (FileRef(name="a.docx"),) if number else ()
    return Submission(task="t", author=author, files=files, confidence=80.5 if number == 1 else None)


def test_fields_come_as_typed_columns_and_what_is_absent_is_none(store: Store) -> None:
    store.add_all([submission(number) for number in range(3)])
    wanted = {
        "name": (str, "author.name"),
        "sample": (int, "author.sample"),
        "confidence": (float, "confidence"),
        "files": (JsonText, "files"),
        "as_list": (list, "files"),
        "nowhere": (bool, "usage.nowhere"),
    }
    [found] = read_fields(store, Submission, wanted, columns=("seq", "task"))
    assert found["name"] == ("model-0", "model-1", "model-0")
    assert found["sample"] == (1, 2, 3)
    assert found["confidence"] == (None, 80.5, None)
    assert found["files"][0] == "[]" and '"a.docx"' in found["files"][1]
    assert found["as_list"][0] == [] and found["as_list"][1][0]["name"] == "a.docx"
    assert found["nowhere"] == (None, None, None)
    assert list(found["seq"]) == sorted(found["seq"]) and found["task"] == ("t", "t", "t")


def test_many_rows_come_in_chunks_and_conditions_narrow_them(store: Store) -> None:
    store.add_all([submission(number) for number in range(7)])
    later = shelf_of(Submission).table.c.seq > 2
    wanted = {"sample": (int, "author.sample")}
    chunks = list(read_fields(store, Submission, wanted, narrowed=lambda query: query.where(later), rows_a_chunk=2))
    assert [chunk["sample"] for chunk in chunks] == [(3, 4), (5, 6), (7,)]


def test_numbers_keep_every_digit(store: Store) -> None:
    seconds = 0.1 + 0.2
    store.add(Submission(task="t", author=ModelRun(name="m", model="scripted/x"), seconds=seconds))
    [found] = read_fields(store, Submission, {"seconds": (float, "seconds")})
    assert found["seconds"] == (seconds,)


def test_a_transaction_reads_what_it_wrote_in_chunks_too(store: Store) -> None:
    with store.transaction():
        store.add_all([submission(number) for number in range(3)])
        chunks = list(read_fields(store, Submission, {"sample": (int, "author.sample")}, rows_a_chunk=1))
    assert [chunk["sample"] for chunk in chunks] == [(1,), (2,), (3,)]


def test_values_come_in_the_order_of_the_shelf_they_are_read_along(store: Store) -> None:
    works = [submission(number) for number in range(6)]
    comparisons = [Comparison(study=study, task="t", submissions=(works[0].key, works[1].key)) for study in ("s", "u")]
    comparisons += [Comparison(study="s", task="t", submissions=(works[2].key, works[at].key)) for at in (3, 4, 5)]
    judgments = [judgment(one, f"g{number}") for number in range(2) for one in reversed(comparisons)]
    store.add_all([*works, *comparisons, *judgments])
    table = shelf_of(Comparison).table
    along = Along(table, shelf_of(Judgment).table.c.comparison == table.c.key, table.c.study == "s")
    fields = {"grader": (str, "grader.code_name"), "ranks": (list, "ranks")}
    place = table.c.seq.label("place")
    chunks = list(read_fields(store, Judgment, fields, columns=("comparison", place), along=along, rows_a_chunk=4))
    assert len(chunks) > 1
    rows = [row for chunk in chunks for row in zip(*chunk.values(), strict=True)]
    of_study = [one for one in comparisons if one.study == "s"]
    assert [(key, who) for key, _, who, _ in rows] == [(one.key, who) for one in of_study for who in ("g0", "g1")]
    assert [row[1] for row in rows] == sorted(row[1] for row in rows) and all(row[3] == [1, 2] for row in rows)


def judgment(comparison: Comparison, grader: str) -> Judgment:
    return Judgment(
        comparison=comparison.key,
        grader=Person(code_name=grader),
        order=comparison.submissions,
        ranks=(1, 2),
        made_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
