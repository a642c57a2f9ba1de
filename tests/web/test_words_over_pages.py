"""The words over a page's picture in a real browser: where they are seen, at every zoom, to select and to find."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from guildhall.domain.judgments import ShownPage
from guildhall.domain.prepared import PLACES, PlacedText
from guildhall.web.showing import line_over
from tests.web.live import Live
from tests.web.test_path import start_comparing

PLACE = """() => {
    const words = document.querySelector(".pane .page-words text");
    const picture = words.closest(".picture").querySelector("img");
    const [box, page] = [words.getBoundingClientRect(), picture.getBoundingClientRect()];
    return [(box.left - page.left) / page.width, (box.top - page.top) / page.height, box.width / page.width];
}"""


def test_words_stand_over_the_picture_at_every_zoom(live: Live, tab: Page) -> None:
    start_comparing(live, tab)
    for _ in range(3):
        left, top, width = tab.evaluate(PLACE)
        assert left == pytest.approx(0.0968, abs=0.01) and width == pytest.approx(0.12, abs=0.01)
        assert top == pytest.approx(0.075, abs=0.015)
        tab.locator("#larger").click()


def test_words_are_selected_with_the_mouse_and_found_by_the_browser(live: Live, tab: Page) -> None:
    faults: list[str] = []
    tab.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    start_comparing(live, tab)
    words = tab.locator(".pane .page-words text").first
    shown = words.text_content()
    assert shown is not None and shown.startswith("Memo") and shown.endswith("<b>&"), "escaped, and as it was written"
    words.scroll_into_view_if_needed()
    words.click(click_count=3)
    assert shown in tab.evaluate("getSelection().toString()")
    tab.evaluate("getSelection().removeAllRanges()")
    assert tab.evaluate(f"find({shown[:6]!r})")
    assert faults == []


def test_words_are_unseen_and_heard(live: Live, tab: Page) -> None:
    start_comparing(live, tab)
    words = tab.locator(".pane .page-words text").first
    assert words.evaluate("one => getComputedStyle(one).fill") == "rgba(0, 0, 0, 0)"
    assert (words.text_content() or "nothing") in tab.locator(".pane").first.aria_snapshot()


@pytest.mark.parametrize(
    ("width", "height", "upwards"), [(2000, 100, False), (50, 2000, True)], ids=["along", "upwards"]
)
def test_a_line_runs_the_way_its_box_does(width: int, height: int, upwards: bool) -> None:
    page = ShownPage(image="0" * 64, width=PLACES, height=PLACES)
    line = line_over(PlacedText(text="a scale", left=100, top=100, width=width, height=height), page)
    assert line.upwards is upwards
    assert (line.length, line.size) == (max(width, height), min(width, height))
    assert (line.x, line.y) == ((140, 2100) if upwards else (100, 180))
