"""Small files of our own in the layouts of the official ones."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

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
    """A folder of official files for four occupations."""
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
