"""Fields of kept values as columns, on both databases."""

from __future__ import annotations

from guildhall.domain.authors import ModelRun
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef
from guildhall.store.fields import read_fields
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
        "files": (str, "files"),
        "nowhere": (bool, "usage.nowhere"),
    }
    [found] = read_fields(store, Submission, wanted, columns=("seq", "task"))
    assert found["name"] == ("model-0", "model-1", "model-0")
    assert found["sample"] == (1, 2, 3)
    assert found["confidence"] == (None, 80.5, None)
    assert found["files"][0] == "[]" and '"a.docx"' in found["files"][1]
    assert found["nowhere"] == (None, None, None)
    assert list(found["seq"]) == sorted(found["seq"]) and found["task"] == ("t", "t", "t")


def test_many_rows_come_in_chunks_and_conditions_narrow_them(store: Store) -> None:
    store.add_all([submission(number) for number in range(7)])
    later = shelf_of(Submission).table.c.seq > 2
    wanted = {"sample": (int, "author.sample")}
    chunks = list(read_fields(store, Submission, wanted, narrowed=lambda query: query.where(later), rows_a_chunk=2))
    assert [chunk["sample"] for chunk in chunks] == [(3, 4), (5, 6), (7,)]
