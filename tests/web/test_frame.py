"""The frame of the application: every role's places, one search that tells nobody more than their pages do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from guildhall.domain.halls import Role
from guildhall.store.workspace import Workspace
from guildhall.web.frame import PLACES
from tests import axe
from tests.web.live import Live
from tests.web.studies import make_task, open_study


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """Two tasks in one study, with titles that a search may find."""
    path = tmp_path_factory.mktemp("frame") / "workspace"
    with Workspace.create(path) as workspace:
        open_study(workspace, [make_task(number, title=f"Ledger {number} of <b>Lark</b>") for number in range(2)])
    served = Live(path).start()
    yield served
    served.stop()


def sought(live: Live, role: Role, words: str) -> tuple[str, str]:
    """Where a search ends and what its page says."""
    answer = live.client(live.invite(role)).get("/find", params={"q": words}, follow_redirects=True)
    assert answer.status_code == 200
    return answer.url.path, answer.text


@pytest.mark.parametrize("role", Role)
def test_every_place_of_a_role_opens_and_is_marked_as_where_one_is(live: Live, role: Role) -> None:
    visitor = live.client(live.invite(role))
    for _, places in PLACES[role]:
        for place in places:
            shown = visitor.get(place.address)
            assert shown.status_code == 200, place
            assert f'href="{place.address}" aria-current="page"' in shown.text
            assert shown.text.count("aria-current") == 1, "and no other place is"


def test_a_graders_search_finds_their_own_open_sets_and_nothing_else(live: Live) -> None:
    mine, other = (live.client(live.invite()) for _ in range(2))
    seat = mine.post("/sets/claim").headers["location"].split("/")[2]
    found = mine.get("/find", params={"q": "ledger"})
    assert found.status_code == 303 and found.headers["location"] == f"/sets/{seat}", "a single hit opens at once"
    assert "Nothing you may see" in other.get("/find", params={"q": "ledger"}).text
    for words in ("study", "model", "model-0", "grader-", "quarterly", "task-0", "expert", "scripted"):
        assert "Nothing you may see" in mine.get("/find", params={"q": words}).text, words


@pytest.mark.parametrize("role", [Role.AUTHOR, Role.REVIEWER])
def test_who_writes_tasks_finds_no_study_and_nobody(live: Live, role: Role) -> None:
    for words in ("quarterly", "grader-", "study", "webhooks", "audit"):
        assert "Nothing you may see" in sought(live, role, words)[1], words


def test_a_manager_finds_studies_people_and_pages_by_all_the_words(live: Live) -> None:
    live.invite(occupations=("Larks and owls",))
    assert sought(live, Role.MANAGER, "MEMOS quart")[0] == "/manage/studies/study"
    assert sought(live, Role.MANAGER, "owls larks")[0] == "/manage/people"
    assert sought(live, Role.MANAGER, "webhooks")[0] == "/manage/webhooks"
    assert "Nothing you may see" in sought(live, Role.MANAGER, "quart owls")[1]
    path, page = sought(live, Role.MANAGER, "<script>alert(1)</script>" + "x" * 5000)
    assert path == "/find" and "<script>alert" not in page


def test_one_key_opens_the_search_and_types_nothing(live: Live, tab: Page) -> None:
    faults: list[str] = []
    tab.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    tab.goto(live.link(live.invite(Role.MANAGER)))
    tab.get_by_role("button", name="Come in").click()
    tab.wait_for_load_state()
    tab.keyboard.press("/")
    box = tab.get_by_role("searchbox")
    expect(box).to_be_focused()
    expect(box).to_have_value("")
    tab.keyboard.type("who / what")
    expect(box).to_have_value("who / what")
    tab.keyboard.press("Enter")
    expect(tab.get_by_text("Nothing you may see")).to_be_visible()
    assert axe.faults(tab) == [] and faults == []


@pytest.mark.parametrize(("theme", "width"), [("light", 1366), ("dark", 1366), ("light", 390)])
def test_the_page_of_all_components_keeps_nobody_out(live: Live, chrome: Browser, theme: str, width: int) -> None:
    context = chrome.new_context(viewport={"width": width, "height": 800}, color_scheme=theme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{live.address}/static/components.html")
    assert axe.faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    context.close()


def test_reports_and_pages_carry_the_same_tokens(live: Live) -> None:
    import guildhall.reports

    tokens = (Path(guildhall.reports.__file__).parent / "static" / "tokens.css").read_text()
    assert live.client().get("/static/tokens.css").text == tokens
    assert live.client().get("/static/report.css").status_code == 200
    assert live.client().get("/static/base.html").status_code == 404, "templates are not served"
