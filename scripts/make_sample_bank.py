"""Makes the reference and expert files of the sample bank: `python scripts/make_sample_bank.py [TASK-ID ...]`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from sample_bank import catalogue

BANK = Path(__file__).resolve().parents[1] / "src" / "guildhall" / "taskbank" / "sample"


def main(wanted: list[str]) -> None:
    for task_id, module in catalogue.MODULES.items():
        if wanted and task_id not in wanted:
            continue
        importlib.import_module(f"sample_bank.{module}").build(BANK / task_id)
        print(f"made {task_id}")


if __name__ == "__main__":
    main(sys.argv[1:])
