"""Writing a study's report: the page, the other formats, every figure as SVG and PNG, and the rows behind them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from guildhall.domain.findings import Findings
from guildhall.domain.judgments import Comparison
from guildhall.domain.studies import Study
from guildhall.reports.chapters.ablations import ablations_csv
from guildhall.reports.chapters.calibration import calibration_csv
from guildhall.reports.chapters.savings import savings_csv
from guildhall.reports.chapters.trend import trend_csv
from guildhall.reports.figures import figures_of, write_figure
from guildhall.reports.numbers import numbers_csv
from guildhall.reports.page import html_page
from guildhall.reports.text import as_json, headline_csv, markdown
from guildhall.reports.workbook import workbook
from guildhall.store.workspace import Workspace
from guildhall.study.beside import nothing_collected, second_hand
from guildhall.study.evidence import Evidence, gather_evidence
from guildhall.study.exports import csv_of, frame
from guildhall.study.findings import findings_from
from guildhall.study.reasons import read_codes
from guildhall.study.tasks_and_models import table_csv


def write_report(
    workspace: Workspace,
    study: Study,
    folder: Path,
    *,
    baseline: str | None = None,
    grader_kind: str | None = None,
    reasons: Sequence[Path] = (),
) -> Findings:
    """Write everything into a folder; the same judgments give the same bytes. `reasons` are files of coded reasons."""
    with nothing_collected(), second_hand(workspace.store.count(Comparison, study=study.id)) as beside:
        evidence = gather_evidence(workspace, study, baseline=baseline, grader_kind=grader_kind, beside=beside)
        findings = findings_from(evidence, read_codes(reasons), beside=beside)
        (folder / "figures").mkdir(parents=True, exist_ok=True)
        drawn = {
            name: beside(write_figure, figure, folder / "figures", name)
            for name, figure in figures_of(findings).items()
        }
        _write_tables(evidence, findings, folder)
        (folder / "report.md").write_text(markdown(findings), encoding="utf-8")
        (folder / "report.json").write_text(as_json(findings), encoding="utf-8")
        svgs = {name: drawn[name]() for name in reversed(drawn)}
        (folder / "report.html").write_text(html_page(findings, svgs), encoding="utf-8")
    return findings


def _write_tables(evidence: Evidence, findings: Findings, folder: Path) -> None:
    """The workbook, and the rows behind every chapter as CSV."""
    (folder / "report.xlsx").write_bytes(workbook(findings))
    (folder / "headline.csv").write_text(headline_csv(findings), encoding="utf-8")
    (folder / "judgments.csv").write_bytes(csv_of(frame(evidence.judged.rows)))
    if findings.savings and evidence.tasks_and_models:
        (folder / "savings.csv").write_text(savings_csv(findings.savings), encoding="utf-8")
        (folder / "tasks-and-models.csv").write_text(table_csv(evidence.tasks_and_models), encoding="utf-8")
    (folder / "numbers.csv").write_text(numbers_csv(findings), encoding="utf-8")
    if findings.trend:
        (folder / "trend.csv").write_text(trend_csv(findings.trend), encoding="utf-8")
    if findings.ablations:
        (folder / "ablations.csv").write_text(ablations_csv(findings.ablations), encoding="utf-8")
    if findings.calibrations:
        (folder / "calibration.csv").write_text(calibration_csv(findings.calibrations), encoding="utf-8")
