"""Medical and Health Services Managers: why visits are lost at a clinic, and what to do about it."""

from pathlib import Path

from sample_bank.clinic_no_shows import deck, reference, workbook


def build(folder: Path) -> None:
    rows = reference.appointments()
    reference.write(folder / "reference", rows)
    workbook.write(folder / "expert" / "no_show_analysis.xlsx", rows)
    deck.write(folder / "expert" / "no_show_review.pptx", rows)
