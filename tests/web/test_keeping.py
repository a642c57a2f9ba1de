"""Nothing typed is lost, on whatever form: reload, second tab, expired session, a server that is away."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from guildhall.domain.halls import Member, Role
from guildhall.store.workspace import Workspace
from guildhall.taskbank.review.authoring import desk_copies_of
from tests import axe
from tests.web.live import Live
from tests.web.studies import make_task, open_study

RTL = "חוות דעת על הדוח הרבעוני"


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    path = tmp_path_factory.mktemp("keeping") / "workspace"
    with Workspace.create(path) as workspace:
        open_study(workspace, [make_task(number) for number in range(4)])
    served = Live(path).start()
    yield served
    served.stop()


def come_in(live: Live, tab: Page, member: Member) -> None:
    tab.goto(live.link(member))
    tab.get_by_role("button", name="Come in").click()


def begin_writing(live: Live, tab: Page) -> Member:
    author = live.invite(Role.AUTHOR)
    come_in(live, tab, author)
    tab.get_by_role("button", name="Write a new task").click()
    tab.locator("#draft-form").wait_for()
    tab.wait_for_load_state()
    return author


def saved(tab: Page) -> None:
    expect(tab.locator("#kept")).to_have_text(re.compile(r"^saved \d\d:"))


def test_an_authors_draft_saves_itself_and_its_files_stay(live: Live, tab: Page) -> None:
    author = begin_writing(live, tab)
    tab.locator("input[name=add_reference]").set_input_files(
        {"name": "ledger.csv", "mimeType": "text/csv", "buffer": b"a,b\n1,2\n"}
    )
    tab.get_by_role("button", name="Save", exact=True).click()
    expect(tab.get_by_text("ledger.csv")).to_be_visible()
    tab.get_by_label("ledger.csv").check()
    tab.get_by_label("The brief").fill(f"Half a thought. {RTL}")
    saved(tab)
    [copy] = desk_copies_of(live.site.store, author.code_name)
    assert copy.brief == f"Half a thought. {RTL}"
    assert [file.name for file in copy.reference_files] == ["ledger.csv"], "a tick acts when the form is sent"
    assert axe.faults(tab) == []
    tab.get_by_label("The brief").fill("A whole thought.")
    tab.get_by_label("Hours it takes").fill("-3")
    expect(tab.locator("#kept")).to_contain_text("not saved")
    tab.get_by_label("Hours it takes").fill("3")
    saved(tab)
    tab.get_by_role("button", name="Save", exact=True).click()
    [copy] = desk_copies_of(live.site.store, author.code_name)
    assert copy.brief == "A whole thought." and copy.expert_hours == 3 and not copy.reference_files


def test_an_authors_second_tab_overwrites_nothing_and_keeps_what_it_had(live: Live, tab: Page) -> None:
    author = begin_writing(live, tab)
    other = tab.context.new_page()
    other.goto(tab.url)
    tab.get_by_label("The brief").fill("from the first tab")
    saved(tab)
    other.get_by_label("The brief").fill("from the second tab")
    expect(other.locator("#kept")).to_contain_text("another tab")
    [copy] = desk_copies_of(live.site.store, author.code_name)
    assert copy.brief == "from the first tab"
    other.reload()
    expect(other.get_by_label("The brief")).to_have_value("from the first tab")
    expect(other.locator(".unsaved")).to_contain_text("from the second tab")
    other.get_by_role("button", name="I have copied").click()
    other.reload()
    expect(other.locator(".unsaved")).to_have_count(0)


def test_an_expired_session_costs_an_author_nothing(live: Live, tab: Page) -> None:
    author = begin_writing(live, tab)
    address = tab.url
    tab.context.clear_cookies()
    tab.get_by_label("The brief").fill("typed after being signed out")
    expect(tab.locator("#kept")).to_contain_text("no longer signed in")
    come_in(live, tab, author)
    tab.goto(address)
    expect(tab.get_by_label("The brief")).to_have_value("typed after being signed out")
    saved(tab)
    [copy] = desk_copies_of(live.site.store, author.code_name)
    assert copy.brief == "typed after being signed out"


def test_an_authors_words_outlive_a_server_that_is_away(live: Live, tab: Page) -> None:
    author = begin_writing(live, tab)
    tab.context.set_offline(True)
    tab.get_by_label("The brief").fill("written in a tunnel")
    expect(tab.locator("#kept")).to_contain_text("not saved")
    tab.context.set_offline(False)
    saved(tab)
    [copy] = desk_copies_of(live.site.store, author.code_name)
    assert copy.brief == "written in a tunnel"


def test_what_is_kept_in_a_tab_alone_is_back_after_a_reload_and_gone_once_it_was_sent(live: Live, tab: Page) -> None:
    come_in(live, tab, live.invite(Role.MANAGER))
    board = f"{live.address}/manage/studies/study"
    tab.goto(board)
    why = tab.get_by_label("Why the names are to be shown now")
    why.fill("The report is due")
    tab.reload()
    expect(why).to_have_value("The report is due")
    tab.get_by_role("button", name="Ask to unblind").click()
    expect(tab.get_by_text("has asked to show the models' names")).to_be_visible()
    tab.goto(board)
    expect(tab.locator(".unsaved, #unblind-form")).to_have_count(0)
