"""A report is the same whoever draws it."""

from __future__ import annotations

from pathlib import Path

import pytest

from guildhall.store.ledger import Ledger, Sent
from guildhall.store.workspace import Workspace
from guildhall.study import beside
from guildhall.study.reporting import write_report
from tests.study.made import judged_study

SCORES = {"alpha": [[1.0, 0.5], [0.0, 0.0]] * 4, "beta": [[0.5, 0.5], [1.0, 0.0]] * 4}


def test_a_report_names_the_calls_whose_answer_nobody_knows(workspace: Workspace, tmp_path: Path) -> None:
    study = judged_study(workspace, "s", SCORES)
    before = write_report(workspace, study, tmp_path / "before")
    assert not any("answer unknown" in one for one in before.notes)
    ledger = Ledger(workspace.store)
    ledger.begin(
        [Sent(f"c{number}", "item", run, "x/y", 1.0) for number, run in enumerate(["s", "s:judging", "other"])]
    )
    after = write_report(workspace, study, tmp_path / "after")
    (told,) = set(after.notes) - set(before.notes)
    assert told.startswith("2 calls to models: sent, answer unknown")
    assert told in (tmp_path / "after" / "report.md").read_text()


def test_a_second_process_helps_with_the_same_report(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = judged_study(workspace, "s", SCORES)
    alone = write_report(workspace, study, tmp_path / "alone")
    monkeypatch.setattr(beside, "LARGE", 0)
    assert write_report(workspace, study, tmp_path / "helped") == alone
    written = {file.relative_to(tmp_path / "alone") for file in (tmp_path / "alone").rglob("*.*")}
    assert {Path("report.html"), Path("figures/outcomes.png"), Path("judgments.csv")} <= written
    for name in written - {Path("report.xlsx")}:  # a workbook holds the moment it was made
        assert (tmp_path / "helped" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes(), name
