"""How many tasks O*NET lists for a bank's occupations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from guildhall.errors import UnreadableFile
from guildhall.occupations.tasks import published_tasks

STATEMENTS = """O*NET-SOC Code\tTitle\tTask ID\tTask
11-3031.00\tFinancial Managers\t1\tPrepare budgets.
11-3031.01\tTreasurers and Controllers\t2\tMonitor cash.
27-3041.00\tEditors\t3\tEdit copy.
27-3041.00\tEditors\t4\tedit  copy
"""


def test_finer_occupations_belong_to_the_broader_one_and_wordings_count_once(tmp_path: Path) -> None:
    (tmp_path / "Task Statements.txt").write_text(STATEMENTS)
    found = published_tasks(tmp_path, ["Financial Managers", "Editors", "Unheard Of"])
    assert found.tasks == {"prepare budgets", "monitor cash", "edit copy"}
    assert found.without == ("Unheard Of",)


def test_a_folder_without_the_file_says_which(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="Task Statements"):
        published_tasks(tmp_path, ["Editors"])


def test_every_occupation_of_the_public_bank_is_in_the_official_file(realdata: Path) -> None:
    with (realdata / "gdpval" / "gdpval_tasks_220.jsonl").open() as lines:
        titles = {json.loads(line)["occupation"] for line in lines}
    found = published_tasks(realdata / "onet_bls", titles)
    assert found.without == () and 1400 < len(found.tasks) < 1500
