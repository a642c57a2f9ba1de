"""Reports: the same report gives the same bytes, nothing is fetched, and nothing absent is shown as sure."""

from __future__ import annotations

import hashlib
import io
import json
import re
from base64 import b64encode
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import openpyxl
import pytest

from guildhall.domain.estimates import Estimate
from guildhall.domain.report import Report
from guildhall.reports.chapters.figures import figure_section
from guildhall.reports.drawing import plots_of
from guildhall.reports.number_format import shown
from guildhall.reports.old_reports import read_report
from guildhall.reports.page import explorer, html_page
from guildhall.reports.plots import svg_of
from guildhall.reports.svg import svg_to_png
from guildhall.reports.text import as_json, bibtex, csv_text, headline_latex, markdown, numbers_csv, table_csv
from guildhall.reports.workbook import workbook
from tests.reports.made import RATES, REPORT, headline_of, rate

GOLDEN = Path(__file__).parent / "golden"
VOID = {"meta", "br", "link", "img", "input", "hr", "path", "line", "rect"}


def table_named(report: Report, name: str) -> str:
    return next(table_csv(table) for section in report.sections for table in section.tables if table.name == name)


def words_of(page: str) -> str:
    """The page without what it looks like: figures have golden pictures of their own."""
    page = re.sub(r"sha256-[^']+", "sha256-", page)
    return re.sub(r"<(svg|style|script)\b.*?</\1>", r"<\1></\1>", page, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("report.md", markdown),
        ("report.json", as_json),
        ("headline.csv", lambda report: table_named(report, "headline")),
        ("calibration.csv", lambda report: table_named(report, "calibration")),
        ("numbers.csv", numbers_csv),
        ("savings.csv", lambda report: table_named(report, "savings")),
        ("report.html", lambda report: words_of(html_page(report))),
    ],
)
def test_text_formats_are_golden(name: str, made: object, request: pytest.FixtureRequest) -> None:
    text = made(REPORT)  # type: ignore[operator]
    if request.config.getoption("--golden"):
        GOLDEN.mkdir(exist_ok=True)
        (GOLDEN / name).write_text(text)
    assert text == (GOLDEN / name).read_text()


def test_json_reads_back_as_the_same_report() -> None:
    assert Report.model_validate(json.loads(as_json(REPORT))) == REPORT
    assert read_report(json.loads(as_json(REPORT))) == REPORT


def estimates(found: Any) -> list[tuple[float, float | None]]:
    """Every estimate in a JSON document, as its value and the low end of its interval."""
    if isinstance(found, dict) and "estimand" in found:
        ends = found["interval"]
        return [(round(found["value"], 12), None if ends is None else round(ends[0], 12))]
    inner = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    return [one for part in inner for one in estimates(part)]


def test_every_number_of_a_report_of_the_first_format_is_in_the_same_report_today() -> None:
    old = json.loads((GOLDEN / "report-format-1.json").read_text())
    assert set(estimates(old)) <= set(estimates(json.loads(as_json(REPORT))))
    assert len(set(estimates(old))) > 50


def test_a_report_of_the_first_format_is_still_read_and_shown() -> None:
    old = read_report(json.loads((GOLDEN / "report-format-1.json").read_text()))
    assert old.rates == REPORT.rates
    assert list(old.rates) == ["=beta()", "alpha"]
    assert old.policy == REPORT.policy
    page = html_page(old)
    assert "earlier version" in page and "56.0" in page
    with pytest.raises(ValueError, match="not a report"):
        read_report({"study": "s"})


def test_every_format_tells_every_estimate() -> None:
    """Page, Markdown, JSON, workbook and CSV are folds over the same tables: none may drop or change a number."""
    page, text, lines = html_page(REPORT).replace("\u00a0", " "), markdown(REPORT), numbers_csv(REPORT)
    book = openpyxl.load_workbook(io.BytesIO(workbook(REPORT)))
    cells = (cell.value for sheet in book for row in sheet.iter_rows() for cell in row)
    in_book = {round(value, 9) for value in cells if isinstance(value, int | float)}
    seen = 0
    for section in REPORT.sections:
        for table in section.tables:
            for row in table.rows:
                for cell, column in zip(row, table.columns, strict=True):
                    if isinstance(cell, Estimate) and cell.value is not None:
                        words = shown(cell, column.form)
                        assert words.value in page and words.line in text
                        assert words.interval in page
                        assert f",{cell.value!r}," in lines
                        assert round(cell.value, 9) in in_book
                        seen += 1
    assert seen > 100


