"""The report in a real browser: it asks for nothing, axe finds nothing, and it fits a phone, a screen and paper."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from guildhall.reports.page import html_page
from tests.axe import faults
from tests.reports.made import REPORT

LOOKS = [("light", 1366), ("dark", 1366), ("light", 390), ("dark", 390)]


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(html_page(REPORT), encoding="utf-8")
    return path


def opened(chrome: Browser, page_file: Path, *, scheme: str = "light", width: int = 1366) -> tuple[Page, list[str]]:
    """The page with all its tables folded out, and every address it asked for."""
    tab = chrome.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme).new_page()  # type: ignore[arg-type]
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(page_file.as_uri())
    tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    return tab, asked


def test_the_page_asks_for_nothing_but_itself(chrome: Browser, page_file: Path) -> None:
    tab, asked = opened(chrome, page_file)
    assert asked == [page_file.as_uri()]
    tab.context.close()


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_axe_finds_nothing_and_nothing_sticks_out(chrome: Browser, page_file: Path, scheme: str, width: int) -> None:
    tab, _ = opened(chrome, page_file, scheme=scheme, width=width)
    assert not (found := faults(tab)), found
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.context.close()


def test_every_figure_is_drawn_and_has_its_numbers_in_a_table_after_it(chrome: Browser, page_file: Path) -> None:
    tab, _ = opened(chrome, page_file)
    untold = """() => [...document.querySelectorAll('figure')].filter(figure => {
        let next = figure.nextElementSibling;
        while (next && next.tagName === 'FIGURE') next = next.nextElementSibling;
        while (next && ['H3', 'P'].includes(next.tagName)) next = next.nextElementSibling;
        return !(next && (next.querySelector('table')));
    }).map(figure => figure.getAttribute('aria-label'))"""
    assert tab.evaluate(untold) == []
    sizes = tab.evaluate("[...document.querySelectorAll('figure svg')].map(one => one.getBoundingClientRect().height)")
    assert len(sizes) == 10 and min(sizes) > 60
    tab.context.close()


def test_letters_of_all_figures_have_one_size(chrome: Browser, page_file: Path) -> None:
    tab, _ = opened(chrome, page_file)
    scales = tab.evaluate(
        "[...document.querySelectorAll('figure svg')].map(one => one.getScreenCTM().a)"  # pixels a unit of the drawing
    )
    assert max(scales) / min(scales) < 1.05
    tab.context.close()


def test_on_paper_nothing_is_cut(chrome: Browser, page_file: Path) -> None:
    tab, _ = opened(chrome, page_file, scheme="dark", width=720)
    tab.emulate_media(media="print")
    wide = """() => [...document.querySelectorAll('figure, .scroll')]
        .filter(one => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== 'visible').length"""
    assert tab.evaluate(wide) == 0
    ground = tab.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert ground == "rgb(255, 255, 255)", "paper is white whatever the screen was"
    tab.context.close()
