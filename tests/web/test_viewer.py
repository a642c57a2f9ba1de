"""The comparing page under a heavy set: light at first and while scrolling, every file a tab away."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from guildhall.domain.authors import ModelRun
from guildhall.domain.prepared import VERSION, GridSheet, Prepared, PreparedFile
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.grading.opening import gather, layout_of
from guildhall.grading.queue import Queue
from guildhall.store.workspace import Workspace
from guildhall.web.panes import MOST_COLUMNS, window_of
from tests import axe
from tests.web.heavy import heavy_study
from tests.web.live import Live, Visitor
from tests.web.studies import make_task, prepare
from tests.web.test_path import saved, start_comparing

MOST_BYTES, MOST_NODES, MOST_NODES_SCROLLING = 400_000, 2_000, 2_600
KINDS = ["docx", "xlsx", "xlsx", "pptx", "pdf", "mp4", "mp3", "step"]
NODES = "document.querySelectorAll('*').length"


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    path = tmp_path_factory.mktemp("heavy") / "workspace"
    with Workspace.create(path) as workspace:
        heavy_study(workspace)
    served = Live(path).start()
    yield served
    served.stop()


@pytest.fixture(autouse=True)
def other_graders_go(live: Live) -> Iterator[None]:
    """The heavy set is one, with few places: each test gives its place back."""
    yield
    for member in live.site.roster.everyone():
        for seat in live.site.queue.seats_of(member.id):
            if seat.state == "live":
                live.site.queue.decline(seat.id, "tested", now=live.site.clock())


def seat_of(live: Live) -> tuple[Visitor, str]:
    visitor = live.client(live.invite())
    seat = visitor.post("/sets/claim").headers["location"].split("/")[2]
    visitor.post(f"/sets/{seat}/brief")
    return visitor, f"/sets/{seat}"


def test_the_first_view_of_a_heavy_set_is_light_and_stays_so_while_scrolling(live: Live, tab: Page) -> None:
    faults: list[str] = []
    tab.on("console", lambda said: faults.append(said.text) if said.type in {"error", "warning"} else None)
    start_comparing(live, tab)
    tab.wait_for_load_state("networkidle")
    sizes: list[int] = []
    tab.on("response", lambda answer: sizes.append(len(answer.body())))
    tab.goto(tab.url, wait_until="networkidle")
    assert sum(sizes) < MOST_BYTES and tab.evaluate(NODES) < MOST_NODES
    assert axe.faults(tab) == []
    for place in ("A", "B"):
        pane = tab.locator(f"#pane-{place}")
        pane.get_by_role("button", name=f"{place}-2.xlsx").click()
        for part, row in ((0.3, 125), (0.6, 245), (1, 399)):
            pane.locator(".cells").evaluate(f"one => one.scrollTop = {part} * one.scrollHeight")
            expect(pane.locator("tbody th", has_text=re.compile(rf"^{row}$"))).to_be_attached()
    assert tab.evaluate(NODES) < MOST_NODES_SCROLLING
    expect(tab.locator("#pane-B tbody tr", has_text="A400").first).to_be_visible()
    assert faults == []


def test_words_come_with_the_page_one_is_at_and_go_when_it_is_far(live: Live, tab: Page) -> None:
    start_comparing(live, tab)
    pane = tab.locator("#pane-A")
    pane.get_by_label("Page of A-1.docx", exact=True).fill("20")
    pane.get_by_label("Page of A-1.docx", exact=True).press("Enter")
    expect(pane.locator("[data-page='20'] .page-words")).to_be_attached()
    expect(pane.locator("[data-page='1'] .page-words")).to_have_count(0)
    tab.locator("#sync").check()
    tab.locator("#shown-A").focus()
    for _ in range(3):
        tab.keyboard.press("j")
    expect(tab.get_by_label("Page of B-1.docx", exact=True)).to_have_value("23")


def test_files_are_paired_by_kind_and_what_a_side_lacks_is_a_hole(live: Live, tab: Page) -> None:
    start_comparing(live, tab)
    holes = tab.locator(".files .gone")
    expect(holes).to_have_count(1)
    expect(holes).to_have_text("no mp4")
    tabs = [tab.locator(f"#pane-{place} .files > *").all_text_contents() for place in "ABCD"]
    kinds = [[re.sub(r".*[ .]", "", kind.strip()) for kind in side] for side in tabs]
    assert sorted(kinds[0]) == sorted(KINDS) and kinds == kinds[:1] * 4, "in the same place on every side"


def test_notes_and_answers_outlive_the_file_they_were_written_at(live: Live, tab: Page) -> None:
    member = start_comparing(live, tab)
    tab.keyboard.press("2")
    tab.keyboard.press("n")
    tab.keyboard.type("a thought on page one")
    tab.get_by_role("button", name="B-5.pdf").click()
    expect(tab.locator("#pane-B .file")).to_have_attribute("data-what", "B.5")
    tab.get_by_label("Your reasons").fill("Written while another file is open.")
    saved(tab)
    [seat] = live.site.queue.seats_of(member.id)
    assert json.loads(seat.draft or "{}")["note-B.1.1"] == "a thought on page one"
    tab.reload()
    expect(tab.get_by_label("Note on B-1.docx, page 1", exact=True)).to_have_value("a thought on page one")


def test_a_search_lists_hits_of_all_sides_and_leads_to_them(live: Live, tab: Page) -> None:
    start_comparing(live, tab)
    tab.keyboard.press("/")
    tab.keyboard.type("C399")
    tab.keyboard.press("Enter")
    hits = tab.locator("#hits")
    expect(hits.get_by_role("button")).to_have_count(4)
    hits.get_by_role("button", name="Sheet 1, C399").nth(2).click()
    expect(tab.locator("#pane-C td.hit")).to_have_text("C399")
    assert tab.locator("#pane-C").is_visible(), "a side that was not shown is"
    assert axe.faults(tab) == []


def test_one_key_ranks_a_side_and_goes_on(live: Live, tab: Page) -> None:
    member = start_comparing(live, tab)
    tab.keyboard.press("v")
    for key in "2113":
        tab.keyboard.press(key)
    expect(tab.locator("#ranking")).to_have_text("B = C > A > D")
    tab.keyboard.type("B and C agree.")
    saved(tab)
    [seat] = live.site.queue.seats_of(member.id)
    draft = json.loads(seat.draft or "{}")
    assert [draft[f"rank-{place}"] for place in "ABCD"] == list("2113") and draft["reason"] == "B and C agree."


def test_without_scripts_every_file_sheet_and_window_is_reached_and_nothing_typed_is_lost(
    live: Live, chrome: Browser
) -> None:
    context = chrome.new_context(java_script_enabled=False)
    page = context.new_page()
    start_comparing(live, page)
    page.get_by_label("Your reasons").fill("typed before another file")
    page.get_by_role("button", name="B-3.xlsx").click()
    expect(page.get_by_label("Your reasons")).to_have_value("typed before another file")
    pane = page.locator("#pane-B")
    pane.get_by_role("button", name="Sheet 12 (hidden)").click()
    pane.get_by_role("button", name="Rows after these").click()
    pane.get_by_role("button", name="Columns after these").click()
    expect(pane.locator("tbody tr").first).to_contain_text("Q21")
    expect(page.locator("#pane-A .file")).to_have_attribute("data-what", "A.1")
    expect(page.get_by_label("Your reasons")).to_have_value("typed before another file")
    context.close()


def test_another_grader_and_a_set_not_begun_show_no_file(live: Live) -> None:
    visitor, home = seat_of(live)
    assert visitor.get(f"{home}/files/A.1").status_code == 200
    for address in ("A.0", "A.9", "E.1", "A.1.p1", "R.3", "A", "%00", "A.1%2f..", "A." + "9" * 300):
        assert visitor.get(f"{home}/files/{address}").status_code == 404, address
    for asked in ("words=31", "words=99999999999"):
        assert visitor.get(f"{home}/files/A.1?{asked}").status_code in {200, 404}
    for asked in ("sheet=99&top=999999&left=9999", "sheet=-1", "top=x"):
        assert visitor.get(f"{home}/files/A.2?{asked}").status_code == 200
    for rows in ("", "9-9-9-9", "1-1", "0-0-0-0", "1.1.1.1-2-3", "x" * 9000, "2.99.9999999.99999-1-1-1"):
        assert visitor.get(f"{home}", params={"rows": rows}).status_code == 200
    stranger = live.client(live.invite())
    for part in ("files/A.1", "search?q=levy"):
        assert stranger.get(f"{home}/{part}").status_code == 404
    early = live.client(live.invite())
    unread = early.post("/sets/claim").headers["location"].removesuffix("/brief")
    for part in ("files/A.1", "search?q=levy"):
        assert early.get(f"{unread}/{part}").status_code == 404


@pytest.mark.parametrize(("columns", "rows"), [(0, 0), (1, 3), (60, 400), (300, 5), (5, 20_000)])
def test_windows_hold_every_cell_once_and_few_at_a_time(columns: int, rows: int) -> None:
    names = tuple(f"c{number}" for number in range(columns))
    sheet = GridSheet(name="s", columns=names, rows=tuple((row, names) for row in range(rows)))
    seen = 0
    for left in range(0, max(1, columns), MOST_COLUMNS):
        top = 0
        while top < max(1, rows):
            window = window_of([sheet], 1, top, left)
            assert window is not None and (window.top, window.left) == (top, left)
            cells = sum(len(row) for _, row in window.rows)
            assert cells <= 640
            seen += cells
            top = max(window.end, top + 1)
    assert seen == columns * rows


def test_three_hundred_files_a_side_are_a_list_and_the_last_is_reached(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "workspace") as workspace:
        store, task = workspace.store, make_task(0, title="עברית " + "very-long-" * 25)
        store.add(task)
        store.add(Submission(task=task.id, author=ModelRun(name="model", model="scripted/none"), text=""))
        study = Study(id="many", title="Many", seed=1, tasks=(task.key,), design={"people": {"graders_per_set": 1}})
        store.add(study)
        kept, made = gather(workspace, study)
        prepare(workspace, kept[0].content_digest(), label="Ledger", text="")
        for submission in made:
            files = tuple(
                PreparedFile(
                    kind="csv", ending=".csv", text=workspace.blobs.put(f"row {number} \u202e<b>".encode() * 99)
                )
                for number in range(300)
            )
            store.add(Prepared(subject=submission.key, version=VERSION, files=files, text="שלום"))
        layout = layout_of(workspace, study)
        store.add_all(layout.comparisons)
        Queue(store).plan(layout.slots)
    live = Live(tmp_path / "workspace").start()
    try:
        visitor, home = seat_of(live)
        first = visitor.get(home).text
        assert len(re.findall(r"<[a-z]", first)) < MOST_NODES and len(first) < MOST_BYTES / 2
        chosen = {"next": "chosen:B:1-:", "row-B": "300", "draft_version": "0", "reason": "kept"}
        there = visitor.post(f"{home}/draft", chosen).headers["location"]
        assert there == f"{home}?rows=1-300"
        shown = visitor.get(there).text
        assert 'data-what="B.300"' in shown and 'data-what="A.1"' in shown and "row 299 \u202e&lt;b&gt;" in shown
        assert ">kept</textarea>" in shown
    finally:
        live.stop()