class Tags(HTMLParser):
    """Every tag opened is closed, in order, and ids are used once."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        self.links += [str(value) for name, value in attrs if name in {"src", "href", "xlink:href"} and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def test_the_page_is_well_formed_self_contained_and_escaped() -> None:
    text = html_page(REPORT)
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    assert len(tags.ids) == len(set(tags.ids))
    assert all(link.startswith("#") for link in tags.links)
    assert "A study &lt;of&gt; tests &amp; tables" in text and "<of>" not in text
    assert not re.search(r"url\((?!#)", text)
    [script] = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text, "the page runs its own script and none else"
    [picks] = re.findall(r'<script type="application/json" id="picks">(.*?)</script>', text, flags=re.DOTALL)
    assert not set("<>&") & set(picks) and json.loads(picks) == json.loads(json.dumps(explorer(REPORT)))


def test_simulated_graders_are_named_on_every_text_form() -> None:
    assert "simulated" in html_page(REPORT) and "simulated" in markdown(REPORT)


def test_an_absent_interval_is_printed_as_absent() -> None:
    assert "no interval: 2 task(s)" in html_page(REPORT)
    assert "no interval: 2 task(s)" in markdown(REPORT)


def test_the_same_report_gives_the_same_page() -> None:
    assert html_page(REPORT) == html_page(REPORT)


def test_figures_are_drawn_without_a_browser() -> None:
    plots = plots_of(REPORT)
    chapters = {"trend", "ablations", "calibration", "savings", "reasons", "blinding", "agreement"}
    assert set(plots) == {"outcomes", "win-or-tie", "by-sector", *chapters}
    for plot in plots.values():
        assert ET.fromstring(svg_of(plot)).tag.endswith("svg")
    assert svg_to_png(svg_of(plots["outcomes"])).startswith(b"\x89PNG")


def test_a_figure_of_many_models_shows_the_best_and_says_so() -> None:
    many = headline_of([RATES[0]._replace(model=f"m{number:03d}") for number in range(60)])
    drawn = {figure.name: svg_of(figure.plot) for figure in many.figures}
    assert "the best 24 of 60 models" in drawn["win-or-tie"]
    assert len(many.table("headline").rows) == 60
    long = figure_section("long", "Long", "many lines", [(f"line {n}", rate(0.5, 0.4, 0.6)) for n in range(90)])
    assert long is not None
    [figure] = long.figures
    shown_words = svg_of(figure.plot)
    assert "the first 36 of 90 lines" in shown_words and "best" not in shown_words


def test_the_workbook_holds_the_numbers_and_no_formula() -> None:
    book = openpyxl.load_workbook(io.BytesIO(workbook(REPORT)))
    sheet = book["Headline"]
    assert [cell.value for cell in sheet[1]][:4] == ["model", "wins", "ties", "losses"]
    assert sheet["A2"].value == "=beta()" and sheet["A2"].data_type == "s", "the best first, and never a formula"
    assert sheet["H3"].value == pytest.approx(0.36) and sheet["H3"].number_format == "0.0%"
    assert book.sheetnames[:3] == ["Report", "Headline", "By sector"] and book.sheetnames[-1] == "Methods"
    assert any("simulated" in str(row[0].value) for row in book["Report"].iter_rows())
    assert all(one.page_setup.orientation == "landscape" and one.page_setup.fitToHeight == 0 for one in book)


def test_the_table_for_a_paper_has_every_model_and_no_name_can_break_it() -> None:
    hostile = "a_b&c%d$e#f{g}h~i^j\\k"
    rates = (RATES[0]._replace(model=hostile), RATES[1])
    report = REPORT.but(title=hostile, sections=(headline_of(rates),))
    for text in (headline_latex(report), bibtex(report)):
        told = re.sub(r"\\[$&#_%]", "", text)
        assert told.count("{") == told.count("}") and not re.search(r"[%$#]|(?<!\\)_", told)
        assert "simulated" in text
    lines = [line for line in headline_latex(report).splitlines() if line.endswith(r"\\")]
    assert len(lines) == 3 and {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {7}
    assert "25.0 to 40.0" in lines[2] and "44.0 to 62.0" in lines[1], "the best first, with its interval"
    assert "year = {2026}" in bibtex(report) and bibtex(report).startswith("@misc{s,")


def test_csv_cells_cannot_become_formulas() -> None:
    assert csv_text(["a"], [["=HYPERLINK(1)"], ["-1+2"], [-1.5]]) == "a\n'=HYPERLINK(1)\n'-1+2\n-1.5\n"
