"""From invitation to receipt in a real browser: by mouse, by keyboard, without scripts, through mishaps."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Browser, Page, expect

from guildhall.domain.halls import Member
from guildhall.domain.judgments import Judgment
from tests.web.live import Live

REASON = "A follows the brief and its totals agree."


def judgments_of(live: Live, member: Member) -> list[Judgment]:
    return live.workspace.store.find(Judgment, grader=f"person:{member.code_name}")


def come_in(live: Live, tab: Page) -> Member:
    member = live.invite()
    tab.goto(live.link(member))
    tab.get_by_role("button", name="Come in").click()
    return member


def start_comparing(live: Live, tab: Page) -> Member:
    member = come_in(live, tab)
    tab.get_by_role("button", name="Take the next set").click()
    tab.get_by_role("button", name="I have read this").click()
    tab.locator("#verdict-form").wait_for()
    tab.wait_for_load_state("load")  # keys work from here on
    return member


def saved(tab: Page) -> None:
    expect(tab.locator("#saved")).to_have_text(re.compile(r"^saved \d\d:"))


def test_the_whole_path_by_mouse(live: Live, tab: Page) -> None:
    member = start_comparing(live, tab)
    tab.get_by_label("B is better").check()
    tab.get_by_label("clearly").check()
    tab.get_by_label("correctness: B better").check()
    tab.get_by_label("Your reasons").fill(REASON)
    saved(tab)
    tab.get_by_role("button", name="Review and submit").click()
    expect(tab.get_by_text(REASON)).to_be_visible()
    tab.get_by_label("cannot tell").check()
    tab.get_by_role("button", name="Submit").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Thank you. Your judgment is kept.")
    [judgment] = judgments_of(live, member)
    assert judgment.ranks == (2, 1) and judgment.strength == 2 and judgment.criteria == {"correctness": 1}
    assert judgment.guess == "cannot tell" and judgment.reason == REASON
    assert judgment.active_s is not None


def test_the_whole_path_by_keyboard_alone(live: Live, tab: Page) -> None:
    member = live.invite()
    tab.goto(live.link(member))
    keys = tab.keyboard

    def reach(name: str) -> None:
        for _ in range(120):
            keys.press("Tab")
            if name in tab.evaluate("document.activeElement.textContent || document.activeElement.name || ''"):
                return
        raise AssertionError(f"{name!r} cannot be reached by Tab")

    for name in ("Come in", "Take the next set", "I have read this"):
        reach(name)
        with tab.expect_navigation():
            keys.press("Enter")
    tab.locator("#verdict-form").wait_for()
    keys.press("2")
    assert tab.evaluate("document.activeElement.id") == "shown-B"
    keys.press("n")
    keys.type("a pinned thought")
    keys.press("Escape")
    tab.evaluate("document.activeElement.blur()")
    keys.press("a")
    for _ in range(10):
        keys.press("Tab")
        if tab.evaluate("document.activeElement.name") == "reason":
            break
    keys.type(REASON)
    saved(tab)
    reach("Review and submit")
    keys.press("Enter")
    tab.wait_for_url("**/review")
    for _ in range(40):
        keys.press("Tab")
        if tab.evaluate("document.activeElement.name") == "guess":
            break
    keys.press("Space")
    reach("Submit")
    keys.press("Enter")
    tab.wait_for_url("**/receipt")
    [judgment] = judgments_of(live, member)
    assert judgment.ranks == (1, 2) and judgment.guess == "A"
    [seat] = live.site.queue.seats_of(member.id)
    assert json.loads(seat.draft or "{}")["note-B.1.1"] == "a pinned thought"


def test_a_draft_survives_going_away_and_coming_back(live: Live, tab: Page) -> None:
    start_comparing(live, tab)
    address = tab.url
    tab.get_by_label("Your reasons").fill("half a thought")
    saved(tab)
    tab.goto(live.address + "/sets")
    tab.goto(address)
    expect(tab.get_by_label("Your reasons")).to_have_value("half a thought")


def test_a_second_tab_overwrites_nothing(live: Live, tab: Page) -> None:
    member = start_comparing(live, tab)
    other = tab.context.new_page()
    other.goto(tab.url)
    tab.get_by_label("Your reasons").fill("from the first tab")
    saved(tab)
    other.get_by_label("Your reasons").fill("from the second tab")
    expect(other.locator("#saved")).to_contain_text("another tab")
    [seat] = live.site.queue.seats_of(member.id)
    assert json.loads(seat.draft or "{}")["reason"] == "from the first tab"
    other.get_by_role("button", name="Save", exact=True).click()
    expect(other.get_by_role("heading", level=1)).to_have_text("A newer draft was saved elsewhere")
    expect(other.get_by_text("from the second tab")).to_be_visible()


def test_a_draft_survives_a_lost_connection(live: Live, tab: Page) -> None:
    member = start_comparing(live, tab)
    tab.context.set_offline(True)
    tab.get_by_label("Your reasons").fill("written in a tunnel")
    expect(tab.locator("#saved")).to_contain_text("not saved")
    tab.context.set_offline(False)
    saved(tab)
    [seat] = live.site.queue.seats_of(member.id)
    assert json.loads(seat.draft or "{}")["reason"] == "written in a tunnel"


def test_a_draft_survives_a_restart_of_the_server(live: Live, tab: Page) -> None:
    member = start_comparing(live, tab)
    tab.get_by_label("Your reasons").fill("before the restart")
    saved(tab)
    live.stop()
    tab.get_by_label("Your reasons").fill("before the restart, and during it")
    expect(tab.locator("#saved")).to_contain_text("not saved")
    live.start()
    saved(tab)
    [seat] = live.site.queue.seats_of(member.id)
    assert json.loads(seat.draft or "{}")["reason"] == "before the restart, and during it"


def test_without_javascript_everything_saves_and_submits_and_time_is_unknown(live: Live, chrome: Browser) -> None:
    context = chrome.new_context(java_script_enabled=False)
    tab = context.new_page()
    member = start_comparing(live, tab)
    tab.get_by_label("They are equal").check()
    tab.get_by_label("both good").check()
    tab.get_by_label("Your reasons").fill("Both do what was asked.")
    tab.get_by_role("button", name="Save", exact=True).click()
    expect(tab.get_by_label("Your reasons")).to_have_value("Both do what was asked.")
    tab.get_by_role("button", name="Review and submit").click()
    tab.get_by_label("neither").check()
    tab.get_by_role("button", name="Submit").click()
    expect(tab.get_by_text("unknown: your browser sent no signs of activity")).to_be_visible()
    context.close()
    [judgment] = judgments_of(live, member)
    assert judgment.ranks == (1, 1) and judgment.tie_kind == "both good"
    assert judgment.active_s is None and judgment.wall_s is None


def test_a_judgment_can_be_changed_with_a_reason_and_its_time_corrected(live: Live, tab: Page) -> None:
    member = start_comparing(live, tab)
    tab.keyboard.press("a")
    tab.get_by_label("Your reasons").fill(REASON)
    tab.get_by_role("button", name="Review and submit").click()
    tab.get_by_text("Is that wrong?").click()
    tab.get_by_label("Minutes").fill("42")
    tab.get_by_label("Why").fill("I read it on paper.")
    tab.get_by_label("cannot tell").check()
    tab.get_by_role("button", name="Submit").click()
    expect(tab.get_by_text("42 min, as you corrected it")).to_be_visible()
    tab.get_by_role("link", name="Change it").click()
    tab.get_by_label("B is better").check()
    tab.get_by_role("button", name="Review and submit").click()
    tab.get_by_label("Why do you change").fill("I had swapped the columns.")
    tab.get_by_role("button", name="Submit the change").click()
    expect(tab.get_by_text("changed; the first judgment stays on record")).to_be_visible()
    first, second = judgments_of(live, member)
    assert first.ranks == (1, 2) and first.correction and first.correction.active_s == 42 * 60
    assert second.ranks == (2, 1) and second.replaces == first.key


def test_what_a_brief_holds_is_text_never_markup_of_its_own(live: Live, tab: Page) -> None:
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    come_in(live, tab)
    tab.get_by_role("button", name="Take the next set").click()
    expect(tab.locator(".prose strong")).to_have_text("quarterly figures")
    expect(tab.locator(".prose table")).to_be_visible()
    assert tab.locator(".prose script, .prose img, .prose a").count() == 0
    assert not [url for url in asked if "outside.invalid" in url]


def test_a_sheet_shows_values_or_formulas_and_a_cell_its_meaning(live: Live, tab: Page) -> None:
    start_comparing(live, tab)
    pane = tab.locator("#pane-A")
    pane.get_by_role("button", name="A-2.xlsx").click()
    cell = pane.locator("td[data-f]")
    expect(cell).to_have_text("1200")
    formula = "one => getComputedStyle(one, '::after').content"
    assert cell.evaluate(formula) == "none"
    pane.get_by_label("show formulas").check()
    assert cell.evaluate(formula) == '"=SUM(B2:B2)"'
    pane.get_by_role("region", name="Sheet Totals").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
        tab.keyboard.press(key)
    expect(pane.locator(".fx")).to_have_text(re.compile(r"B3\s*=SUM\(B2:B2\)\s+gives\s+1200"))


def test_a_set_can_be_given_back_with_a_reason(live: Live, tab: Page) -> None:
    member = come_in(live, tab)
    tab.get_by_role("button", name="Take the next set").click()
    tab.get_by_text("Give this set back").click()
    tab.get_by_label("It is not my field").check()
    tab.get_by_role("button", name="Give it back").click()
    tab.wait_for_url("**/sets")
    assert [seat.state for seat in live.site.queue.seats_of(member.id)] == ["declined"]
