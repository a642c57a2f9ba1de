"""Submissions made elsewhere, the public package and the public grades: read strictly, checked, recorded."""

from __future__ import annotations

import json

import polars as pl
import pytest

from guildhall.domain.authors import ModelRun
from guildhall.domain.submissions import StopReason, Submission
from guildhall.domain.tasks import FileRef, Task
from guildhall.errors import InputError, UnreadableFile
from guildhall.sampling.outside import bring
from guildhall.sampling.package import TABLE, as_rows, check_package, pack, read_grades

OUTSIDER = ModelRun(name="outsider", model="unknown", condition="outside")


@pytest.fixture
def bank(workspace):
    given = workspace.blobs.put(b"an input")
    tasks = [
        Task(
            id=f"task-{number}",
            sector="Information",
            occupation="Editors",
            brief=f"Do {number}.",
            reference_files=(FileRef(name="in.txt", digest=given, size=8),),
        )
        for number in (1, 2, 3)
    ]
    workspace.store.add_all(tasks)
    return tasks


def test_a_folder_for_each_task_is_brought_in_by_the_rules_of_collection(workspace, bank, tmp_path):
    folder = tmp_path / "made" / "task-1"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "report.docx").write_bytes(b"work")
    (folder / "copy.txt").write_bytes(b"an input")
    (folder / "out").symlink_to("/etc/passwd")
    (folder / "final_message.md").write_text("Here it is.\n\nCONFIDENCE[70]")
    (tmp_path / "made" / "no-such-task").mkdir()
    brought = bring(tmp_path / "made", bank, author="outsider", model="x/y", files=None, workspace=workspace)
    (made,) = brought.submissions
    assert brought.unknown == ("no-such-task",) and brought.new == 1
    assert [file.name for file in made.files] == ["deep/report.docx"]
    assert (made.text, made.confidence) == ("Here it is.", 70)
    assert sorted(problem.rule for problem in made.problems) == ["echoed input", "link"]
    again = bring(tmp_path / "made", bank, author="outsider", model="x/y", files=None, workspace=workspace)
    assert again.new == 0


def folder_of(place, texts: dict[str, str]):
    for task, text in texts.items():
        (place / task).mkdir(parents=True)
        (place / task / "final_message.md").write_text(text)
    return place


def test_a_run_brought_in_again_under_another_name_is_refused_and_nothing_is_kept(workspace, bank, tmp_path):
    first = folder_of(tmp_path / "first", {f"task-{n}": f"Answer {n}." for n in (1, 2, 3)})
    bring(first, bank, author="one", model="x/y", files=None, workspace=workspace)
    with pytest.raises(InputError, match="3 of these 3 replies are, to the byte, those of one, try 1"):
        bring(first, bank, author="two", model="x/z", files=None, workspace=workspace)
    assert not workspace.store.find(Submission, author=ModelRun(name="two", model="x/z", condition="outside").key)
    other = folder_of(tmp_path / "other", {"task-1": "Answer 1.", "task-2": "Another.", "task-3": "A third."})
    assert bring(other, bank, author="two", model="x/z", files=None, workspace=workspace).new == 3


def test_a_task_that_stands_twice_for_one_try_is_told(workspace, bank, tmp_path):
    rows: list[dict[str, object]] = [
        {"task_id": "task-1", "deliverable_text": words, "deliverable_files": []} for words in ("A first.", "A second.")
    ]
    table = tmp_path / "rows.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert bring(table, bank, author="one", model="x/y", files=None, workspace=workspace).twice == ("task-1",)


def submission(workspace, task: str, name: str = "report.docx", text: str = "Done.") -> Submission:
    digest = workspace.blobs.put(task.encode())
    return Submission(task=task, author=OUTSIDER, text=text, files=(FileRef(name=name, digest=digest),))


def test_a_package_holds_all_rows_passes_its_check_and_comes_back_equal(workspace, bank, tmp_path):
    made = {task: submission(workspace, task, "a b/report.docx") for task in ("task-1", "task-3")}
    packed = pack(made, tasks=bank, blobs=workspace.blobs, out=tmp_path / "pack")
    assert (packed.rows, packed.with_submission, packed.files, packed.empty) == (3, 2, 2, ("task-2",))
    assert check_package(tmp_path / "pack") == []
    brought = bring(tmp_path / "pack", bank, author="outsider", model="unknown", files=None, workspace=workspace)
    found = {one.task: one for one in brought.submissions}
    assert found["task-1"].files[0].digest == made["task-1"].files[0].digest
    assert found["task-1"].text == "Done."
    assert found["task-2"].stop is StopReason.NOTHING_DELIVERED


