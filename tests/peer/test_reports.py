"""Reports: what is shown, to which precision, and the workbook cell by cell."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from openpyxl import load_workbook

from guildhall.analysis.boswell.quotient import published_quotients
from guildhall.analysis.boswell.run_figures import run_figures
from guildhall.domain.estimates import Estimate
from guildhall.domain.grades import numeric
from guildhall.domain.report import RunReport
from guildhall.peer.folder import write_run
from guildhall.peer.loading import load_run
from guildhall.reports.boswell_files import cross_grading_workbook, write_run_report
from guildhall.reports.chapters.boswell_marks import short_names
from guildhall.reports.chapters.boswell_ranking import explanations
from guildhall.reports.number_format import shown
from guildhall.reports.page import run_page
from guildhall.reports.reporting import run_report_of
from guildhall.reports.text import as_json, run_markdown
from guildhall.reports.workbook import GRADE_COLOURS, grade_colour
from tests.peer.runs import SQUARE, made_run, markdown_of

NAMES = ("ada", "bob", "cyd", "dee")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = Path(tmp_path_factory.mktemp("run"))
    run = made_run(SQUARE)
    write_run(made, run)
    write_run_report(made, run_figures(run, draws=40))
    return made


def test_the_workbook_holds_every_mark_in_its_place_with_its_colour(folder):
    book = load_workbook(folder / "cross_grading_table.xlsx")
    assert book.sheetnames == ["Received", "Given", "Statistics"]
    for sheet, rows_are_authors in ((book["Received"], True), (book["Given"], False)):
        assert [sheet.cell(1, column).value for column in range(2, 6)] == list(NAMES)
        assert sheet.freeze_panes == "B2"
        for row, one in enumerate(NAMES, 2):
            assert sheet.cell(row, 1).value == one
            for column, other in enumerate(NAMES, 2):
                cell = sheet.cell(row, column)
                pair = (one, other) if rows_are_authors else (other, one)
                grade = SQUARE[pair] if len(SQUARE[pair]) < 6 else "N/A"
                shown = grade if grade == "N/A" else f"{grade} ({numeric(grade):.2f})"
                assert cell.value == shown, pair
                ground = (
                    cell.fill.bgColor if one == other else cell.fill.fgColor
                )  # own marks are dotted over their colour
                assert (cell.fill.patternType == "gray0625") is (one == other)
                assert cell.alignment.wrap_text
                assert ground.rgb == "FF" + grade_colour(grade).strip("#"), pair
                assert cell.font.italic is (one == other) is (cell.border.left.style == "medium")


def test_the_workbook_has_medians_averages_bias_counts_and_a_legend(folder):
    sheet = load_workbook(folder / "cross_grading_table.xlsx")["Received"]
    assert [sheet.cell(1, column).value for column in (6, 7, 8)] == ["Median Grade", "Raw Numeric Average", "Rank"]
    medians = ["A (4.00)", "B+ (3.25)", "C+ (2.25)", "D- (0.69)"]
    assert [sheet.cell(row, 6).value for row in range(2, 6)] == medians
    average = sheet.cell(4, 7)
    assert average.value == pytest.approx(7.0 / 3)
    assert (average.font.bold, average.fill.fgColor.rgb, average.number_format) == (True, "FFDDEBF7", "0.00")
    below = {sheet.cell(row, 1).value: row for row in range(6, 20) if sheet.cell(row, 1).value}
    assert sheet.cell(below["Column Medians (given)"], 2).value == "B- (2.62)"
    assert sheet.cell(below["Grading Bias"], 2).value == "Strict (-1 grade)"
    assert [sheet.cell(below["N/A count"], column).value for column in range(2, 6)] == [0, 1, 0, 0]
    assert [sheet.cell(below["Legend"], column).value for column in range(2, 16)] == list(GRADE_COLOURS)


def test_the_statistics_sheet_holds_numbers_as_numbers(folder):
    sheet = load_workbook(folder / "cross_grading_table.xlsx")["Statistics"]
    heads = {sheet.cell(row, 1).value: row for row in range(1, sheet.max_row + 1)}
    row = heads["Boswell Quotient"]
    while sheet.cell(row, 1).value != "model":
        row += 1
    best = run_figures(made_run(SQUARE), draws=40).quotients.scores[0]
    assert sheet.cell(row + 1, 1).value == best.model
    assert sheet.cell(row + 1, 3).value == pytest.approx(best.quotient)


def test_csv_has_four_decimals_and_leaves_what_is_missing_empty(folder):
    with (folder / "grades_received.csv").open() as lines:
        rows = {row["author"]: row for row in csv.DictReader(lines)}
    assert (rows["cyd"]["Raw Numeric Average"], rows["cyd"]["average_grade"]) == ("2.3333", "C+")
    assert (rows["bob"]["median_numeric"], rows["bob"]["percentage"]) == ("3.2500", "87.00")
    assert rows["cyd"]["bob"] == "N/A"
    assert rows["dee"]["cyd"] == "D-/F"
    with (folder / "marks.csv").open() as lines:
        refused = next(row for row in csv.DictReader(lines) if (row["author"], row["grader"]) == ("cyd", "bob"))
    assert (refused["numeric"], refused["reason"]) == ("", "refused")


def test_everything_can_be_rebuilt_from_the_single_files(folder, tmp_path):
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".md", ".csv", ".json")}
    for name in before:
        if name != "run.json":
            (folder / name).unlink()
    write_run_report(folder, run_figures(load_run(folder), draws=40))
    after = {name: (folder / name).read_bytes() for name in before}
    order = {name for name in before if name != "full_results.json"}
    assert {name for name in order if sorted(before[name].splitlines()) != sorted(after[name].splitlines())} == set()
    assert load_run(folder / "full_results.json") == load_run(folder)


def test_the_folder_is_laid_out_as_documented(folder):
    interaction = json.loads((folder / "grades" / "dee" / "cyd.json").read_text())
    assert interaction["author"] == "dee"
    assert interaction["grader"] == "cyd"
    assert (interaction["grade"], interaction["numeric_grade"]) == ("D-/F", 0.375)
    assert set(interaction["cost_info"]) == {
        "input_tokens", "output_tokens", "input_cost", "output_cost", "total_cost", "duration",
    }  # fmt: skip
    feedback = (folder / "essays" / "dee.md").read_text()
    assert "**Complete grading data:** `grades/dee/cyd.json`" in feedback
    assert "**Numeric Grade:** 0.38" in feedback
    [log] = (folder / "logs" / "grade_extraction").iterdir()
    assert re.fullmatch(r"\d{8}-\d{6}_bob_failed_extraction.txt", log.name)
    assert "I cannot assign a grade to this." in log.read_text()


def test_the_page_stands_alone_and_escapes_what_comes_from_outside():
    names = {(f"<b>{a}</b>", f"<b>{g}</b>"): grade for (a, g), grade in SQUARE.items()}
    report = run_report_of(run_figures(made_run(names), draws=20))
    shown = run_page(report)
    assert "<b>" not in shown
    assert "&lt;b&gt;ada" in shown
    assert shown.count("<svg") == sum(len(section.figures) for section in report.sections) == 6
    assert "<script" not in shown
    assert not re.search(r"(?:src|href)=.https?://", shown)


def test_as_published_shows_missing_grades_as_zero_and_says_so():
    run = made_run(SQUARE)
    assert "N/A (0.00)" in markdown_of(run_figures(run, as_published=True))
    corrected = markdown_of(run_figures(run, draws=20))
    assert "N/A (0.00)" not in corrected
    assert "| A+ (4.25) |" in corrected


def test_the_report_explains_why_the_slowest_model_no_longer_leads():
    grades = {(a, g): "A-" if a == "slow" else "B+" for a in ("slow", *"bcde") for g in ("slow", *"bcde")}
    run = made_run(grades, essay_s={"slow": 900.0}, mark_s={"slow": 300.0})
    assert published_quotients(run).scores[0].model == "slow"
    [words] = explanations(run_figures(run, draws=20))[:1]
    assert words.startswith("slow is ranked 1 as published")
    assert "treated as missing" in words


def test_short_names_are_never_shared():
    names = (
        "GPT-4o",
        "GPT-4o-mini",
        "GPT-4o-mini-high",
        "Perplexity: Llama 70B",
        "Perplexity: Llama 8B",
        "o1",
        "o1-mini",
    )
    short = short_names(names)
    assert len(set(short.values())) == len(names)


def test_the_page_tells_whether_the_order_hangs_on_the_distances_between_letters():
    told = markdown_of(run_figures(made_run(SQUARE), draws=5))
    assert "letters taken as an order only, without distances between them; models come in the same order" in told
    assert re.search(r"\| ada \| 1 \| 2 \| 5\.36 \| 4\.00 \(3\.54 to ", told)
    given = {"x": ("A", "A", "A"), "y": ("A", "B", "F"), "z": ("B", "B", "C")}
    far = {(author, grader): grade for author, row in given.items() for grader, grade in zip("abc", row, strict=True)}
    told = markdown_of(run_figures(made_run(far), draws=5))
    assert "; the order is x, y, z." in told
    corrected = told[told.index("| model | best |") :]
    assert corrected.index("| x | ") < corrected.index("| z | ") < corrected.index("| y | ")


def test_a_grader_asked_twice_is_shown_with_how_far_it_repeats_itself():
    run = made_run(SQUARE)
    other = {("dee", "ada"): "D", ("cyd", "ada"): "B", ("bob", "ada"): "B", ("ada", "ada"): "A+"}
    again = made_run(SQUARE | other).marks
    twice = run.but(marks=(*run.marks, *(mark.but(round=2) for mark in again if mark.grader.name == "ada")))
    told = markdown_of(run_figures(twice, draws=5))
    assert re.search(r"\| ada \| 4 \| 50\.0 % \| 0\.31 \(0\.00 to .*\) \|", told)
    assert "| bob | " not in told[told.index("Repeatability") : told.index("Marks without a grade")]


def test_every_format_of_a_run_tells_every_number():
    """Page, Markdown, JSON and workbook are folds over the same tables: none may drop or change a number."""
    found = run_figures(made_run(SQUARE), draws=20)
    report = run_report_of(found)
    page_text, text = run_page(report).replace("\u00a0", " "), run_markdown(report)
    assert RunReport.model_validate_json(as_json(report)) == report
    book = load_workbook(io.BytesIO(cross_grading_workbook(found, report.sections)))
    in_book = {
        round(cell.value, 9) for row in book["Statistics"] for cell in row if isinstance(cell.value, int | float)
    }
    seen = 0
    for section in report.sections:
        for table in section.tables:
            for row in table.rows:
                for cell, column in zip(row, table.columns, strict=True):
                    value = cell.value if isinstance(cell, Estimate) else cell
                    if isinstance(value, int | float):
                        words = shown(cell, column.form)
                        assert words.value in page_text and words.line in text
                        assert section.name.startswith("grades-") or round(value, 9) in in_book
                        seen += 1
    assert seen > 100


def test_a_grader_that_was_never_asked_is_not_one_that_stated_no_grade():
    asked = {pair: grade for pair, grade in SQUARE.items() if pair != ("dee", "ada")}
    received = next(
        s for s in run_report_of(run_figures(made_run(asked), draws=5)).sections if s.name == "grades-received"
    )
    rows = {row[0]: row[1:5] for row in received.tables[0].rows}
    assert rows["dee"][0] == "not asked"
    assert rows["cyd"][1] is None
