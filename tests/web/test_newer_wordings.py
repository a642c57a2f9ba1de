"""Newer versions of all tasks come in while a study is judged: nothing in it changes but the line that says so."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from guildhall.domain.halls import Role
from guildhall.domain.tasks import Task
from guildhall.domain.values import canonical_json
from guildhall.grading.gold import next_set
from guildhall.store.workspace import Workspace
from guildhall.study.boards import count_board
from guildhall.study.exports import CODE_BOOK, FORMATS, exported
from guildhall.study.reporting import write_study_report
from guildhall.study.studies import newer_words
from guildhall.taskbank.importing import import_tasks, read_source
from guildhall.taskbank.listing import newest_tasks
from guildhall.taskbank.sample import sample_folder
from tests.web.judging import judge_one
from tests.web.live import Live, Visitor
from tests.web.studies import open_study

PEOPLE = {"graders_per_set": 2, "severity_raters": 0, "match_occupation": False, "exposure_limit": 2}
API = ("studies", "studies/study/progress", "studies/study/results", "studies/study/judgments")
CHANGES = re.compile(r"/f/[^/\"]+/|form_token\" value=\"[^\"]+\"|nonce=\"[^\"]+\"|counted [^.]* UTC")
"""What no two answers share: links are signed anew, forms and scripts carry tokens, a board says when it counted."""

Bring = Callable[[Workspace], None]


def rewritten(task: Task) -> Task:
    """A second version in which everything differs that a page or a number could show."""
    return task.but(
        version=2,
        title="Another title",
        sector="Another sector",
        occupation="Another occupation",
        brief="Another brief.",
        reference_files=(),
        expert_files=(),
        expert_text="Another answer.",
        expert_hours=40 * (task.expert_hours or 1),
        hourly_wage_usd=900,
        sensitive=("a warning",),
    )


def sample_bank(_realdata: Callable[[], Path]) -> tuple[list[Task], Bring]:
    with sample_folder() as folder:
        first = read_source(folder).tasks

    def bring(workspace: Workspace) -> None:
        assert workspace.store.add_all(map(rewritten, first)) == len(first)

    return first, bring


def public_data(realdata: Callable[[], Path]) -> tuple[list[Task], Bring]:
    """The first public generation has no experts' work: it stands in here, so that something can be compared."""
    gdpval = realdata() / "gdpval"
    first = read_source(gdpval / "gdpval_v1_2025-10_7col.parquet").tasks
    known = [task.but(expert_text="By hand.", expert_hours=7, hourly_wage_usd=50) for task in first]

    def bring(workspace: Workspace) -> None:
        found = read_source(gdpval / "gdpval_tasks_220.jsonl")
        assert import_tasks(workspace, found, without_files=True).revised == 220

    return known, bring


@pytest.mark.parametrize("bank", [sample_bank, public_data])
def test_importing_newer_versions_of_all_tasks_changes_nothing_in_a_study_judged_half_way(
    bank: Callable[[Callable[[], Path]], tuple[list[Task], Bring]], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    tasks, bring = bank(lambda: request.getfixturevalue("realdata"))
    path = tmp_path / "workspace"
    with Workspace.create(path) as workspace:
        study = open_study(workspace, tasks, people=PEOPLE)
    live = Live(path).start()
    try:
        graders = [live.invite() for _ in range(2)]
        for number in range(min(len(tasks), 60)):  # two gradings a task are wanted: it stays at work
            assert judge_one(live.site, graders[number % 2], "study", ranks=((1, 2), (2, 1), (1, 1))[number % 3])
        seat = next_set(
            live.site.queue,
            live.site.roster,
            graders[0],
            study="study",
            design=live.site.design("study"),
            now=live.site.clock(),
        )
        assert seat is not None
        live.site.queue.mark_brief_read(seat.id, now=live.site.clock())
        manager = live.invite(Role.MANAGER)
        visitors = [live.client(graders[0]), live.client(manager), live.client()]
        pages = ("/sets", f"/sets/{seat.id}/brief", f"/sets/{seat.id}")
        headers = {"Authorization": f"Bearer {_token(live)}"}
        before = _everything(live, tmp_path / "before", visitors, pages, headers)
        live.stop()
        with Workspace.open(path) as workspace:
            bring(workspace)
            assert {task.version for task in newest_tasks(workspace.store)} == {2}
        live.start()  # a server that remembers nothing
        visitors = [live.client(graders[0]), live.client(manager), live.client()]
        after = _everything(live, tmp_path / "after", visitors, pages, headers)
    finally:
        live.stop()
    said = newer_words(len(tasks))
    assert said in after["/manage/studies/study"].decode() and said not in before["/manage/studies/study"].decode()
    line = f'<p class="facts">{said}</p>'.encode()
    after["/manage/studies/study"] = after["/manage/studies/study"].replace(line, b"")
    assert after.keys() == before.keys() and len(before) > 20
    assert [name for name, what in before.items() if after[name] != what] == []
    assert study.pins == {task.id: task.key for task in tasks}


def _token(live: Live) -> str:
    manager, scopes = live.invite(Role.MANAGER), ("results:read", "export:read")
    return live.site.door.new_api_token(manager.id, name="test", scopes=scopes, now=live.site.clock())


def _everything(
    live: Live, folder: Path, visitors: list[Visitor], pages: tuple[str, ...], headers: dict[str, str]
) -> dict[str, bytes]:
    """Every output of the study by name: report files, board, exports, API answers and pages."""
    grader, manager, program = visitors
    workspace, study = live.workspace, live.site.study("study")
    write_study_report(workspace, study, folder)
    found = {f"report/{one.relative_to(folder)}": one.read_bytes() for one in folder.rglob("*") if one.is_file()}
    found["board"] = canonical_json(count_board(workspace, study, now=0).model_dump(mode="json"))
    found |= {f"export.{ending}": exported(workspace, study, ending).content for ending in (*FORMATS, CODE_BOOK)}
    answers = {f"/api/v1/{name}": program.get(f"/api/v1/{name}", headers=headers) for name in API}
    answers |= {page: grader.get(page) for page in pages}
    managed = ("", "/judges", "/items")
    answers |= {page: manager.get(page) for page in (f"/manage/studies/study{one}" for one in managed)}
    assert {name: one.status_code for name, one in answers.items() if one.status_code != 200} == {}
    return found | {name: CHANGES.sub("", one.text).encode() for name, one in answers.items()}
