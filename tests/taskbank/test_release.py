"""A public subset: drawn by its seed, free of its authors, the same bytes each time, and importable again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from guildhall.documents.looking import Documents
from guildhall.domain.reviews import Draft
from guildhall.domain.tasks import FileRef, OnetTags, Provenance, Ratings, ReviewState, Task
from guildhall.errors import InputError, UnreadableFile
from guildhall.store.workspace import Workspace
from guildhall.taskbank.gdpval import Row, task_of
from guildhall.taskbank.importing import import_tasks, read_source
from guildhall.taskbank.release import Licence, ReleasePlan, disclosures_page, names_below, names_in, write_release
from guildhall.taskbank.review.authoring import copy_of
from guildhall.taskbank.review.histories import all_histories
from guildhall.taskbank.statistics import bank_statistics
from tests.documents.canary_packages import docx
from tests.documents.leaks import CANARY, leaks
from tests.taskbank.reviewing import Hall, draft_task

LICENCE = Licence(holder="the guild")


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Workspace]:
    """Two occupations of four and two tasks, with a text each; the first task's file is a canary's docx."""
    with Workspace.create(tmp_path / "bank") as workspace:
        for number in range(6):
            data = docx() if number == 0 else f"order {number}\n".encode()
            name = "brief notes.docx" if number == 0 else "orders.txt"
            file = FileRef(name=name, digest=workspace.blobs.put(data), size=len(data))
            workspace.store.add(
                draft_task(
                    f"task-{number}",
                    occupation="Editors" if number > 3 else "Accountants and Auditors",
                    reference_files=(file,),
                    review=ReviewState.ACCEPTED,
                    ratings=Ratings(quality=4.5),
                    onet=OnetTags(tasks=(f"Do {number}",), skills=("Writing",)),
                    sensitive=("medical",) if number == 5 else (),
                )
            )
        yield workspace


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_release_imports_again_with_nothing_lost(bank: Workspace, look: Documents, tmp_path: Path) -> None:
    plan = ReleasePlan(LICENCE, names=(CANARY,))
    released = write_release(bank, look, tmp_path / "out", plan)
    assert {task.id for task in released.tasks} == {f"task-{number}" for number in range(6)}
    assert released.short == {"Accountants and Auditors": 4, "Editors": 2}
    with Workspace.create(tmp_path / "again") as other:
        result = import_tasks(other, read_source(tmp_path / "out"))
        assert (result.new, result.files, result.files_absent) == (6, 6, 0)
        for task in released.tasks:
            assert other.store.get(Task, task.key).but(provenance=None) == task
            for file in task.reference_files:
                assert hashlib.sha256(other.blobs.read(file.digest or "")).hexdigest() == file.digest


def test_the_canary_is_in_no_byte_of_a_release(bank: Workspace, look: Documents, tmp_path: Path) -> None:
    assert leaks(bank.blobs.read(bank.store.get(Task, "task-0@1").reference_files[0].digest or ""))
    write_release(bank, look, tmp_path / "out", ReleasePlan(LICENCE, names=(CANARY,)))
    found = {path: leaks(path.read_bytes()) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert len(found) == 10 and not any(found.values())


def test_the_same_bank_and_seed_give_the_same_bytes(bank: Workspace, look: Documents, tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("two", 1), ("other", 2)):
        write_release(bank, look, tmp_path / name, ReleasePlan(LICENCE, per_occupation=2, seed=seed))
    assert digests(tmp_path / "one") == digests(tmp_path / "two")
    assert digests(tmp_path / "one") != digests(tmp_path / "other")
    assert len(read_source(tmp_path / "one").tasks) == 4


def test_a_task_that_names_its_author_is_left_out_and_the_next_takes_its_place(
    bank: Workspace, look: Documents, tmp_path: Path
) -> None:
    telling = b"Ask Jo Canary about it."
    file = FileRef(name="note.txt", digest=bank.blobs.put(telling), size=len(telling))
    bank.store.add(draft_task("named", occupation="Editors", brief="Call Jo Canary.", review=ReviewState.ACCEPTED))
    bank.store.add(draft_task("inside", occupation="Editors", reference_files=(file,), review=ReviewState.ACCEPTED))
    bank.store.add(draft_task("absent", occupation="Editors", review=ReviewState.ACCEPTED))
    bank.store.add(draft_task("unfinished", occupation="Editors", review=ReviewState.IN_REVIEW))
    released = write_release(bank, look, tmp_path / "out", ReleasePlan(LICENCE, names=("Jo Canary",)))
    assert set(released.left_out) == {"named", "inside", "absent", "unfinished"}
    assert names_below(tmp_path / "out", ["jo canary"]) == {}


def test_disclosures_tell_sensitive_content_and_third_parties(tmp_path: Path) -> None:
    task = draft_task(sensitive=("medical",), brief="Use Widget® as shown on https://widgets.example/manual.")
    page = disclosures_page([task], {"memo": ("Acme Corp",)})
    assert "| memo | Accountants and Auditors | medical |" in page
    assert "| memo | Accountants and Auditors | Acme Corp, Widget, widgets.example |" in page
    assert "No task is marked as sensitive" in disclosures_page([draft_task()], {})


def test_who_agreed_to_be_shown_is_recorded_with_the_draft_and_released_without_a_name(tmp_path: Path) -> None:
    hall = Hall(tmp_path / "bank")
    said = ("Jo Canary, in photo.jpg: agreed by letter, 3 May",)
    hall.desk.submit(draft_task(), hall.author, now=hall.now, permission=said)
    [draft] = hall.store.find(Draft, task="memo")
    hall.workspace.close()
    assert draft.permission == said and copy_of(draft).permission == said
    page = disclosures_page([draft.task], {}, {"memo"})
    assert "agreed to be shown or heard in the files of: memo." in page and "Canary" not in page
    assert "No author recorded" in disclosures_page([draft.task], {})


def test_the_licence_and_the_disclosures_are_in_the_folder(bank: Workspace, look: Documents, tmp_path: Path) -> None:
    own = Licence(name="own", text="Do as you like.\n")
    write_release(bank, look, tmp_path / "out", ReleasePlan(own))
    assert (tmp_path / "out" / "LICENSE").read_text() == "Do as you like.\n"
    assert "| task-5 | Editors | medical |" in (tmp_path / "out" / "DISCLOSURES.md").read_text()
    with pytest.raises(InputError, match="not empty"):
        write_release(bank, look, tmp_path / "out", ReleasePlan(own))


@pytest.mark.parametrize("text", ["[]", "{", '{"version": 9}', '{"rubric": null}'])
def test_a_column_of_ours_with_other_content_is_refused(text: str) -> None:
    fields = {"task_id": "t", "sector": "S", "occupation": "O", "prompt": "P", "guildhall_json": text}
    with pytest.raises(UnreadableFile, match="guildhall_json"):
        task_of(Row("row 1", fields), Provenance(source="x"))


def test_names_are_found_in_any_case_encoding_and_depth() -> None:
    assert names_in("… jo canary …".encode("utf-16-le"), ["Jo Canary"]) == ["Jo Canary"]
    assert names_in(docx(), [CANARY, "Nobody Here"]) == [CANARY]
    assert names_in(b"ab", ["ab"]) == []


def test_tables_of_the_bank_come_from_the_reviews(tmp_path: Path) -> None:
    from guildhall.domain.reviews import DecisionKind
    from guildhall.taskbank.review.standing import review_figures

    hall = Hall(tmp_path / "bank")
    hall.submit()
    for reviewer, difficulty, hours in ((hall.generalist, 1, 1.0), (hall.specialist, 3, 3.0), (hall.third, 5, 6.0)):
        hall.review(reviewer, difficulty=difficulty, hours=hours, specification="well-specified")
    hall.desk.decide("memo", DecisionKind.ACCEPTED, hall.manager, now=hall.now)
    figures = review_figures(all_histories(hall.store))
    found = bank_statistics(hall.store.find(Task), published_tasks=10)
    hall.workspace.close()
    by_name = {row.name: row.mean for row in found.quality_and_length}
    assert by_name["Difficulty (1-5)"] == 3.0 and by_name["Time to complete (hours)"] == 3.0
    assert found.specification == {"well-specified": 1}
    assert [(row.distinct, row.published, row.share) for row in found.onet] == [
        (1, 10, 0.1),
        (None, 35, None),
        (None, 41, None),
    ]
    assert (figures.accepted, figures.reviews_per_task, figures.time_rating) == (1, 3.0, 4.0)
