"""The wizard: tasks, work, rules and checks by plain forms, a preview that tells the cost, and a frozen study."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest
from playwright.sync_api import Page, expect

from guildhall.domain.authors import ModelRun
from guildhall.domain.halls import Role
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.errors import NotEnoughData
from guildhall.store.audit import history
from guildhall.store.work import WorkState
from guildhall.store.workspace import Workspace
from guildhall.study import openings
from guildhall.study.openings import open_next, opening_of
from tests.axe import faults
from tests.web.live import Live, Visitor
from tests.web.studies import make_task, open_study

NAMED = {"title": "Memos, second round", "id": "second", "seed": "5"}
WORK = NAMED | {"author": "model-1", "baseline": "expert"}
RULES = WORK | {"graders_per_set": "2", "minutes_per_set": "60", "hourly_wage_usd": "50", "severity_raters": "0"}


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Live]:
    """Three tasks of two occupations with the work of two models and an expert, judged in an earlier study."""
    with Workspace.create(tmp_path / "workspace") as workspace:
        tasks = [make_task(0), make_task(1), make_task(2, occupation="Actuaries", expert_text=None)]
        open_study(workspace, tasks, models=2)
    served = Live(tmp_path / "workspace").start()
    yield served
    served.stop()


@pytest.fixture
def manager(hall: Live) -> Visitor:
    return hall.client(hall.invite(Role.MANAGER))


def at(manager: Visitor, step: int, given: dict[str, str]) -> httpx.Response:
    return manager.get(f"/manage/new?{urlencode(given | {'step': str(step)})}")


def heading(answer: httpx.Response) -> str:
    found = re.search(r'aria-current="step">(\w+)<', answer.text)
    return found[1] if found else "none"


def test_steps_lead_on_and_a_step_that_lacks_something_says_what(manager: Visitor) -> None:
    assert heading(manager.get("/manage/new")) == "Tasks"
    unnamed = at(manager, 2, {"title": "x", "id": "two words"})
    assert (heading(unnamed), unnamed.status_code) == ("Tasks", 400) and "Short name" in unnamed.text
    assert "There is a study study already" in unescape(at(manager, 2, NAMED | {"id": "study"}).text)
    assert "no task" in at(manager, 2, NAMED | {"sector": "Mining"}).text
    assert heading(at(manager, 2, NAMED)) == "Work"
    assert "Choose whose work" in at(manager, 3, NAMED).text
    assert heading(at(manager, 3, WORK)) == "Rules"
    assert "Graders for each set" in at(manager, 4, WORK | {"graders_per_set": "99"}).text
    assert heading(at(manager, 4, WORK)) == "Checks"
    assert "Training needs" in at(manager, 5, WORK | {"quiz_required": "yes"}).text
    assert heading(at(manager, 5, WORK)) == "Preview"


def test_what_was_chosen_is_carried_from_step_to_step(manager: Visitor) -> None:
    text = unescape(at(manager, 4, RULES | {"occupation": "Editors", "made-up": "x"}).text)
    for name, value in (RULES | {"occupation": "Editors"}).items():
        assert f'type="hidden" name="{name}" value="{value}"' in text, name
    assert "made-up" not in text


def test_the_preview_tells_gradings_hours_dollars_and_what_the_roster_lacks(hall: Live, manager: Visitor) -> None:
    hall.invite()
    text = unescape(at(manager, 5, RULES).text)
    # Two tasks with an expert's work, one model, two graders each; the third task takes no part.
    assert "<b>4</b> gradings" in text and "<b>4</b> hours" in text and "<b>200</b> dollars" in text
    assert "on 1 the baseline has no work" in text and "invite 1 more" in text
    assert "cost unknown" in at(manager, 5, WORK).text


def test_the_study_is_frozen_once_the_manager_accepts_what_is_missing_and_a_worker_opens_it(
    hall: Live, manager: Visitor
) -> None:
    store = hall.site.store
    refused = manager.post("/manage/new", RULES)
    assert refused.status_code == 400 and "Tick the box" in refused.text and store.count(Study, id="second") == 0
    assert manager.post("/manage/new", RULES | {"anyway": "yes"}).headers["location"] == "/manage/studies/second"
    [study] = store.find(Study, id="second")
    assert {author.name for author in study.authors} == {"model-1"} and study.seed == 5
    assert study.design.hall.graders_per_set == 2 and len(study.tasks) == 3
    assert "Every file is being cleaned" in manager.get("/manage/studies/second").text
    assert open_next(hall.workspace, worker="here:1:1", clock=hall.site.clock)
    assert not open_next(hall.workspace, worker="here:1:1", clock=hall.site.clock)
    assert hall.site.queue.progress("second")["planned"] == 4
    done = [row["action"] for row in history(store) if row["subject"] == "second"]
    assert done == ["study opened", "opening asked", "study frozen"]
    again = manager.post("/manage/new", RULES | {"anyway": "yes"})
    assert again.status_code == 400 and "already" in again.text


@pytest.mark.parametrize(("failure", "tries"), [(NotEnoughData("no file is left"), 1), (OSError("disk"), 3)])
def test_an_opening_that_fails_says_so_and_can_be_tried_again(
    hall: Live, manager: Visitor, monkeypatch: pytest.MonkeyPatch, failure: Exception, tries: int
) -> None:
    manager.post("/manage/new", RULES | {"anyway": "yes"})
    tried = 0

    def fail(*_words: object, **_more: object) -> None:
        nonlocal tried
        tried += 1
        raise failure

    with monkeypatch.context() as patched:
        patched.setattr(openings, "open_hall", fail)
        for _ in range(5):
            with suppress(OSError):
                open_next(hall.workspace, worker="here:1:1", clock=hall.site.clock)
    assert tried == tries
    stands = opening_of(hall.site.store, hall.site.study("second"))
    assert stands and stands.state is WorkState.FAILED and stands.why
    assert f"could not be opened: {stands.why}" in unescape(manager.get("/manage/studies/second").text)
    assert manager.post("/manage/studies/second/open").status_code == 303
    assert open_next(hall.workspace, worker="here:1:1", clock=hall.site.clock)
    assert "could not be opened" not in manager.get("/manage/studies/second").text


def test_items_with_a_known_answer_are_chosen_from_work_on_the_tasks(hall: Live, manager: Visitor) -> None:
    with_item = RULES | {"gold": "task-0"}
    text = unescape(at(manager, 4, with_item).text)
    assert 'name="better.task-0"><option>expert<' in text and "<option>model-0, sample 1<" in text
    works = {
        one.author.name if isinstance(one.author, ModelRun) else "expert": one.key for one in _works(hall, "task-0")
    }
    assert not any(key[:12] in text for key in works.values()), "keys beside names would lead from code names to models"
    chosen = with_item | {"better.task-0": "expert", "worse.task-0": "model-0, sample 1", "training.task-0": "yes"}
    assert "Say what shows" in at(manager, 5, chosen).text
    chosen |= {"why.task-0": "Its total is right.", "quiz_required": "yes", "anyway": "yes"}
    assert manager.post("/manage/new", chosen).status_code == 303
    [item] = hall.site.study("second").design.hall.gold
    assert (item.task, item.better, item.worse, item.training) == ("task-0", works["expert"], works["model-0"], True)


def _works(hall: Live, task: str) -> list[Submission]:
    return hall.site.store.find(Submission, task=task)


def test_two_equal_sides_are_no_item_with_a_known_answer(hall: Live, manager: Visitor) -> None:
    same = RULES | {"gold": "task-0", "better.task-0": "expert", "worse.task-0": "expert", "why.task-0": "x"}
    assert "two different submissions" in at(manager, 5, same).text


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
def test_a_manager_walks_the_wizard_in_a_browser(hall: Live, tab: Page, *, scripts: bool) -> None:
    browser = tab.context.browser
    assert browser
    context = browser.new_context(viewport={"width": 1366, "height": 768}, java_script_enabled=scripts)
    page = context.new_page()
    page.goto(hall.link(hall.invite(Role.MANAGER)))
    page.get_by_role("button").first.click()
    page.get_by_role("link", name="New study").click()
    page.get_by_label("Title").fill("Walked")
    page.get_by_label("Short name").fill("walked")
    page.get_by_label("Editors").check()
    looked = []
    for name in ("work", "rules", "checks", "preview"):
        looked.append(faults(page) if scripts else [])
        page.get_by_role("button", name=f"Next: {name}").click()
        expect(page.locator("ol.steps [aria-current]")).to_have_text(name.capitalize())
    looked.append(faults(page) if scripts else [])
    page.go_back()
    expect(page.locator("ol.steps [aria-current]")).to_have_text("Checks")
    page.go_forward()
    page.get_by_label("Open it although graders are missing").check()
    page.get_by_role("button", name="Freeze and open").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Walked")
    context.close()
    assert not any(looked), looked
    assert hall.site.store.count(Study, id="walked") == 1
