"""Authoring and review in the web app: the whole way in a browser, and who may do what."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from guildhall.domain.halls import Role
from guildhall.domain.reviews import Draft
from guildhall.domain.tasks import ReviewState, Task
from guildhall.store.workspace import Workspace
from tests.taskbank.reviewing import VETTED, draft_task
from tests.web.live import Live
from tests.web.review_path import EXPECTED, OCCUPATION, People, Walk, walk_to_acceptance

ANSWERS = {
    "outcome": "pass",
    "difficulty": "3",
    "representativeness": "4",
    "quality": "5",
    "time": "4",
    "words": "Sound.",
    "asked-requirements": "yes",
}


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    path = tmp_path_factory.mktemp("review") / "workspace"
    Workspace.create(path).close()
    served = Live(path).start()
    yield served
    served.stop()


def test_a_task_goes_from_draft_to_accepted_in_a_browser(hall: Live, chrome: Browser, tmp_path: Path) -> None:
    walk = Walk(hall, chrome, People.invited(hall), tmp_path)
    assert walk_to_acceptance(walk) == EXPECTED
    assert walk.violations == []
    [task] = hall.site.store.find(Task, id=walk.task)
    assert (task.version, task.review, task.ratings.quality) == (2, ReviewState.ACCEPTED, 5.0)
    author = hall.site.roster.by_code_name(walk.people.author.code_name)
    assert author.author_names == (f"expert-of-{walk.task}",)


def submitted(hall: Live, name: str) -> tuple[Live, People]:
    from guildhall.web.drafts import desk_of

    people = People.invited(hall)
    desk_of(hall.site).submit(draft_task(name), people.author, now=hall.site.clock())
    return hall, people


def test_another_authors_task_does_not_exist_and_ones_own_is_not_reviewed(hall: Live) -> None:
    _, people = submitted(hall, "mine")
    stranger = hall.client(hall.invite(Role.AUTHOR, occupations=(OCCUPATION,)))
    for path in ("/tasks/mine", "/tasks/mine/history", "/tasks/mine/differences", "/tasks/mine/edit"):
        assert stranger.get(path).status_code == 404, path
    assert stranger.post("/tasks/mine/revise").status_code == 404
    promoted = people.author.but(role=Role.REVIEWER)
    hall.site.roster.change(promoted)
    author = hall.client(promoted)
    assert "wrote this task" in author.post("/tasks/mine/take").text
    refused = author.post("/tasks/mine/review", ANSWERS)
    assert refused.status_code == 400 and "wrote this task" in refused.text
    assert author.post("/tasks/mine/comment", {"words": "Lovely."}).status_code == 400


def test_a_review_names_what_it_lacks_and_keeps_nothing(hall: Live) -> None:
    _, people = submitted(hall, "lacking")
    reviewer = hall.client(people.generalist)
    reviewer.post("/tasks/lacking/take")
    answer = reviewer.post("/tasks/lacking/review", ANSWERS | {"quality": "6", "words": " "})
    assert answer.status_code == 400 and "Quality, your reasons" in answer.text
    assert reviewer.post("/tasks/lacking/review", ANSWERS | {"outcome": "great"}).status_code in {400, 422}
    unasked = reviewer.post("/tasks/lacking/review", ANSWERS | {"asked-requirements": ""})
    assert unasked.status_code == 400 and "meet the project" in unasked.text
    assert reviewer.post("/tasks/lacking/review", ANSWERS).status_code == 303


def test_a_draft_saved_in_two_windows_is_not_overwritten(hall: Live) -> None:
    author = hall.client(hall.invite(Role.AUTHOR, occupations=(OCCUPATION,), vetting=VETTED, years=9.0))
    path = author.post("/tasks/new").headers["location"]
    assert author.post(path, {"title": "First", "saved": "1"}).status_code == 303
    late = author.post(path, {"title": "Second", "saved": "1"})
    assert late.status_code == 409 and "another window" in late.text
    assert 'value="First"' in author.get(path).text


@pytest.mark.parametrize("name", ["../../guildhall.key", "a\\..\\b.docx", "/etc/passwd"])
def test_an_uploaded_name_stays_inside(hall: Live, name: str) -> None:
    author = hall.client(hall.invite(Role.AUTHOR, occupations=(OCCUPATION,)))
    path = author.post("/tasks/new").headers["location"]
    answer = author.post(path, {"saved": "1"}, files={"add_reference": (name, b"x", "text/plain")})
    assert answer.status_code == 303
    shown = author.get(path).text
    assert f'value="{name.replace(chr(92), "/").rsplit("/", 1)[-1]}"' in shown and "../" not in shown


def test_an_unvetted_author_may_write_and_not_submit(hall: Live) -> None:
    author = hall.client(hall.invite(Role.AUTHOR, occupations=(OCCUPATION,)))
    path = author.post("/tasks/new").headers["location"]
    draft = {"title": "T", "sector": "S", "occupation": "O", "brief": "B", "expert_hours": "2", "expert_text": "Done."}
    answer = author.post(path, draft | {"saved": "1", "act": "submit"})
    assert answer.status_code == 400 and "does not yet meet the requirements" in answer.text
    assert hall.site.store.count(Draft, task=path.split("/")[2]) == 0


def test_a_hostile_draft_is_shown_as_words(hall: Live) -> None:
    _, people = submitted(hall, "hostile")
    reviewer = hall.client(people.generalist)
    reviewer.post("/tasks/hostile/comment", {"words": "<script>alert(1)</script>"})
    shown = reviewer.get("/tasks/hostile").text
    assert "<script>alert" not in shown and "&lt;script&gt;alert(1)" in shown
    assert "script-src 'nonce-" in reviewer.get("/tasks/hostile").headers["content-security-policy"]


def test_managers_record_checks_and_promote(hall: Live) -> None:
    manager = hall.client(hall.invite(Role.MANAGER))
    newcomer = hall.invite(Role.AUTHOR, occupations=(OCCUPATION,), years=5.0)
    checks = dict.fromkeys(("interview", "background_check", "training", "quiz"), "passed")
    assert manager.post(f"/review/people/{newcomer.id}/promote").status_code == 400
    assert manager.post(f"/review/people/{newcomer.id}/checks", checks).status_code == 303
    for _ in range(2):
        assert manager.post(f"/review/people/{newcomer.id}/promote").status_code == 303
    lead = hall.site.roster.get(newcomer.id)
    assert (lead.role, lead.lead) == (Role.REVIEWER, True)
    assert "promoted" in manager.get("/manage/audit").text
