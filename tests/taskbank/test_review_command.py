"""`guildhall review` from an invitation to an accepted task, by files alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from guildhall.cli.people import app as people
from guildhall.cli.review import app as review
from guildhall.cli.tasks import app as tasks
from guildhall.domain.reviews import QUESTIONS, Stage
from guildhall.store.workspace import Workspace
from tests.taskbank.reviewing import BRIEF

RATED = ["--difficulty", "3", "--representativeness", "4", "--quality", "5", "--time", "4"]


class Line:
    """The command line on one workspace."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace

    def run(self, app: Any, *words: str, json_: bool = False) -> Any:
        options = ["-w", str(self.workspace), *(["--json"] if json_ else [])]
        result = CliRunner().invoke(app, [*words, *options])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout) if json_ else result.stdout

    def invite(self, role: str, employer: str) -> str:
        words = ["--role", role, "--occupation", "Accountants and Auditors", "--years", "6", "--employer", employer]
        name: str = self.run(people, "invite", *words, json_=True)["code_name"]
        return name


@pytest.fixture
def line(tmp_path: Path) -> Line:
    Workspace.create(tmp_path / "bank").close()
    return Line(tmp_path / "bank")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "memo"
    CliRunner().invoke(tasks, ["new", str(made), "--title", "A memo", "--occupation", "Accountants and Auditors"])
    (made / "brief.md").write_text(BRIEF)
    (made / "reference" / "ledger.csv").write_text("month,total\nMay,12\n")
    (made / "expert" / "memo.txt").write_text("Sales fell in May.\n")
    return made


def test_a_task_goes_from_a_folder_into_the_bank_by_commands(line: Line, folder: Path) -> None:
    manager, author = line.invite("manager", "team"), line.invite("author", "Acme")
    reviewers = [line.invite("reviewer", employer) for employer in ("B", "C", "D", "Acme")]
    passed = [f"--{name}=passed" for name in ("interview", "background-check", "training", "quiz")]
    for one in (author, *reviewers):
        assert line.run(review, "vet", one, "--by", manager, *passed, json_=True)["unmet"] == []
    made = line.run(review, "submit", str(folder), "--by", author, "--third-party", "Acme", json_=True)
    assert (made["task"], made["version"], len(made["screening"])) == ("memo", 1, 9)
    for number, one in enumerate(reviewers[:3]):
        found = line.run(review, "show", "memo", json_=True)
        assert found["stage"] == ("generalist", "occupation expert", "final loop")[number]
        line.run(review, "take", "memo", "--by", one)
        assert [card["holder"] for card in line.run(review, "list", json_=True)] == [one]
        yes = [f"--yes={name}" for name in QUESTIONS[Stage(found["stage"])]]
        line.run(review, "review", "memo", "--by", one, "--words", "Sound.", *RATED, *yes)
    anchor = ["--file", "expert/memo.txt", "--page", "1", "--box", "0,0.5,1,1"]
    comment = line.run(review, "comment", "memo", "--by", reviewers[2], "--words", "Which May?", *anchor, json_=True)
    assert comment["anchor"]["page"] == 1
    line.run(review, "answer", "memo", comment["comment"][:10], "--by", author, "--words", "This one.")
    line.run(review, "answer", "memo", comment["comment"][:10], "--by", reviewers[2], "--words", "Good.", "--resolve")
    line.run(review, "accept", "memo", "--by", manager)
    [listed] = line.run(tasks, "list", json_=True)
    assert (listed["id"], listed["review"]) == ("memo", "accepted")
    assert [one["task"] for one in line.run(review, "audit", "--share", "1", json_=True)] == ["memo"]
    line.run(review, "audit", "memo", "--by", manager, "--words", "Every figure agrees.")
    told = [event["what"] for event in line.run(review, "history", "memo", json_=True)]
    assert told[0] == "submitted version 1" and told[-1] == "audit: holds (version 1)" and len(told) == 10
    experts = {one["code_name"]: one for one in line.run(review, "roster", json_=True)["experts"]}
    assert experts[author]["acceptance_rate"] == 1.0 and experts[author]["reviews_per_task"] == 3.0
    with Workspace.open(line.workspace) as workspace:
        from guildhall.grading.people import Roster

        known = Roster(workspace.store, pepper=b"").by_code_name(author)
        assert known.author_names == ("expert-of-memo",)
    assert line.run(review, "promote", reviewers[0], "--by", manager, json_=True)["lead"]
