"""Industrial Engineers: time study and rebalancing of a pump assembly line."""

from pathlib import Path

from sample_bank.line_balance import deck, reference, workbook


def build(folder: Path) -> None:
    reference.write(folder / "reference")
    workbook.write(folder / "expert" / "line_balance_p40.xlsx")
    deck.write(folder / "expert" / "line_balance_p40.pptx")
