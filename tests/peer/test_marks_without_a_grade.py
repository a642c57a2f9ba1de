"""What the documents say of marks without a grade, sentence by sentence, on a run with 13 such marks of 49."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from openpyxl import load_workbook

from guildhall.analysis.boswell.quotient import aggregate, effects_of_missing_grades, published_quotients
from guildhall.analysis.boswell.run_figures import RunFigures, run_figures
from guildhall.peer.domains import shipped_domains
from guildhall.peer.folder import write_run
from guildhall.peer.loading import read_public_run, with_suggestions
from guildhall.peer.na_report import na_report
from guildhall.peer.prompts import marking_prompt
from guildhall.peer.reader import Descriptors, suggested_grade
from guildhall.reports.boswell_files import write_run_report
from guildhall.reports.reporting import run_report_of
from tests.peer.runs import made_run, markdown_of

NAMES = ("ada", "bob", "cyd", "dee", "eve", "mute", "odd")
PRAISE = "An excellent, truly excellent essay. My verdict stands at B+ for now, all told."
SILENT = "Words about the essay, and no letter anywhere, excellent as it is."
GRADES = dict(zip(NAMES, ("A", "A-", "B+", "B", "B-", "C+", "C"), strict=True))
RUN = made_run(
    {
        (author, grader): SILENT if grader == "mute" else PRAISE if author == "odd" else GRADES[author]
        for author in NAMES
        for grader in NAMES
    }
)
"""The grader `mute` never states a grade, and nobody states one for the author `odd`."""


@pytest.fixture(scope="module", params=["corrected", "as published"])
def found(request: pytest.FixtureRequest) -> RunFigures:
    return run_figures(RUN, as_published=request.param == "as published", draws=10)


@pytest.fixture(scope="module")
def written(found: RunFigures, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(tmp_path_factory.mktemp("run"))
    write_run(folder, RUN)
    write_run_report(folder, found)
    return folder


def rows(path: Path, by: str) -> dict[str, dict[str, str]]:
    with path.open() as lines:
        return {row[by]: row for row in csv.DictReader(lines)}


def test_the_report_counts_thirteen_of_forty_nine_in_both_modes(found: RunFigures) -> None:
    assert found.tables.unread == 13
    assert "49 marks, 36 of them with a readable grade" in run_report_of(found).words[1]


def test_tables_show_a_missing_grade_alike_in_every_format(found: RunFigures, written: Path) -> None:
    words = "N/A (0.00)" if found.published_mode else "N/A"
    received = rows(written / "grades_received.csv", "author")
    assert {received["odd"][name] for name in ("ada", "mute", "median")} == {words}
    assert received["odd"]["percentage"] == ("0.00" if found.published_mode else "")
    sheet = load_workbook(written / "cross_grading_table.xlsx")["Received"]
    odd = next(row for row in sheet.iter_rows(values_only=True) if row[0] == "odd")
    assert set(odd[1:9]) == {words} and odd[9] == "N/A"
    assert f"| odd | {words} | {words} |" in markdown_of(found)


def test_a_median_of_nothing_is_never_an_f(found: RunFigures, written: Path) -> None:
    assert "F (0.00)" not in markdown_of(found)
    assert rows(written / "boswell_quotient.csv", "model")["odd"]["performance"] == ""


def test_a_row_counts_the_missing_grades_of_each_column(written: Path) -> None:
    sheet = load_workbook(written / "cross_grading_table.xlsx")["Received"]
    counts = next(row for row in sheet.iter_rows(values_only=True) if row[0] == "N/A count")
    assert counts[1:8] == (1, 1, 1, 1, 1, 7, 1)
    assert rows(written / "grades_received.csv", "author")["odd"]["n_a"] == "7"
    assert rows(written / "grades_given.csv", "grader")["mute"]["n_a"] == "7"


def test_a_run_in_which_every_grade_is_read_has_no_such_row(tmp_path: Path) -> None:
    write_run_report(tmp_path, run_figures(made_run({(a, g): "B" for a in "ab" for g in "ab"}), as_published=True))
    column = [row[0] for row in load_workbook(tmp_path / "cross_grading_table.xlsx")["Received"].values]
    assert "Grading Bias" in column and "N/A count" not in column


def test_missing_grades_are_out_of_bias_and_a_grader_of_none_breaks_nothing(found: RunFigures) -> None:
    bias = found.tables.bias.graders
    assert (bias["mute"].label, bias["mute"].count, bias["mute"].median_bias) == ("N/A", 0, None)
    assert {bias[name].label for name in NAMES if name != "mute"} == {"Neutral"}


def test_a_model_with_no_grade_has_fewer_components_and_says_how_many(found: RunFigures) -> None:
    odd, mute = found.quotients.of("odd"), found.quotients.of("mute")
    assert odd.performance is None and mute.evaluation is None
    assert re.fullmatch(r"[A-F][+-]? \([12]/3\)", odd.grade) and mute.components != "3/3"
    weighted = [0.333 * odd.evaluation] if odd.evaluation is not None else []
    weighted += [0.334 * odd.efficiency] if odd.efficiency is not None else []
    weights = 0.333 * (odd.evaluation is not None) + 0.334 * (odd.efficiency is not None)
    assert odd.quotient == pytest.approx(sum(weighted) / weights, abs=0.005)
    shown = "N/A (0.00)" if found.published_mode else "–"
    assert re.search(rf"\| odd \|[^\n]*\([12]/3\) \| {re.escape(shown)} \|", markdown_of(found))


def test_a_raw_average_as_published_takes_a_missing_grade_for_nought_and_corrected_leaves_it_out() -> None:
    published, corrected = run_figures(RUN, as_published=True).tables, run_figures(RUN, draws=5).tables
    assert published.average_received("ada") == pytest.approx(4.0 * 6 / 7)
    assert corrected.average_received("ada") == pytest.approx(4.0)
    assert published.average_received("odd") is None and corrected.average_received("odd") is None


def test_as_published_says_where_the_public_code_does_otherwise_than_its_documents() -> None:
    told = markdown_of(run_figures(RUN, as_published=True))
    assert "The public system does otherwise than it says" in told
    code, documents = published_quotients(RUN, na=0.0), published_quotients(RUN)
    assert code.of("mute").evaluation == 0.0 and documents.of("mute").evaluation is None
    everything = made_run({(a, g): "B" for a in "abc" for g in "abc"})
    assert "does otherwise" not in markdown_of(run_figures(everything, as_published=True))


@pytest.mark.parametrize("folder", ["20250306-173332-pol_sci_1", "20250306-214359-pol_sci_2"])
def test_documents_and_code_agree_on_a_public_run(realdata: Path, folder: str) -> None:
    run = read_public_run(realdata / "boswell" / folder / "full_results.json")
    documents, code = published_quotients(run), published_quotients(run, na=0.0)
    assert [(one.model, one.exact) for one in documents.scores] == [(one.model, one.exact) for one in code.scores]


def test_the_tool_compares_quotients_with_and_without_missing_grades_and_names_patterns() -> None:
    found = na_report([RUN])
    moved = {one.model for one in effects_of_missing_grades(RUN)}
    assert moved == {one.model for one in published_quotients(RUN).scores}
    assert any('"my verdict stands at <grade>" would meet 6 replies' in words for words in found.advice)


def test_words_of_praise_suggest_by_either_list_and_enter_no_figure() -> None:
    assert suggested_grade("Strong and solid.", words=Descriptors.PUBLISHED) == "A-"
    assert suggested_grade("excellent", words=Descriptors.PUBLISHED) == "A+", "of a draw the first"
    assert suggested_grade("Strong.") is None and suggested_grade("not excellent") is None
    assert suggested_grade("Nothing to say", words=Descriptors.PUBLISHED) is None
    plain, suggested = run_figures(RUN, draws=5), run_figures(with_suggestions(RUN, Descriptors.PUBLISHED), draws=5)
    assert suggested.tables.unread == 13 and suggested.quotients == plain.quotients
    assert "its words suggest A+; not counted | 13" in markdown_of(suggested)


def test_failed_extractions_have_the_published_names_and_none_is_lost(written: Path) -> None:
    logs = sorted(path.name for path in (written / "logs" / "grade_extraction").iterdir())
    assert len(logs) == 13
    assert [name for name in logs if "_mute_" in name][:2] == [
        "20260306-142820_mute_failed_extraction-2.txt",
        "20260306-142820_mute_failed_extraction-3.txt",
    ]
    assert "20260306-142820_mute_failed_extraction.txt" in logs


def test_domains_are_joined_with_a_composite_letter() -> None:
    other = made_run({(a, g): "A-" if a == "ada" else "B" for a in NAMES for g in NAMES}, domain="pol_sci_2")
    joined = {one.model: one for one in aggregate([RUN, other], published_quotients)}
    assert joined["ada"].grade == "A/A-"
    assert joined["ada"].mean_mark == pytest.approx(3.875)
    assert joined["odd"].grade == "B"


def test_graders_are_told_why_a_composite_is_wanted() -> None:
    prompt, _ = marking_prompt(next(iter(shipped_domains().values())), "An essay.", composites=True)
    assert "**Important**" in prompt and "says more exactly" in prompt and "truly torn" in prompt
