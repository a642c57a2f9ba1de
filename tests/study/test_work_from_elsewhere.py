"""Work made elsewhere is an author like any other, and a study begun in the browser has a file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from guildhall.domain.halls import HallDesign
from guildhall.domain.judgments import Judgment
from guildhall.domain.submissions import Submission
from guildhall.errors import InputError
from guildhall.sampling.package import pack
from guildhall.store.workspace import Workspace
from guildhall.study.designing import Wish, file_of_study, freeze_wish, preview_of
from guildhall.study.judges import graders_of
from guildhall.study.judging import judge_study
from guildhall.study.people import People
from guildhall.study.stages import Sampling
from guildhall.study.studies import OpenStudy
from tests.study.made import task

FILE = """
[study]
id = "s"
title = "S"
[[authors]]
name = "theirs"
from = "{source}"
[people]
graders_per_set = 1
match_occupation = false
"""


@pytest.fixture
def tasks(workspace: Workspace) -> list[str]:
    made = [task(number) for number in range(3)]
    workspace.store.add_all(made)
    return [one.id for one in made]


def folder_of(place: Path, names: list[str]) -> Path:
    for name in names:
        (place / name).mkdir(parents=True)
        (place / name / "note.txt").write_text(f"A note on {name}.")
        (place / name / "final_message.txt").write_text("Here it is.")
    return place


def opened(workspace: Workspace, folder: Path, source: str) -> OpenStudy:
    (folder / "study.toml").write_text(FILE.format(source=source))
    return OpenStudy.open(folder / "study.toml", workspace)


def test_a_folder_is_an_author_whose_work_is_judged(workspace: Workspace, tasks: list[str], tmp_path: Path) -> None:
    folder_of(tmp_path / "work", tasks[:2])
    study = opened(workspace, tmp_path, "work")
    planned = Sampling().plan(study)
    assert (planned["handed_in"], planned["items"]) == ({"theirs": 1}, 0)
    assert People().plan(study)["gradings"] == 2, "a task without work takes no part"
    form = study.freeze()
    assert [(one.name, one.condition) for one in form.authors] == [("theirs", "outside")]
    assert form.plan.samples == {"theirs": 1}
    Sampling().run(study)
    [grader] = graders_of(study, ["always-human"])
    judge_study(study, grader)
    assert workspace.store.count(Judgment) == 4
    shutil.rmtree(tmp_path / "work")
    again = OpenStudy.open(tmp_path / "study.toml", workspace)
    assert again.frozen() == form, "what began goes on without its source"


def test_a_submission_package_is_an_author(workspace: Workspace, tasks: list[str], tmp_path: Path) -> None:
    folder_of(tmp_path / "work", tasks)
    study = opened(workspace, tmp_path, "work")
    assert len(study.outside) == 1
    made = {one.task: one for one in workspace.store.find(Submission)}
    pack(made, tasks=study.tasks, blobs=workspace.blobs, out=tmp_path / "package")
    other = FILE.replace('id = "s"', 'id = "p"').replace("theirs", "packed").format(source="package")
    (tmp_path / "p.toml").write_text(other)
    with pytest.raises(InputError, match="the same run twice"):
        _ = OpenStudy.open(tmp_path / "p.toml", workspace).outside
    with Workspace.create(tmp_path / "elsewhere") as there:
        there.store.add_all(study.tasks)
        [run] = OpenStudy.open(tmp_path / "p.toml", there).outside
        assert run.name == "packed" and there.store.count(Submission) == 3


BAD = {
    "nothing there": ("absent", "is not there"),
    "no task of ours": ("strangers", "holds no work of 'theirs'"),
    "the workspace": ("workspace", "holds no work of 'theirs'"),
}


@pytest.mark.parametrize(("source", "words"), BAD.values(), ids=BAD.keys())
def test_a_source_that_holds_nothing_of_the_study_is_refused(
    workspace: Workspace, tasks: list[str], tmp_path: Path, source: str, words: str
) -> None:
    assert tasks
    folder_of(tmp_path / "strangers", ["x-1"])
    with pytest.raises(InputError, match=words):
        opened(workspace, tmp_path, source).freeze()


@pytest.mark.parametrize("line", ['command = ["x"]', "settings = {a = 1}", 'condition = "own"\nprompt = "p"'])
def test_an_author_from_elsewhere_makes_nothing_here(tmp_path: Path, workspace: Workspace, line: str) -> None:
    (tmp_path / "study.toml").write_text(FILE.format(source="work").replace("[people]", f"{line}\n[people]"))
    with pytest.raises(InputError, match="made elsewhere"):
        OpenStudy.open(tmp_path / "study.toml", workspace)


def test_a_study_begun_in_the_browser_has_a_file_that_is_that_very_study(
    workspace: Workspace, tasks: list[str], tmp_path: Path
) -> None:
    folder_of(tmp_path / "work", tasks)
    assert opened(workspace, tmp_path, "work").outside
    design = HallDesign(graders_per_set=2, match_occupation=False, hourly_wage_usd=40.5)
    wish = Wish(id="wished", title='A "wish"', seed=7, authors=("theirs",), people=design)
    kept = freeze_wish(workspace, preview_of(workspace, wish, []))
    (tmp_path / "again.toml").write_text(file_of_study(workspace.store, kept))
    study = OpenStudy.open(tmp_path / "again.toml", workspace)
    assert study.frozen() == kept and study.freeze() == kept, "it goes on without another form"
    with Workspace.create(tmp_path / "elsewhere") as other:
        other.store.add_all(study.tasks)
        folder_of(tmp_path / "other", tasks)
        text = (tmp_path / "again.toml").read_text().replace('from = "workspace"', 'from = "other"')
        (tmp_path / "there.toml").write_text(text)
        found = OpenStudy.open(tmp_path / "there.toml", other).frozen()
        assert found.model_dump(mode="json") == kept.model_dump(mode="json"), "nor does the place matter"


def test_a_study_whose_work_its_file_makes_has_that_file(
    workspace: Workspace, tasks: list[str], tmp_path: Path
) -> None:
    assert tasks
    text = FILE.format(source="x").replace('from = "x"', 'model = "scripted/careful"\ntools = "none"')
    (tmp_path / "study.toml").write_text(text)
    kept = OpenStudy.open(tmp_path / "study.toml", workspace).freeze()
    with pytest.raises(InputError, match="use that file"):
        file_of_study(workspace.store, kept)
