"""Compliance Officers: desk review of a subrecipient's quarterly claim against its agreement."""

from pathlib import Path

from sample_bank.grant_desk_review import letter, reference, workpaper


def build(folder: Path) -> None:
    reference.write(folder / "reference")
    workpaper.write(folder / "expert" / "desk_review_workpaper.xlsx")
    letter.write(folder / "expert" / "determination_letter.docx")
