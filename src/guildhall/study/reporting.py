"""Writing a study's report: the page, the other formats, every figure as SVG and PNG, and the rows behind them."""

from __future__ import annotations

from pathlib import Path

from guildhall.domain.findings import Findings
from guildhall.domain.studies import Study
from guildhall.reports.figures import figures_of
from guildhall.reports.page import html_page
from guildhall.reports.plots.frame import to_png, to_svg
from guildhall.reports.text import as_json, csv_text, headline_csv, markdown
from guildhall.reports.workbook import workbook
from guildhall.store.workspace import Workspace
from guildhall.study.findings import findings_of
from guildhall.study.judged import BREAKDOWNS, judged_rows


def write_report(
    workspace: Workspace, study: Study, folder: Path, *, baseline: str = "expert", grader_kind: str | None = None
) -> Findings:
    """Write everything into a folder; the same judgments give the same bytes."""
    findings = findings_of(workspace, study, baseline=baseline, grader_kind=grader_kind)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.html").write_text(html_page(findings), encoding="utf-8")
    (folder / "report.md").write_text(markdown(findings), encoding="utf-8")
    (folder / "report.json").write_text(as_json(findings), encoding="utf-8")
    (folder / "report.xlsx").write_bytes(workbook(findings))
    (folder / "headline.csv").write_text(headline_csv(findings), encoding="utf-8")
    (folder / "judgments.csv").write_text(rows_csv(workspace, study, baseline=baseline), encoding="utf-8")
    figures = folder / "figures"
    figures.mkdir(exist_ok=True)
    for name, figure in figures_of(findings).items():
        (figures / f"{name}.svg").write_text(to_svg(figure), encoding="utf-8")
        (figures / f"{name}.png").write_bytes(to_png(figure))
    return findings


def rows_csv(workspace: Workspace, study: Study, *, baseline: str) -> str:
    """The rows every figure rests on, in the columns `guildhall analyze win-rate` reads."""
    rows = judged_rows(workspace.store, study.id, baseline=baseline).rows
    header = [
        "task",
        "model",
        "sample",
        "grader",
        "grader_kind",
        "score",
        "model_place",
        "active_s",
        "exposure",
        *BREAKDOWNS,
    ]
    cells = [
        [
            row.task,
            row.model,
            row.sample,
            row.grader,
            row.grader_kind,
            row.score,
            row.model_place,
            row.active_s,
            row.exposure,
            *(row.columns.get(name, "") for name in BREAKDOWNS),
        ]
        for row in rows
    ]
    return csv_text(header, cells)
