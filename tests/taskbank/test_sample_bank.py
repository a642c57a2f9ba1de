"""The sample bank stands on its own: every file opens, every total follows from the reference data."""

from __future__ import annotations

import csv
import re
import wave
import zipfile
from collections import Counter
from datetime import date
from math import ceil
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import guildhall.taskbank
from guildhall.domain.tasks import Task
from guildhall.taskbank.folder import read_folder, task_folders

BANK = Path(guildhall.taskbank.__file__).parent / "sample"
FOLDERS = task_folders(BANK)
FILES = sorted(path for folder in FOLDERS for kind in ("reference", "expert") for path in (folder / kind).iterdir())
SECTORS = {
    "Finance and Insurance",
    "Government",
    "Health Care and Social Assistance",
    "Information",
    "Manufacturing",
    "Professional, Scientific, and Technical Services",
    "Real Estate and Rental and Leasing",
    "Retail Trade",
    "Wholesale Trade",
}


def by_suffix(*suffixes: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "path", [path for path in FILES if path.suffix in suffixes], ids=lambda path: path.name
    )


def _task(folder: Path) -> Task:
    task = read_folder(folder).task
    assert task is not None
    return task


def rows_of(name: str) -> list[dict[str, str]]:
    with next(BANK.rglob(name)).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def sheet_of(name: str, title: str) -> Any:
    return openpyxl.load_workbook(next(BANK.rglob(name)), data_only=True)[title]


def value_beside(page: Any, label: str, column: str) -> Any:
    """The cached value in `column` of the first row whose cell in some column reads `label`."""
    row = next(cells[0].row for cells in page.iter_rows() if any(cell.value == label for cell in cells))
    return page[f"{column}{row}"].value


def test_every_sector_has_a_task() -> None:
    tasks = [_task(folder) for folder in FOLDERS]
    assert {task.sector for task in tasks} == SECTORS
    assert 9 <= len(tasks) <= 11
    assert len({task.occupation for task in tasks}) == len(tasks)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_task_says_all_that_statistics_need(folder: Path) -> None:
    task = _task(folder)
    assert task.id == folder.name
    assert 150 <= len(task.brief.split()) <= 500
    assert task.expert_files and task.reference_files
    assert task.rubric is not None and task.provenance is not None
    assert 8 <= len(task.rubric.items) <= 15 and task.rubric.negative_items >= 1
    assert task.value_usd and task.ratings.quality and task.ratings.difficulty and task.ratings.representativeness
    assert task.ratings.specification and task.onet.tasks and task.onet.skills and task.onet.work_activities
    assert task.provenance.source == "guildhall sample bank" and task.provenance.licence == "Apache-2.0"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_brief_names_every_file_given_and_asked_for(folder: Path) -> None:
    task = _task(folder)
    for file in (*task.reference_files, *task.expert_files):
        assert f"`{file.name}`" in task.brief


def test_the_bank_is_labelled_as_sample_data_and_small() -> None:
    assert "sample data" in (BANK / "README.md").read_text()
    assert sum(path.stat().st_size for path in BANK.rglob("*") if path.is_file()) < 5_000_000
    kinds = Counter(path.suffix for path in FILES)
    assert all(kinds[suffix] for suffix in (".docx", ".xlsx", ".pptx", ".pdf", ".png", ".csv", ".flac"))
    made = Counter(path.suffix for path in FILES if path.parent.name == "expert")
    assert all(made[suffix] for suffix in (".docx", ".xlsx", ".pptx", ".pdf"))


@by_suffix(".xlsx")
def test_a_workbook_opens_with_every_formula_calculated_and_none_in_error(path: Path) -> None:
    formulas, values = openpyxl.load_workbook(path), openpyxl.load_workbook(path, data_only=True)
    for page in formulas.worksheets:
        for cell in (cell for row in page.iter_rows() for cell in row if cell.data_type == "f"):
            cached = values[page.title][cell.coordinate].value
            assert cached is not None, f"{page.title}!{cell.coordinate}"
            assert not str(cached).startswith(("#", "Err:")), f"{page.title}!{cell.coordinate} is {cached}"
    if path.parent.name == "expert":
        assert any(cell.data_type == "f" for page in formulas.worksheets for row in page.iter_rows() for cell in row)


