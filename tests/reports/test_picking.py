"""Picking on the page of a report: a reader's questions take a few clicks, and answers have the report's own digits."""

from __future__ import annotations

import random
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from guildhall.domain.estimates import Estimate
from guildhall.domain.report import ReportTable, Section
from guildhall.reports.number_format import shown
from guildhall.reports.page import html_page, standings, unbroken
from guildhall.reports.reporting import _says_nothing
from guildhall.reports.text import markdown, readable
from tests.axe import faults
from tests.reports.made import CELLS, EXPLORED, RATES, REPORT, headline_of, rate

HOSTILE = '</script><b onclick="x">\u2028'


@pytest.fixture(scope="module")
def page(chrome: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    path = tmp_path_factory.mktemp("picking") / "report.html"
    path.write_text(html_page(REPORT), encoding="utf-8")
    tab = chrome.new_context(viewport={"width": 1280, "height": 900}).new_page()
    wrong: list[str] = []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.goto(path.as_uri())
    yield tab
    assert not wrong
    tab.context.close()


def line(page: Page, model: str) -> str:
    return page.locator("#standing tbody tr", has_text=model).inner_text().replace("\u00a0", " ")


def test_a_reader_learns_what_one_sector_says_in_one_choice_and_how_two_models_compare_there(page: Page) -> None:
    page.get_by_label("Show").select_option("sector=Information")
    assert "60.0 %" in line(page, "=beta()") and "few" not in line(page, "=beta()")
    page.get_by_label("Compare").select_option("alpha")
    page.get_by_label("with", exact=True).select_option("=beta()")
    told = page.get_by_role("status").inner_text()
    assert told.startswith(
        "=beta() less alpha, sector: Information: +30.0 points (-10.0 to +70.0); the two are not told"
    )
    assert "Exploratory" in told
    page.get_by_label("Show").select_option("")
    assert "=beta() is better" in page.get_by_role("status").inner_text()
    assert "Exploratory" not in page.get_by_role("status").inner_text()


def test_a_number_opens_its_record_on_each_task_and_the_command_that_gives_its_judgments(page: Page) -> None:
    page.get_by_label("Show").select_option("sector=Information")
    number = page.locator("#standing tbody tr", has_text="=beta()").get_by_role("button")
    number.focus()
    page.keyboard.press("Enter")
    drawer = page.locator("#standing .drawer")
    assert "t-1: 2 · 0 · 1" in drawer.inner_text() and "no agreement to be quoted" in drawer.inner_text()
    words = shlex.split(drawer.locator("code").inner_text())
    assert words[:4] == ["guildhall", "study", "rows", "s"]
    assert words[4:8] == ["--where", "model==beta()", "--where", "sector=Information"]
    page.keyboard.press("Enter")
    assert drawer.is_hidden()
    page.get_by_label("Show").select_option("")


def test_picked_cells_show_exactly_the_digits_of_the_report(page: Page) -> None:
    chosen = random.Random(7)
    cells = [(f"sector={one.levels['sector']}", one.model, one.rate) for one in CELLS]
    cells += [("", one.model, one.half_tie) for one in RATES]
    for level, model, estimate in chosen.choices(cells, k=30):
        page.get_by_label("Show").select_option(level)
        words = shown(estimate, "percent")
        row = line(page, model)
        assert words.value in row and (words.interval in row if estimate.interval else "to" not in row)
    page.get_by_label("Show").select_option("")


def test_tables_sort_by_number_and_back_and_a_row_opens_its_command(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    table = page.locator("table.traced").first
    wins = table.get_by_role("button", name="Wins")
    orders = []
    for _ in range(2):
        wins.click()
        orders.append(table.locator("tbody tr").evaluate_all("rows => rows.map(row => +row.cells[1].innerText)"))
    assert orders[0] == sorted(orders[0]) and orders[1] == orders[0][::-1]
    table.locator("tbody td.e").first.click()
    assert "model==beta()" in shlex.split(table.locator("tr.drawer code").inner_text())
    assert not (found := faults(page)), found


def test_without_scripts_nothing_of_the_report_is_missing(chrome: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(html_page(REPORT), encoding="utf-8")
    tab = chrome.new_context(java_script_enabled=False).new_page()
    tab.goto(path.as_uri())
    assert tab.locator("#standing tbody tr").count() == 2 and tab.locator(".asks").is_hidden()
    assert tab.locator("figure:visible").count() == tab.locator("figure").count() > 5
    tab.emulate_media(media="print")
    assert tab.locator("details table").first.is_visible(), "paper shows what is folded"
    tab.context.close()


def test_a_hostile_name_stays_a_name(chrome: Browser, tmp_path: Path) -> None:
    rates = [RATES[0]._replace(model=HOSTILE), RATES[1]]
    hostile = REPORT.but(sections=(headline_of(rates),))
    path = tmp_path / "report.html"
    path.write_text(html_page(hostile), encoding="utf-8")
    tab = chrome.new_context().new_page()
    tab.goto(path.as_uri())
    assert HOSTILE.strip("\u2028") in line(tab, "onclick") and tab.locator("#standing b[onclick]").count() == 0
    tab.locator("#standing tbody tr", has_text="onclick").get_by_role("button").click()
    assert tab.locator("b[onclick]").count() == 0
    tab.context.close()


def test_the_first_screen_shows_as_many_models_as_one_reads_and_says_how_many_there_are() -> None:
    many = REPORT.but(
        sections=(headline_of([RATES[0]._replace(model=f"m{at:03d}") for at in range(300)]),), explored=()
    )
    assert len(list(standings(many))) == 24
    assert "The best 24 of 300 models" in html_page(many)


def test_what_is_added_for_picking_is_bounded_by_cells() -> None:
    again = REPORT.but(counts={**REPORT.counts, "judgments": 10**9}, explored=EXPLORED)
    assert len(html_page(again)) - len(html_page(REPORT)) < 100


def test_a_column_of_unknowns_is_a_sentence_and_a_chapter_of_unknowns_a_line() -> None:
    nothing = Estimate(value=None, estimand="e", method="none", why_no_interval="nobody was asked")
    columns = (EXPLORED[0].columns[1], EXPLORED[0].columns[-1])
    blank = ReportTable(name="t", columns=columns, rows=(("a", nothing), ("b", None)))
    assert [column.name for column in readable(blank).columns] == ["model"]
    assert readable(blank).words == ("Not known in any row: half tie (nobody was asked).",)
    known = blank.but(rows=(("a", nothing), ("b", rate(0.5, 0.4, 0.6))))
    assert readable(known) is known
    silent = Section(name="x", title="X", tables=(blank,))
    assert _says_nothing(silent) == "nobody was asked"
    assert _says_nothing(silent.but(tables=(known,))) is None
    assert "nobody was asked" in markdown(REPORT.but(sections=(silent,)))


@pytest.mark.parametrize(
    ("value", "words"),
    [(56288.66, "about 56,000 ×"), (0.987, "0.99 ×"), (12.34, "12.3 ×"), (321.9, "322 ×"), (6.3e22, "about 6e+22 ×")],
)
def test_a_ratio_is_told_in_digits_that_say_something(value: float, words: str) -> None:
    found = shown(rate(value, 0.5 * value, 2 * value), "times")
    assert found.value == words and "about" not in found.interval
    assert shown(-0.0004, "percent").value == "0.0 %"
    assert unbroken("1.0 to -2.0 %") == "1.0\u00a0to\u00a0-2.0\u00a0%"
