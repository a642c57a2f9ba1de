"""A report is the same whether its judgments come from the database or from parts kept beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from guildhall.store import verdict_parts
from guildhall.store.ledger import Ledger, Sent
from guildhall.store.workspace import Workspace
from guildhall.study.reporting import write_study_report
from tests.study.made import judged_study

SCORES = {"alpha": [[1.0, 0.5], [0.0, 0.0]] * 4, "beta": [[0.5, 0.5], [1.0, 0.0]] * 4}


def test_a_report_names_the_calls_whose_answer_nobody_knows(workspace: Workspace, tmp_path: Path) -> None:
    study = judged_study(workspace, "s", SCORES)
    before = write_study_report(workspace, study, tmp_path / "before")
    assert not any("answer unknown" in one for one in before.notes)
    ledger = Ledger(workspace.store)
    ledger.begin(
        [Sent(f"c{number}", "item", run, "x/y", 1.0) for number, run in enumerate(["s", "s:judging", "other"])]
    )
    after = write_study_report(workspace, study, tmp_path / "after")
    (told,) = set(after.notes) - set(before.notes)
    assert told.startswith("2 calls to models: sent, answer unknown")
    assert told in (tmp_path / "after" / "report.md").read_text()


def test_closed_parts_change_no_byte_of_a_report(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdict_parts, "WORTH_KEEPING", 0)
    study = judged_study(workspace, "s", SCORES)
    write_study_report(workspace, study, tmp_path / "open")
    assert verdict_parts.close_parts(workspace.store, workspace.path / "cache" / "verdicts") == 1
    write_study_report(workspace, study, tmp_path / "closed")
    written = {file.relative_to(tmp_path / "open") for file in (tmp_path / "open").rglob("*.*")}
    assert {Path("report.html"), Path("figures/outcomes.png"), Path("judgments.csv"), Path("report.xlsx")} <= written
    for name in written:
        assert (tmp_path / "closed" / name).read_bytes() == (tmp_path / "open" / name).read_bytes(), name