def test_the_rows_and_columns_of_the_public_table_are_kept(workspace, bank, tmp_path):
    base = tmp_path / "base.parquet"
    rows = [
        {"task_id": f"task-{number}", "prompt": "p", "extra": number, "deliverable_file_urls": ["x"]}
        for number in (3, 1)
    ]
    pl.DataFrame(rows).write_parquet(base)
    pack({}, tasks=bank, blobs=workspace.blobs, out=tmp_path / "pack", base=base)
    table = pl.read_parquet(tmp_path / "pack" / TABLE)
    assert table["task_id"].to_list() == ["task-3", "task-1"] and table["extra"].to_list() == [3, 1]
    assert table.schema["deliverable_files"] == pl.List(pl.String) and "deliverable_file_urls" not in table.columns
    assert check_package(tmp_path / "pack", base=base) == []


def test_the_real_public_table_is_packed_with_all_220_rows(workspace, tmp_path, realdata):
    base = realdata / "gdpval" / "gdpval_v1_2025-10_7col.parquet"
    packed = pack({}, tasks=[], blobs=workspace.blobs, out=tmp_path / "pack", base=base)
    assert packed.rows == 220 and check_package(tmp_path / "pack", base=base) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda rows: rows + rows[:1], "occurs more than once"),
        (lambda rows: rows[1:], "is missing"),
        (
            lambda rows: [rows[0] | {"deliverable_files": ["deliverable_files/task-1/gone.pdf"]}, *rows[1:]],
            "not a file",
        ),
        (lambda rows: [rows[0] | {"deliverable_files": ["../../etc/passwd"]}, *rows[1:]], "does not lie in"),
        (lambda rows: [rows[0] | {"deliverable_text": "x\nCONFIDENCE[90]"}, *rows[1:]], "still holds CONFIDENCE"),
        (lambda rows: [rows[0] | {"deliverable_files": []}, *rows[1:]], "listed by no row"),
    ],
)
def test_every_fault_of_a_package_is_named(workspace, bank, tmp_path, change, fault):
    made = {task.id: submission(workspace, task.id) for task in bank}
    pack(made, tasks=bank, blobs=workspace.blobs, out=tmp_path / "pack")
    base = tmp_path / "base.jsonl"
    base.write_text("\n".join(json.dumps({"task_id": task.id}) for task in bank))
    rows = change(pl.read_parquet(tmp_path / "pack" / TABLE).to_dicts())
    pl.DataFrame(rows).write_parquet(tmp_path / "pack" / TABLE)
    assert any(fault in words for words in check_package(tmp_path / "pack", base=base))


def test_a_package_is_never_written_over_something_else(workspace, bank, tmp_path):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "mine.txt").write_text("keep")
    with pytest.raises(InputError, match="not empty"):
        pack({}, tasks=bank, blobs=workspace.blobs, out=tmp_path / "pack")


def test_grades_become_rows_and_errors_stay_errors(tmp_path):
    file = tmp_path / "grades.csv"
    file.write_text(
        "task_id,num_grades,scores,avg_score,error,error_messages\n"
        'a,3,"[1, 0.5, 0]",0.5,False,\n'
        'b,2,"[0, 0]",0,True,"[""Responses API did not complete within 3600.0 seconds""]"\n'
        "c,0,[],,True,timed out\n"
    )
    grades = read_grades(file)
    rows = as_rows(grades, model="m")
    assert [row["score"] for row in rows] == [1, 0.5, 0, 0, 0]
    assert {grade.task for grade in grades if grade.errors} == {"b", "c"}
    assert not any(row["task"] == "c" for row in rows)


@pytest.mark.parametrize(
    "row",
    [
        {"task_id": "a", "scores": [0.7]},
        {"task_id": "a", "scores": [1, 1], "num_grades": 3},
        {"task_id": "a", "scores": [1, 1], "avg_score": 0.5},
    ],
)
def test_grades_that_contradict_themselves_are_refused(tmp_path, row):
    file = tmp_path / "grades.jsonl"
    file.write_text(json.dumps(row))
    with pytest.raises(UnreadableFile, match="task a"):
        read_grades(file)
