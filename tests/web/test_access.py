"""Every page a grader meets, held to WCAG by axe, in light and in dark, on a laptop and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from guildhall.domain.halls import GoldItem, SlotKind, Verdict
from guildhall.domain.judgments import Comparison
from guildhall.domain.submissions import Submission
from guildhall.grading.submitting import submit
from guildhall.store.workspace import Workspace
from tests.axe import faults
from tests.web.live import Live
from tests.web.studies import make_task, open_study, prepare


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """Sets of three, a sensitive task, training, and a lost deliverable to rate."""
    path = tmp_path_factory.mktemp("varied") / "workspace"
    with Workspace.create(path) as workspace:
        golden = make_task(90)
        better, worse = (Submission(task=golden.id, author={"kind": "expert"}, text=words) for words in ("good", "bad"))
        workspace.store.add_all([golden, better, worse])
        for one in (better, worse):
            prepare(workspace, one.key, label="Gold", text=one.text)
        prepare(workspace, golden.content_digest(), label="Ledger", text="")
        item = GoldItem(
            task=golden.id, better=better.key, worse=worse.key, explanation="The *totals* agree.", training=True
        )
        rules = {
            "set_size": 3,
            "quiz_required": True,
            "gold": [item.model_dump()],
            "graders_per_set": 1,
            "held_at_once": 2,
        }
        open_study(workspace, [make_task(1, sensitive=("violence",))], models=2, people=rules)
        open_study(workspace, [make_task(2)], people={"graders_per_set": 1, "held_at_once": 2}, name="pairs")
    served = Live(path).start()
    _lose_one(served)
    yield served
    served.stop()


def _lose_one(served: Live) -> None:
    """A first grader prefers the expert, so that the model's deliverable goes to the severity queue."""
    member = served.invite(quiz_passed=True)
    queue, design = served.site.queue, served.site.design("pairs")
    seat = queue.claim(member, study="pairs", design=design, now=1.0)
    assert seat is not None
    expert = served.workspace.store.get(Comparison, seat.slot.comparison).submissions[0]
    ranks = (1, 2) if seat.slot.order[0] == expert else (2, 1)
    queue.mark_brief_read(seat.id, now=1.0)
    said = Verdict(ranks=ranks, reason="It is plainly better.")
    submit(queue, seat, member, said, design=design, submit_key="first", now=2.0)


def check(page: Page, where: str) -> None:
    assert not (found := faults(page)), f"{where}: {found}"
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"{where} scrolls sideways by {wide} px"


def practise(page: Page, name: str) -> None:
    page.get_by_role("button", name="Take the next set").click()
    expect(page.get_by_text("This is a practice set")).to_be_visible()
    check(page, f"brief, {name}")
    page.get_by_role("button", name="I have read this").click()
    check(page, f"compare, {name}")
    page.get_by_role("button", name="Review and submit").click()
    expect(page.get_by_role("heading", name="Before you can submit")).to_be_visible()
    check(page, f"review with faults, {name}")
    page.get_by_role("link", name="Change an answer").click()
    # The known answer is the better submission, wherever it stands.
    good = page.locator(".pane", has_text="good").get_attribute("data-place")
    page.get_by_label(f"{good} is better").check()
    page.get_by_label("Your reasons").fill("Its totals agree with the ledger.")
    page.get_by_role("button", name="Review and submit").click()
    check(page, f"review, {name}")
    page.get_by_label("cannot tell").check()
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("That is the known answer")
    check(page, f"lesson, {name}")
    page.get_by_role("link", name="Back to my work").click()


def rank_three(page: Page, name: str) -> None:
    page.get_by_role("button", name="Take the next set").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Before you read on")
    check(page, f"warning, {name}")
    page.get_by_role("link", name="Show me the brief").click()
    page.get_by_role("button", name="I have read this").click()
    page.wait_for_load_state("load")
    expect(page.locator(".pane:visible")).to_have_count(2)
    page.keyboard.press("3")
    expect(page.locator(".pane:visible")).to_have_count(3)
    page.keyboard.press("?")
    page.keyboard.press("v")
    for rank in ("2", "1", "2"):
        page.keyboard.type(rank)
        page.keyboard.press("Tab")
    expect(page.locator("#ranking")).to_have_text("B > A = C")
    check(page, f"ranking, {name}")


def rate(page: Page, name: str) -> None:
    page.get_by_role("button", name="Rate one deliverable").click()
    page.get_by_role("button", name="I have read this").click()
    check(page, f"severity, {name}")
    page.get_by_role("radio", name="acceptable but subpar").check()
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_contain_text("Give your reasons")
    check(page, f"severity with faults, {name}")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1366), ("dark", 390)])
def test_axe_finds_nothing_on_any_page(varied: Live, chrome: Browser, scheme: str, width: int) -> None:
    name = f"{scheme} {width}"
    context = chrome.new_context(viewport={"width": width, "height": 768}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    member = varied.invite()
    page.goto(varied.address + "/enter")
    check(page, f"closed door, {name}")
    page.goto(varied.link(member))
    check(page, f"invitation, {name}")
    page.get_by_role("button", name="Come in").click()
    check(page, f"empty work, {name}")
    practise(page, name)
    check(page, f"work, {name}")
    rank_three(page, name)
    page.goto(varied.address + "/sets")
    rate(page, name)
    page.goto(varied.address + "/nowhere")
    check(page, f"not here, {name}")
    context.close()
    # Give the places back, so that the next visitor finds the same study.
    for seat in varied.site.queue.seats_of(member.id):
        if seat.slot.kind is not SlotKind.TRAINING:
            varied.site.queue.decline(seat.id, "test over", now=varied.site.clock())


def test_the_style_sheet_is_one_file_of_ours() -> None:
    sheet = Path("src/guildhall/web/static/guildhall.css")
    assert "http" not in sheet.read_text() and "@import" not in sheet.read_text()
