"""O*NET is a vocabulary: its titles are counted, strange tags are refused, a model's proposals wait for a person."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from guildhall.cli.people import app as people
from guildhall.cli.tasks import app as tasks
from guildhall.domain.tasks import FileRef, OnetTags, Ratings, Specification, Task
from guildhall.engine.scripted import Answer, Turn, scripted
from guildhall.errors import InputError
from guildhall.store.workspace import Workspace
from guildhall.taskbank.folder import check_folder, new_task
from guildhall.taskbank.onet import faults_of, held, vocabulary
from guildhall.taskbank.review.authoring import DeskCopy
from guildhall.taskbank.statistics import bank_statistics, paper_figures
from tests.taskbank.reviewing import draft_task

SECTOR = "Information"


@scripted("tags-everything")
def tags_everything(turn: Turn) -> Answer:
    said = {"skills": ["Writing", "Juggling", "Writing"], "work_activities": ["Getting Information"]}
    return Answer(json.dumps(said if "task 3." not in turn.prompt else {"skills": "Writing", "work_activities": []}))


def made(number: int, occupation: str = "Editors", **more: object) -> Task:
    return Task(
        id=f"t-{number:02}",
        sector=SECTOR,
        occupation=occupation,
        brief=f"Do task {number}.",
        **more,
    )


def bank(path: Path, made_tasks: list[Task]) -> list[str]:
    with Workspace.create(path) as opened:
        opened.store.add_all(made_tasks)
    return ["--workspace", str(path)]


def run(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(tasks, list(words))
    if code and isinstance(result.exception, InputError):
        return str(result.exception)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.output


def test_the_vocabulary_has_as_many_titles_as_the_paper_says_and_none_twice() -> None:
    counts = {kind: len({title.casefold() for title in titles}) for kind, titles in vocabulary().items()}
    assert counts == {"skills": 35, "work_activities": 41}


@pytest.mark.parametrize(("said", "near"), [("Critical thinkng", "Critical Thinking"), ("Repair", "Repairing")])
def test_a_strange_tag_is_refused_with_the_nearest_title(said: str, near: str) -> None:
    with pytest.raises(InputError, match=f"the nearest is '{near}'"):
        held(OnetTags(skills=(said,)))


def test_a_tag_of_another_kind_or_of_nothing_is_no_tag() -> None:
    tags = OnetTags(skills=("Working with Computers", "Sword Swallowing"), work_activities=("Writing",))
    assert [kind for kind, _ in faults_of(tags)] == ["skills", "skills", "work_activities"]
    assert held(OnetTags(skills=(" critical  THINKING", "Critical Thinking"))).skills == ("Critical Thinking",)


def test_a_strange_tag_is_a_fault_on_its_line_and_keeps_a_draft_from_being_submitted(
    tmp_path: Path,
) -> None:
    folder = new_task(tmp_path / "memo", title="A memo", sector=SECTOR, occupation="Editors")
    text = (folder / "task.toml").read_text().replace("skills = []", 'skills = ["Juggling"]')
    (folder / "task.toml").write_text(text)
    [fault] = check_folder(folder).faults
    assert "'Juggling' is no O*NET skill" in fault.words
    assert text.splitlines()[(fault.line or 0) - 1].startswith("skills")
    with pytest.raises(InputError, match="Juggling"):
        DeskCopy(task="t", author="a", onet=OnetTags(skills=("Juggling",))).as_task()


def test_strange_tags_of_an_older_bank_cover_nothing_and_are_named() -> None:
    tags = OnetTags(skills=("Juggling", "writing", "Writing"), work_activities=("Getting Information",))
    found = {row.name: row for row in bank_statistics([draft_task(onet=tags)]).onet}
    assert (found["O*NET skills"].distinct, found["O*NET skills"].strange) == (1, ("Juggling",))
    assert found["O*NET work activities"].share == pytest.approx(1 / 41)


def test_forty_untagged_tasks_are_tagged_by_a_model_and_only_what_people_confirm_counts(tmp_path: Path) -> None:
    at = bank(tmp_path / "bank", [made(number) for number in range(40)])
    file = tmp_path / "tags.csv"
    told = json.loads(run("tag", str(file), "--model", "scripted/tags-everything", "--json", *at))
    assert (told["tasks"], told["proposals"]) == (40, 78), "a reply of another shape proposes nothing"
    assert "confirms no tag" in run("tag", str(file), *at, code=2)
    with file.open() as lines:
        rows = list(csv.DictReader(lines))
    assert {row["title"] for row in rows} == {"Writing", "Getting Information"}
    result = CliRunner().invoke(people, ["invite", "--role", "reviewer", *at, "--json"])
    name = json.loads(result.stdout)["code_name"]
    for row in rows[:30]:
        row["confirmed_by"] = name
    with file.open("w", newline="") as lines:
        writer = csv.DictWriter(lines, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert json.loads(run("tag", str(file), "--json", *at)) == {"tagged": 15}
    found = {row["name"]: row for row in json.loads(run("stats", "--json", *at))["onet"]}
    assert (found["O*NET skills"]["tasks_tagged"], found["O*NET skills"]["distinct"]) == (15, 1)
    assert "confirms no tag" in run("tag", str(file), *at, code=2), "nothing is tagged twice"


def test_a_line_confirmed_by_nobody_on_the_roster_is_refused(tmp_path: Path) -> None:
    at = bank(tmp_path / "bank", [made(1)])
    file = tmp_path / "tags.csv"
    file.write_text("task,kind,title,confirmed_by\nt-01,skills,Writing,a stranger\n")
    assert "a stranger" in run("tag", str(file), *at, code=2)


def test_gold_stands_beside_full_and_both_beside_the_papers_own(tmp_path: Path) -> None:
    """Sixty tasks of two occupations, every third one gold: hours 1 to 60, so gold has a mean of 29.5."""
    label = {True: Specification.WELL, False: Specification.UNDER}
    full = [
        made(
            number,
            occupation="Editors" if number < 40 else "Order Clerks",
            expert_hours=number + 1.0,
            hourly_wage_usd=20.0,
            reference_files=(FileRef(name="a.csv"), FileRef(name="b.csv")) if number < 15 else (),
            ratings=Ratings(quality=4.0, difficulty=3.0, specification=label[number % 3 == 0]),
            onet=OnetTags(skills=("Writing",) if number % 3 else ("Speaking",)),
        )
        for number in range(60)
    ]
    at = bank(tmp_path / "bank", full)
    (tmp_path / "gold.txt").write_text("\n".join(task.id for task in full if int(task.id[2:]) % 3 == 0))
    found = json.loads(run("stats", "--gold", str(tmp_path / "gold.txt"), "--json", *at))
    hours = [{row["name"]: row for row in one["quality_and_length"]} for one in (found, found["gold"])]
    assert [one["Time to complete (hours)"]["mean"] for one in hours] == [30.5, 29.5]
    assert [one["Value (USD)"]["median"] for one in hours] == [610.0, 590.0]
    assert [one["specification"] for one in (found, found["gold"])] == [
        {"under-specified": 40, "well-specified": 20},
        {"well-specified": 20},
    ]
    assert [one["onet"][1]["distinct"] for one in (found, found["gold"])] == [2, 1]
    shown = run("stats", "--gold", str(tmp_path / "gold.txt"), *at)
    for words in (
        "paper, gold",
        "25.0%",
        "9.49",
        "32,028.70",
        "89.07%",
        "Occupations of fewer than 30 tasks",
        "Order Clerks",
    ):
        assert words in " ".join(shown.split()), words
    assert json.loads(run("stats", "--where", "occupation=Order", "--json", *at))["tasks"] == 20
    assert json.loads(run("stats", "--where", "min_hours=31", "--json", *at))["tasks"] == 30
    assert "colour=red" in run("stats", "--where", "colour=red", *at, code=2)


def test_the_papers_shares_are_those_of_its_counts() -> None:
    covered = {name: round(100 * n / of, 1) for name, (n, of) in paper_figures().coverage.items()}
    assert covered == {"O*NET skills": 71.4, "O*NET work activities": 63.4, "O*NET tasks": 14.1}
    for labels in paper_figures().specification.values():
        assert sum(labels.values()) == pytest.approx(100, abs=0.02)
