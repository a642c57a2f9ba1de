"""Financial and Investment Analysts: a lender's check of a borrower's covenant certificate."""

from pathlib import Path

from sample_bank.covenant_compliance import memo, model, reference


def build(folder: Path) -> None:
    reference.write(folder / "reference")
    model.write(folder / "expert" / "covenant_model_q3_2025.xlsx")
    memo.write(folder / "expert" / "covenant_memo_q3_2025.pdf")
