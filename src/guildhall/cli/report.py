"""`guildhall report`: a study's findings as a page, tables, a workbook and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from guildhall.cli.show import as_json, done, note
from guildhall.cli.workspace import JsonOption, WorkspaceOption


def report(
    study: Annotated[str, typer.Argument(help="The study's id.")],
    out: Annotated[Path, typer.Option(help="The folder to write into.")] = Path("report"),
    baseline: Annotated[str, typer.Option(help="Whom models are compared with: expert, or a model's name.")] = "expert",
    graders: Annotated[
        Optional[str],  # noqa: UP045 - typer reads this at run time
        typer.Option(help="The kind of graders: expert, simulated, automatic, ...", show_default=False),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Write a study's report: HTML, Markdown, CSV, JSON, XLSX, and every figure as SVG and PNG."""
    from guildhall.grading.viewing import newest_study
    from guildhall.store.workspace import Workspace
    from guildhall.study.reporting import write_report

    with Workspace.find(workspace) as opened:
        findings = write_report(opened, newest_study(opened.store, study), out, baseline=baseline, grader_kind=graders)
    if json:
        as_json(findings)
        return
    judged = f"{findings.counts.judgments} judgments by {findings.grader_kind} graders"
    done(f"report written to {out / 'report.html'} ({judged})")
    for words in findings.notes:
        note(words)