@by_suffix(".docx")
def test_a_document_opens_and_holds_a_table(path: Path) -> None:
    import docx

    document = docx.Document(str(path))
    assert document.tables and any(one.text for one in document.paragraphs)


@by_suffix(".pptx")
def test_a_deck_opens_with_titles_and_a_native_chart(path: Path) -> None:
    import pptx

    deck = pptx.Presentation(str(path))
    assert all(slide.shapes.title.text for slide in deck.slides)
    assert any(shape.has_chart for slide in deck.slides for shape in slide.shapes)
    for shape in (shape for slide in deck.slides for shape in slide.shapes):
        assert shape.left >= 0 and shape.left + shape.width <= deck.slide_width
        assert shape.top >= 0 and shape.top + shape.height <= deck.slide_height


@by_suffix(".pdf")
def test_a_pdf_opens(path: Path) -> None:
    import pikepdf

    with pikepdf.open(path) as pdf:
        assert len(pdf.pages) >= 1 and str(pdf.docinfo["/Title"])


@by_suffix(".png")
def test_a_picture_opens(path: Path) -> None:
    from PIL import Image

    with Image.open(path) as picture:
        assert min(picture.size) > 100
        picture.verify()


@by_suffix(".docx", ".xlsx", ".pptx")
def test_an_office_file_holds_no_trace_of_the_day_it_was_made(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        assert {info.date_time[0] for info in archive.infolist()} == {1980}
        core = archive.read("docProps/core.xml").decode()
    assert set(re.findall(r">(20\d\d-\d\d-\d\d)T", core)) <= {"2026-03-02"}


def test_the_bank_reconciliation_closes_on_ledger_and_statement() -> None:
    ledger = rows_of("gl_1000_cash_feb_2026.csv")
    page = sheet_of("bank_reconciliation_feb_2026.xlsx", "Reconciliation")
    assert value_beside(page, "Balance per general ledger, 02/28/2026", "C") == pytest.approx(
        float(ledger[-1]["balance"])
    )
    assert value_beside(page, "Adjusted bank balance", "C") == pytest.approx(29036.28)
    assert value_beside(page, "Adjusted book balance", "C") == pytest.approx(29036.28)
    assert value_beside(page, "Unreconciled difference", "C") == 0


def test_the_covenant_model_follows_from_the_quarterly_figures() -> None:
    page = sheet_of("quarterly_financials.xlsx", "Quarterly")

    def year(label: str) -> float:
        row = next(cells for cells in page.iter_rows(values_only=True) if cells[0] and cells[0].strip() == label)
        return float(sum(row[3:7]))

    earned = year("Net income") + year("Interest expense (incl. fee amortization)")
    earned += year("Income tax expense (benefit)") + year("Depreciation and amortization")
    earned += year("Non-cash stock compensation (within SG&A)") - year("Gain on sale of building")
    earned += min(year("Restructuring charges (cash)"), earned / 10)
    model = sheet_of("covenant_model_q3_2025.xlsx", "Calculation")
    assert value_beside(model, "Term loan", "B") == 24500
    assert earned == pytest.approx(8750.5)
    assert (24500 + 5750 + 1480 + 1500 - 2000) / earned == pytest.approx(3.569, abs=5e-4)
    assert value_beside(model, "Cure amount", "B") == pytest.approx(31230 / 3.5 - earned)


def test_the_clinic_rate_follows_from_the_export() -> None:
    once = {row["appt_id"]: row for row in rows_of("appointments_jan_feb_2026.csv")}.values()
    kept = [row for row in once if not row["patient_id"].startswith("ZZTEST") and row["appt_date"] != "2026-01-26"]
    lost = sum(row["status"] in {"no_show", "late_cancel"} for row in kept)
    seen = sum(row["status"] == "completed" for row in kept)
    page = sheet_of("no_show_analysis.xlsx", "Summary")
    assert (value_beside(page, "All", "C"), value_beside(page, "All", "D")) == (lost, lost + seen) == (93, 582)


def test_the_desk_review_accounts_for_every_dollar_claimed() -> None:
    claim = sheet_of("claim_2_oct_dec_2025.xlsx", "Claim 2")
    page = sheet_of("desk_review_workpaper.xlsx", "Recalculation")
    claimed, disallowed, questioned, approved = (value_beside(page, "Total", column) for column in "BCDE")
    assert claimed == pytest.approx(value_beside(claim, "Total", "D")) == pytest.approx(62609.37)
    assert claimed - disallowed - questioned == pytest.approx(approved) == pytest.approx(56367.76)


def test_the_line_balance_keeps_takt_and_follows_from_the_readings() -> None:
    readings = sheet_of("time_study_p40.xlsx", "Readings")
    standard = 0.0
    for row in readings.iter_rows(min_row=5, values_only=True):
        kept = [value for number, value in enumerate(row[3:9]) if not (row[0] == "H" and number == 3)]
        standard += sum(kept) / len(kept) * (1 if row[10] == "machine" else row[9] * 1.12)
    page = sheet_of("line_balance_p40.xlsx", "Summary")
    assert value_beside(page, "Total standard time", "B") == pytest.approx(standard)
    assert value_beside(page, "Cycle (slowest station)", "C") <= value_beside(page, "Takt", "B") == 108
    assert value_beside(sheet_of("line_balance_p40.xlsx", "Precedence check"), "All", "E") == "all respected"


def test_the_order_ships_no_more_than_is_available() -> None:
    stock = {row["sku"]: int(row["on_hand"]) - int(row["allocated"]) for row in rows_of("stock_2026_03_05.csv")}
    page = sheet_of("order_worksheet_7751.xlsx", "Order")
    lines = list(page.iter_rows(min_row=5, max_row=11, values_only=True))
    assert all(row[10] <= stock[row[1]] for row in lines)
    assert sum(row[12] for row in lines) == pytest.approx(1953.06)
    assert value_beside(page, "Total now", "M") == pytest.approx(2080.01)


def test_the_expense_pools_hold_the_whole_ledger() -> None:
    booked = sum(float(row["amount"]) for row in rows_of("general_ledger_2025.csv"))
    assert value_beside(sheet_of("expense_reconciliation_2025.xlsx", "Pools"), "Total", "B") == pytest.approx(booked)
    page = sheet_of("expense_reconciliation_2025.xlsx", "Tenants")
    due = [round(value_beside(page, "Balance due (credit)", column), 2) for column in "BCD"]
    assert due == [3094.00, 585.60, 833.11]


def test_the_schedule_meets_the_forecast_hour_by_hour() -> None:
    shifts = {
        row[0]: row[1:4]
        for row in sheet_of("schedule_2026-03-16.xlsx", "Shifts").iter_rows(min_row=4, values_only=True)
    }
    grid = [
        row[2:9]
        for row in sheet_of("schedule_2026-03-16.xlsx", "Schedule").iter_rows(min_row=5, max_row=12, values_only=True)
    ]
    for forecast in rows_of("traffic_forecast.csv"):
        day, hour = date.fromisoformat(forecast["date"]).weekday(), int(forecast["hour_from"].split(":")[0])
        working = [shifts[row[day]] for row in grid if row[day] != "-"]
        present = sum(start <= hour and end >= hour + 1 for start, end, _ in working)
        assert present >= max(2, ceil(int(forecast["visitors"]) / 12)), forecast
    checks = sheet_of("schedule_2026-03-16.xlsx", "Rule checks").iter_rows(min_row=4, values_only=True)
    assert {row[1] for row in checks} == {"kept"}


def test_the_mix_has_the_faults_the_report_names(tmp_path: Path) -> None:
    import shutil
    import subprocess

    import numpy as np

    if shutil.which("ffmpeg") is None:
        pytest.skip("ffmpeg is not installed")
    raw = tmp_path / "mix.wav"
    mix = next(BANK.rglob("*.flac"))
    subprocess.run(["ffmpeg", "-v", "error", "-i", mix, raw], check=True)
    with wave.open(str(raw)) as source:
        rate, frames = source.getframerate(), source.readframes(source.getnframes())
    sound = np.frombuffer(frames, "<i2").reshape(-1, 2) / 32767

    def part(start: float, end: float) -> np.ndarray:
        return sound[round(start * rate) : round(end * rate)]

    assert not part(8.41, 8.64)[:, 1].any() and part(8.41, 8.64)[:, 0].any()
    assert np.corrcoef(part(20, 23).T)[0, 1] < -0.9 < 0.9 < np.corrcoef(part(4, 8).T)[0, 1]
    assert np.abs(part(17, 18.5)).max() == 1 and np.abs(part(18.6, 26)).max() < 0.5
