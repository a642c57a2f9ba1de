"""Property Managers: year-end reconciliation of shared expenses at a small shopping center."""

from pathlib import Path

from sample_bank.shopping_center_reconciliation import letter, reference, workbook


def build(folder: Path) -> None:
    reference.write(folder / "reference")
    workbook.write(folder / "expert" / "expense_reconciliation_2025.xlsx")
    letter.write(folder / "expert" / "statement_corner_vet_2025.docx")
