"""Importing tasks: both generations of the public data, whole or not at all, and one clear line for bad input."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from guildhall.domain.tasks import Task
from guildhall.errors import InputError
from guildhall.store.workspace import Workspace
from guildhall.taskbank.importing import Imported, import_tasks, read_source
from guildhall.taskbank.listing import newest_tasks
from guildhall.taskbank.statistics import bank_statistics


def row(number: int = 1, **more: object) -> dict[str, object]:
    return {
        "task_id": f"task-{number}",
        "sector": "Information",
        "occupation": "Editors",
        "prompt": "Edit the attached article.",
        "reference_files": [],
    } | more


def jsonl(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


def bring(workspace: Workspace, path: Path) -> Imported:
    """Files that are not here come in by name."""
    return import_tasks(workspace, read_source(path), without_files=True)


def test_both_generations_of_the_public_data_import(workspace: Workspace, realdata: Path) -> None:
    bring(workspace, realdata / "gdpval/gdpval_v1_2025-10_7col.parquet")
    bring(workspace, realdata / "gdpval/gdpval_12col_50tasks_rubric_json.jsonl")
    later = bring(workspace, realdata / "gdpval/gdpval_tasks_220.jsonl")
    assert later.revised == 220
    found = bank_statistics(newest_tasks(workspace.store))
    counts = (found.tasks, found.sectors, found.occupations, found.reference_files, found.deliverable_files)
    assert counts == (220, 9, 44, 261, 248)
    assert (found.rubric_items, found.negative_rubric_items) == (10_453, 94)
    assert {summary.recorded for summary in found.quality_and_length} == {0}


def test_rubrics_in_both_public_forms_are_the_same(realdata: Path) -> None:
    in_json = {task.id: task for task in read_source(realdata / "gdpval/gdpval_12col_50tasks_rubric_json.jsonl").tasks}
    for task in read_source(realdata / "gdpval/gdpval_tasks_220.jsonl").tasks:
        if task.id in in_json:
            other = in_json[task.id].rubric
            assert task.rubric is not None and other is not None
            assert [item.points for item in task.rubric.items] == [item.points for item in other.items]


def test_seven_columns_in_parquet_import(workspace: Workspace, tmp_path: Path) -> None:
    files = ["reference_files/" + "0" * 32 + "/Plan (1).xlsx", "reference_files/" + "1" * 32 + "/Plan (1).xlsx"]
    pl.DataFrame([row(reference_files=files)]).write_parquet(tmp_path / "old.parquet")
    bring(workspace, tmp_path / "old.parquet")
    [task] = workspace.store.find(Task)
    assert [file.name for file in task.reference_files] == ["Plan (1).xlsx", "Plan (1) (2).xlsx"]


def test_encoded_and_raw_uris_name_the_same_file(tmp_path: Path) -> None:
    folder = "reference_files/" + "a" * 32
    uris = [
        f"hf://datasets/o/d@main/{folder}/My%20plan.docx",
        f"https://h.example/datasets/o/d/resolve/main/{folder}/My plan.docx",
    ]
    for uri in uris:
        [task] = read_source(jsonl(tmp_path / "t.jsonl", row(reference_files=[uri]))).tasks
        assert task.reference_files[0].source == f"{folder}/My plan.docx"


def test_negative_rubric_items_keep_their_sign(tmp_path: Path) -> None:
    text = "[+2] Names the total.\n\nIn dollars.\n\n[+-10] Invents a figure."
    [task] = read_source(jsonl(tmp_path / "t.jsonl", row(rubric_pretty=text))).tasks
    assert task.rubric is not None
    assert [(item.points, item.text) for item in task.rubric.items] == [
        (2, "Names the total.\n\nIn dollars."),
        (-10, "Invents a figure."),
    ]


@pytest.mark.parametrize("table", ["t.jsonl", "data/t.jsonl"])
def test_files_beside_the_table_or_its_folder_are_kept_with_it(
    workspace: Workspace, tmp_path: Path, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the hub lays them out the table has a folder of its own; it may be named from within that folder."""
    path = "deliverable_files/" + "b" * 32 + "/Answer.txt"
    for made in (tmp_path / path, tmp_path / table):
        made.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text("the answer")
    jsonl(tmp_path / table, row(deliverable_files=[path, "deliverable_files/c/Gone.txt"]))
    monkeypatch.chdir((tmp_path / table).parent)
    result = bring(workspace, Path("t.jsonl"))
    assert (result.files, result.files_absent) == (1, 1)
    [task] = workspace.store.find(Task)
    assert task.expert_files[0].digest and workspace.blobs.read(task.expert_files[0].digest) == b"the answer"
    assert task.expert_files[1].digest is None


