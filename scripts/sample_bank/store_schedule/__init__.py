"""First-Line Supervisors of Retail Sales Workers: one week's schedule within hours, rules and traffic."""

from pathlib import Path

from sample_bank.store_schedule import poster, reference, workbook


def build(folder: Path) -> None:
    reference.write(folder / "reference")
    workbook.write(folder / "expert" / "schedule_2026-03-16.xlsx")
    poster.write(folder / "expert" / "schedule_2026-03-16.pdf")
