"""Reports: the same findings give the same bytes, nothing is fetched, and nothing absent is shown as sure."""

from __future__ import annotations

import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import openpyxl
import pytest

from guildhall.domain.findings import Findings
from guildhall.reports.chapters.calibration import calibration_csv
from guildhall.reports.chapters.savings import savings_csv
from guildhall.reports.figures import figures_of
from guildhall.reports.numbers import numbers_csv
from guildhall.reports.page import html_page
from guildhall.reports.plots.frame import to_png, to_svg
from guildhall.reports.tables import csv_text
from guildhall.reports.text import as_json, headline_csv, markdown
from guildhall.reports.workbook import workbook
from tests.reports.made import FINDINGS

GOLDEN = Path(__file__).parent / "golden"
VOID = {"meta", "br", "link", "img", "input", "hr", "path", "line", "rect"}


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("report.md", markdown),
        ("report.json", as_json),
        ("headline.csv", headline_csv),
        ("calibration.csv", lambda findings: calibration_csv(findings.calibrations)),
        ("numbers.csv", numbers_csv),
        ("savings.csv", lambda findings: savings_csv(findings.savings)),
        ("report.html", lambda findings: re.sub(r"<svg.*?</svg>", "<svg></svg>", html_page(findings), flags=re.DOTALL)),
    ],
)
def test_text_formats_are_golden(name: str, made: object, request: pytest.FixtureRequest) -> None:
    text = made(FINDINGS)  # type: ignore[operator]
    if request.config.getoption("--golden"):
        GOLDEN.mkdir(exist_ok=True)
        (GOLDEN / name).write_text(text)
    assert text == (GOLDEN / name).read_text()


def test_json_reads_back_as_the_same_findings() -> None:
    assert Findings.model_validate(json.loads(as_json(FINDINGS))) == FINDINGS


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
    text = html_page(FINDINGS)
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    assert len(tags.ids) == len(set(tags.ids))
    assert all(link.startswith("#") for link in tags.links)
    assert "A study &lt;of&gt; tests &amp; tables" in text and "<of>" not in text
    assert "<script" not in text and not re.search(r"url\((?!#)", text)


def test_simulated_graders_are_named_on_every_text_form() -> None:
    assert "simulated" in html_page(FINDINGS) and "simulated" in markdown(FINDINGS)


def test_an_absent_interval_is_printed_as_absent() -> None:
    assert "no interval: 2 task(s)" in html_page(FINDINGS)
    assert "no interval: 2 task(s)" in markdown(FINDINGS)


def test_the_same_findings_give_the_same_page() -> None:
    assert html_page(FINDINGS) == html_page(FINDINGS)


def test_figures_are_drawn_without_a_browser() -> None:
    figures = figures_of(FINDINGS)
    chapters = {"trend", "ablations", "calibration", "savings", "reasons", "blinding", "agreement"}
    assert set(figures) == {"outcomes", "win-or-tie", "by-sector", *chapters}
    for figure in figures.values():
        assert "<svg" in to_svg(figure)
    assert to_png(figures["outcomes"]).startswith(b"\x89PNG")


def test_a_figure_of_many_models_shows_the_best_and_says_so() -> None:
    record, group = FINDINGS.headline[0], FINDINGS.groups[0]
    many = FINDINGS.model_copy(
        update={
            "headline": tuple(record.model_copy(update={"model": f"m{number:03d}"}) for number in range(60)),
            "breakdowns": (),
            "groups": (group.model_copy(update={"figures": group.figures[:1] * 90}),),
        }
    )
    figures = figures_of(many)
    assert "the best 24 of 60 models" in to_svg(figures["win-or-tie"])
    shown = to_svg(figures[group.name])
    assert "the first 36 of 90 lines" in shown and "best" not in shown


def test_the_workbook_holds_the_numbers_and_no_formula() -> None:
    book = openpyxl.load_workbook(io.BytesIO(workbook(FINDINGS)))
    sheet = book["Headline"]
    assert [cell.value for cell in sheet[1]][:4] == ["model", "wins", "ties", "losses"]
    assert sheet["A2"].value == "=beta()" and sheet["A2"].data_type == "s", "the best first, and never a formula"
    assert sheet["H3"].value == pytest.approx(0.36) and sheet["H3"].number_format == "0.0%"
    assert book.sheetnames == ["Report", "Headline", "By sector", "Other figures", "Methods"]
    assert any("simulated" in str(row[0].value) for row in book["Report"].iter_rows())
    assert all(one.page_setup.orientation == "landscape" and one.page_setup.fitToHeight == 0 for one in book)


def test_csv_cells_cannot_become_formulas() -> None:
    assert csv_text(["a"], [["=HYPERLINK(1)"], ["-1+2"], [-1.5]]) == "a\n'=HYPERLINK(1)\n'-1+2\n-1.5\n"