def test_importing_twice_adds_nothing(workspace: Workspace, tmp_path: Path) -> None:
    source = jsonl(tmp_path / "t.jsonl", row(1), row(2))
    assert bring(workspace, source).new == 2
    assert bring(workspace, source).known == 2
    assert workspace.store.count(Task) == 2


BAD_ROWS = {
    "a rubric of nonsense": row(rubric_pretty="please be nice"),
    "a rubric with a fraction": row(rubric_json=json.dumps([{"score": 1.5, "criterion": "x"}])),
    "a path with ..": row(reference_files=["reference_files/../../etc/passwd"]),
    "an absolute path": row(reference_files=["/etc/passwd"]),
    "a control character in a name": row(reference_files=["reference_files/0/a\u0007.txt"]),
    "a name that turns round": row(reference_files=["reference_files/0/cod\u202efdp.exe"]),
    "a 300-character name": row(reference_files=["reference_files/0/" + "n" * 300]),
    "no prompt": row(prompt=""),
    "an id with a line break": row(task_id="a\nb"),
    "a sector of many lines": row(sector="In\nformation"),
    "files that are no list": row(reference_files="a.txt"),
}


@pytest.mark.parametrize("bad", BAD_ROWS.values(), ids=BAD_ROWS.keys())
def test_a_bad_row_gives_one_line_that_names_it_and_changes_nothing(
    workspace: Workspace, tmp_path: Path, bad: dict[str, object]
) -> None:
    source = jsonl(tmp_path / "bad.jsonl", row(7), bad)
    with pytest.raises(InputError, match=r"bad\.jsonl line 2") as caught:
        bring(workspace, source)
    assert "\n" not in str(caught.value)
    assert workspace.store.count(Task) == 0


def test_duplicate_ids_are_refused(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'task-1' occurs more than once"):
        bring(workspace, jsonl(tmp_path / "t.jsonl", row(1), row(1)))


@pytest.mark.parametrize("cut", [5, 100, 1000])
def test_a_truncated_parquet_is_refused(workspace: Workspace, tmp_path: Path, cut: int) -> None:
    whole = tmp_path / "whole.parquet"
    pl.DataFrame([row(number) for number in range(200)]).write_parquet(whole)
    (tmp_path / "cut.parquet").write_bytes(whole.read_bytes()[:-cut])
    with pytest.raises(InputError, match=r"cut\.parquet.*download it again"):
        bring(workspace, tmp_path / "cut.parquet")


def test_a_link_out_of_the_data_set_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    data = tmp_path / "data set"
    (data / "reference_files" / "x").mkdir(parents=True)
    (data / "reference_files/x/in.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match="leaves the folder"):
        bring(workspace, jsonl(data / "t.jsonl", row(reference_files=["reference_files/x/in.txt"])))


def kill_during_import(folder: Path, delay_s: float) -> None:
    """Import in another process and SIGKILL it after a while."""
    process = subprocess.Popen(
        [sys.executable, "-m", "guildhall", "tasks", "import", str(folder / "bank"), "--workspace", str(folder / "w")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(delay_s)
    process.send_signal(signal.SIGKILL)
    process.wait()


def make_bank(folder: Path, tasks: int, files: int) -> None:
    for number in range(tasks):
        inside = folder / f"t-{number}"
        (inside / "reference").mkdir(parents=True)
        (inside / "task.toml").write_text(f'id = "t-{number}"\nsector = "Information"\noccupation = "Editors"\n')
        (inside / "brief.md").write_text("Edit.")
        for file in range(files):
            (inside / "reference" / f"{file}.bin").write_bytes(random.Random(number * 100 + file).randbytes(20_000))


def whole_or_absent(folder: Path, files: int) -> int:
    """Every task that is there has all its bytes; how many there are."""
    with Workspace.open(folder / "w") as workspace:
        tasks = workspace.store.find(Task)
        for task in tasks:
            assert len(task.reference_files) == files
            for file in task.reference_files:
                assert file.digest is not None
                assert len(workspace.blobs.read(file.digest)) == 20_000
    return len(tasks)


def test_a_killed_import_leaves_all_or_nothing_of_a_task(tmp_path: Path) -> None:
    make_bank(tmp_path / "bank", tasks=20, files=5)
    Workspace.create(tmp_path / "w").close()
    rng = random.Random(0)
    for _ in range(4):
        kill_during_import(tmp_path, rng.uniform(0.3, 1.2))
        assert whole_or_absent(tmp_path, 5) in {0, 20}
    with Workspace.open(tmp_path / "w") as workspace:
        bring(workspace, tmp_path / "bank")
    assert whole_or_absent(tmp_path, 5) == 20
