"""A report is the same whether its judgments come from the database or from parts kept beside it."""

from __future__ import annotations

from pathlib import Path

from guildhall.store.verdict_parts import close_parts
from guildhall.store.workspace import Workspace
from guildhall.study.reporting import write_study_report
from tests.study.made import judged_study

SCORES = {"alpha": [[1.0, 0.5], [0.0, 0.0]] * 4, "beta": [[0.5, 0.5], [1.0, 0.0]] * 4}


def test_closed_parts_change_no_byte_of_a_report(workspace: Workspace, tmp_path: Path) -> None:
    study = judged_study(workspace, "s", SCORES)
    write_study_report(workspace, study, tmp_path / "open")
    assert close_parts(workspace.store, workspace.path / "cache" / "verdicts") == 1
    write_study_report(workspace, study, tmp_path / "closed")
    written = {file.relative_to(tmp_path / "open") for file in (tmp_path / "open").rglob("*.*")}
    assert {Path("report.html"), Path("figures/outcomes.png"), Path("judgments.csv"), Path("report.xlsx")} <= written
    for name in written:
        assert (tmp_path / "closed" / name).read_bytes() == (tmp_path / "open" / name).read_bytes(), name
