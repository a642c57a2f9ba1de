"""The selection on small files of our own in the official layouts."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from guildhall.errors import UnreadableFile
from guildhall.occupations.labels import by_rule, from_file
from guildhall.occupations.sectors import sector_code, shipped_shares
from guildhall.occupations.selection import Thresholds, select

OEWS = ["NAICS", "NAICS_TITLE", "OCC_CODE", "OCC_TITLE", "O_GROUP", "TOT_EMP", "H_MEAN", "A_MEAN", "H_MEDIAN"]


def workbook(path: Path, header: list[str], rows: list[list[object]]) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(header)
    for row in rows:
        sheet.append(row)
    book.save(path)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    national = [
        ["000000", "", "00-0000", "All Occupations", "total", 999, 1, 1, 1],
        ["000000", "", "13-2011", "Accountants and Auditors", "detailed", 1000, 40, 80_000, 38],
        ["000000", "", "51-4121", "Welders", "detailed", 2000, 25, 52_000, 24],
        ["000000", "", "27-2011", "Actors", "detailed", 100, 30.5, "*", 25],
        ["000000", "", "13-2099", "Financial Specialists, All Other", "detailed", 10, 40, 80_000, 38],
    ]
    sector = [
        ["54", "Professional", "13-2011", "Accountants and Auditors", "detailed", 900, 1, 1, 1],
        ["52", "Finance", "13-2011", "Accountants and Auditors", "detailed", 100, 1, 1, 1],
        ["31-33", "Manufacturing", "51-4121", "Welders", "detailed", 2000, 1, 1, 1],
        ["71", "Arts", "27-2011", "Actors", "detailed", 100, 1, 1, 1],
    ]
    workbook(tmp_path / "oews_national_M2024_dl.xlsx", OEWS, national)
    workbook(tmp_path / "oews_natsector_M2024_dl.xlsx", OEWS, sector)
    statements = [
        ["13-2011.00", "Accountants and Auditors", 1, "Analyze financial records and write reports."],
        ["13-2011.00", "Accountants and Auditors", 2, "Carry and load boxes."],
        ["51-4121.00", "Welders", 3, "Weld and repair frames."],
    ]
    workbook(tmp_path / "onet_task_statements.xlsx", ["O*NET-SOC Code", "Title", "Task ID", "Task"], statements)
    ratings = ["O*NET-SOC Code\tTask ID\tScale ID\tCategory\tData Value"]
    ratings += [f"13-2011.00\t1\tFT\t{category}\t{100 if category == 7 else 0}" for category in range(1, 8)]
    ratings += ["13-2011.00\t1\tIM\tn/a\t5", "13-2011.00\t1\tRT\tn/a\t100"]
    ratings += [f"13-2011.00\t2\tFT\t{category}\t{100 if category == 1 else 0}" for category in range(1, 8)]
    ratings += ["13-2011.00\t2\tIM\tn/a\t1", "13-2011.00\t2\tRT\tn/a\t10"]
    (tmp_path / "Task Ratings.txt").write_text("\n".join(ratings) + "\n")
    return tmp_path


def test_the_whole_selection_with_a_reason_for_every_occupation(data: Path) -> None:
    found = select(data, labeller=by_rule, labelled_by="rule", thresholds=Thresholds())
    assert (found.detailed, found.kept) == (4, 3)
    verdicts = {one.title: one for one in found.occupations}
    assert verdicts["Accountants and Auditors"].verdict == "selected"
    assert verdicts["Accountants and Auditors"].total_wages_usd == 80_000_000
    assert verdicts["Actors"].total_wages_usd == pytest.approx(100 * 30.5 * 2080)
    assert "sector 71" in verdicts["Actors"].verdict
    assert "under 0.60" in verdicts["Welders"].verdict and verdicts["Welders"].digital.method == "task frequency"
    assert found.selected["Professional, Scientific, and Technical Services"] == ("Accountants and Auditors",)


def test_frequency_is_the_mean_category_over_seven(data: Path) -> None:
    found = select(data, labeller=by_rule, labelled_by="rule", thresholds=Thresholds())
    [share] = [one.digital.share for one in found.occupations if one.code == "13-2011"]
    low = (1 / 7 + 1 / 5 + 10 / 100) / 3
    assert share == pytest.approx(1 / (1 + low))


def test_labels_come_from_a_file(data: Path) -> None:
    (data / "labels.csv").write_text("O*NET-SOC Code,Task,digital\n51-4121.00,weld and repair frames,true\n")
    found = select(data, labeller=from_file(data / "labels.csv"), labelled_by="file", thresholds=Thresholds())
    assert {one.title for one in found.occupations if one.verdict == "selected"} == {"Welders"}


def test_a_missing_file_is_named_with_where_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"no OEWS national estimates.*BLS"):
        select(tmp_path, labeller=by_rule, labelled_by="rule", thresholds=Thresholds())


def test_nine_gdp_shares_ship_all_above_five_percent() -> None:
    assert len(shipped_shares()) == 9 and min(one.share for one in shipped_shares()) > 5


def test_two_digits_that_are_one_sector_are_joined() -> None:
    assert [sector_code(code) for code in ("311", "44", "31-33", "54")] == ["31-33", "44-45", "31-33", "54"]
