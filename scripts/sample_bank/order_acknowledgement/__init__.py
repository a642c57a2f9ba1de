"""Order Clerks: from a scanned purchase order to a correct acknowledgement."""

from pathlib import Path

from sample_bank.order_acknowledgement import expert, reference


def build(folder: Path) -> None:
    reference.write(folder / "reference")
    expert.write(folder / "expert")
