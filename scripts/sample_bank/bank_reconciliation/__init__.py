"""Accountants and Auditors: February bank reconciliation of a small furniture maker."""

from pathlib import Path

from sample_bank.bank_reconciliation import reference, workbook


def build(folder: Path) -> None:
    reference.write(folder / "reference")
    workbook.write(folder / "expert" / "bank_reconciliation_feb_2026.xlsx")
