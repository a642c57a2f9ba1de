"""Task folders: every fault at once with its place, and out and in without loss."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given

from guildhall.domain.tasks import FileRef, Task
from guildhall.errors import InputError
from guildhall.store.workspace import Workspace
from guildhall.taskbank.exporting import export_folders, export_gdpval
from guildhall.taskbank.folder import check_folder, new_task, read_folder, task_folders
from guildhall.taskbank.importing import import_tasks, read_source
from guildhall.taskbank.rubrics import as_paragraphs, rubric_from_paragraphs
from tests.strategies import tasks


def sound(folder: Path) -> Path:
    return new_task(folder, title='The "big" one', sector="Information", occupation="Editors")


def words(folder: Path) -> list[str]:
    return [str(fault) for fault in check_folder(folder).faults]


def test_a_new_task_passes_its_own_check(tmp_path: Path) -> None:
    assert words(sound(tmp_path / "my-task")) == []
    assert read_folder(tmp_path / "my-task").task is not None


def test_every_fault_is_reported_at_once_with_file_and_line(tmp_path: Path) -> None:
    folder = sound(tmp_path / "t")
    (folder / "task.toml").write_text('id = "a b"\nsector = "Information"\nwage = 3\n\n[ratings]\nquality = 9\n')
    (folder / "brief.md").write_text("  \n")
    (folder / "rubric.toml").write_text("[[items]]\npoints = 1\n")
    (folder / "reference" / "out").symlink_to("/etc/passwd")
    found = words(folder)
    for expected in (
        "task.toml:1: id",
        "task.toml:3: wage",
        "task.toml:6: ratings.quality",
        "occupation: Field required",
    ):
        assert any(expected in line for line in found), (expected, found)
    assert any("brief.md:1: is empty" in line for line in found)
    assert any("rubric.toml: cannot be read" in line for line in found)
    assert any("'out' is a link" in line for line in found)


@pytest.mark.parametrize("name", ["a\x07b.txt", "a\nb.txt", "a\x1b[31mred.txt"])
def test_hostile_file_names_are_faults(tmp_path: Path, name: str) -> None:
    folder = sound(tmp_path / "t")
    (folder / "reference" / name).write_text("x")
    [fault] = words(folder)
    assert "control characters" in fault
    assert name not in fault  # the terminal is never handed the raw name


def test_a_name_that_is_not_utf8_is_a_fault(tmp_path: Path) -> None:
    folder = sound(tmp_path / "t")
    Path(os.fsdecode(os.fsencode(folder / "reference") + b"/\xff.txt")).write_text("x")
    [fault] = words(folder)
    assert "UTF-8" in fault


def test_a_fifo_is_a_fault_and_never_opened(tmp_path: Path) -> None:
    folder = sound(tmp_path / "t")
    os.mkfifo(folder / "expert" / "pipe")
    [fault] = words(folder)
    assert "not a regular file" in fault


def test_a_folder_with_faults_is_not_imported(tmp_path: Path, workspace: Workspace) -> None:
    sound(tmp_path / "bank/good")
    (sound(tmp_path / "bank/bad") / "brief.md").unlink()
    with pytest.raises(InputError, match=r"bad.*brief\.md: is missing.*tasks check"):
        import_tasks(workspace, read_source(tmp_path / "bank"))
    assert workspace.store.count(Task) == 0


@given(task=tasks)
def test_rubrics_survive_their_paragraph_form(task: Task) -> None:
    if (
        task.rubric
        and task.rubric.items
        and all(item.text.strip() and "[" not in item.text for item in task.rubric.items)
    ):
        read = rubric_from_paragraphs(as_paragraphs(task.rubric))
        assert [item.points for item in read.items] == [item.points for item in task.rubric.items]


@pytest.mark.parametrize("layout", ["folders", "gdpval"])
def test_exported_tasks_import_again_with_nothing_lost(tmp_path: Path, workspace: Workspace, layout: str) -> None:
    digest = workspace.blobs.put(b"reference")
    folder = sound(tmp_path / "start/t-1")
    (folder / "reference" / "in.txt").write_bytes(b"reference")
    import_tasks(workspace, read_source(tmp_path / "start"))
    [before] = workspace.store.find(Task)
    out = tmp_path / "out"
    {"folders": export_folders, "gdpval": export_gdpval}[layout]([before], workspace.blobs, out)
    with Workspace.create(tmp_path / "second") as second:
        import_tasks(second, read_source(out))
        [after] = second.store.find(Task)
        assert second.blobs.read(digest) == b"reference"
    assert after.reference_files[0].digest == digest
    if layout == "folders":
        assert after == before
    else:
        assert (after.id, after.brief) == (before.id, before.brief)
        assert (
            after.rubric
            and before.rubric
            and [i.points for i in after.rubric.items] == [i.points for i in before.rubric.items]
        )


def test_a_single_folder_and_a_bank_are_both_found(tmp_path: Path) -> None:
    sound(tmp_path / "bank/b")
    sound(tmp_path / "bank/a")
    assert [folder.name for folder in task_folders(tmp_path / "bank")] == ["a", "b"]
    assert [folder.name for folder in task_folders(tmp_path / "bank/a")] == ["a"]


def test_names_of_known_files_are_checked_by_the_domain() -> None:
    with pytest.raises(ValueError, match="plain relative path"):
        FileRef(name="../x")
