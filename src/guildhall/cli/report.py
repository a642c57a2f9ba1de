"""`guildhall report`: a study's findings as a page, tables, a workbook and figures; two studies side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from guildhall.cli.show import as_json, done, note, table
from guildhall.cli.workspace import JsonOption, WorkspaceOption
from guildhall.errors import InputError

if TYPE_CHECKING:
    from guildhall.domain.differences import StudyDifference
    from guildhall.domain.report import Report

GATE_SHUT = 8


def report(
    study: Annotated[Optional[str], typer.Argument(help="The study's id.", show_default=False)] = None,  # noqa: UP045
    out: Annotated[Path, typer.Option(help="The folder to write into.")] = Path("report"),
    baseline: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Whom models are compared with, if not the study's own baseline.", show_default=False),
    ] = None,
    graders: Annotated[
        Optional[str],  # noqa: UP045 - typer reads this at run time
        typer.Option(help="The kind of graders: expert, simulated, automatic, ...", show_default=False),
    ] = None,
    reasons: Annotated[
        Optional[list[Path]],  # noqa: UP045
        typer.Option(help="Coded reasons from `guildhall reasons code`, or from people.", show_default=False),
    ] = None,
    compare: Annotated[
        Optional[tuple[str, str]],  # noqa: UP045
        typer.Option(help="Two studies, or two written reports: the second less the first.", show_default=False),
    ] = None,
    fail_if: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="With --compare: exit with 8 unless this is known not to hold.", show_default=False),
    ] = None,
    match: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(metavar="OLD=NEW", help="With --compare: models that go by two names.", show_default=False),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Write a study's report: HTML, Markdown, CSV, JSON, XLSX, and every figure as SVG and PNG."""
    if (study is None) == (compare is None):
        raise InputError("name one study, or two with --compare A B")
    if compare is None and (fail_if or match):
        raise InputError("--fail-if and --match need --compare A B: a gate looks at a difference")
    if study is not None:
        _one(study, out, baseline=baseline, graders=graders, reasons=reasons or [], workspace=workspace, json=json)
    elif compare is not None:
        found = _compared(compare, fail_if, match, baseline=baseline, graders=graders, workspace=workspace)
        _show_difference(found, out, json=json)


def _one(
    study: str,
    out: Path,
    *,
    baseline: str | None,
    graders: str | None,
    reasons: list[Path],
    workspace: Path | None,
    json: bool,
) -> None:
    from guildhall.store.wordings import newest_study
    from guildhall.store.workspace import Workspace
    from guildhall.study.reporting import write_study_report

    with Workspace.find(workspace) as opened:
        found = newest_study(opened.store, study)
        report = write_study_report(opened, found, out, baseline=baseline, graders=graders, reasons=reasons)
    if json:
        as_json(report)
        return
    judged = f"{report.counts['judgments']} judgments by {report.policy.graders} graders"
    done(f"report written to {out / 'report.html'} ({judged})")
    for words in (*report.warnings, *report.notes):
        note(words)


def _compared(
    names: tuple[str, str],
    fail_if: list[str] | None,
    match: list[str] | None,
    *,
    baseline: str | None,
    graders: str | None,
    workspace: Path | None,
) -> StudyDifference:
    from guildhall.study.comparing import compare_reports

    def of_study(name: str) -> Report:
        from guildhall.store.wordings import newest_study
        from guildhall.store.workspace import Workspace
        from guildhall.study.reporting import study_report

        with Workspace.find(workspace) as opened:
            return study_report(opened, newest_study(opened.store, name), baseline=baseline, graders=graders)

    return compare_reports(names, of_study=of_study, fail_if=fail_if or (), matches=_matches(match or []))


def _matches(given: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    if any(not (old and equals and new) for old, equals, new in pairs):
        raise InputError("--match takes OLD=NEW: a model's name in the first report, and in the second")
    return {old: new for old, _, new in pairs}


def _points(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"


def _show_difference(found: StudyDifference, out: Path, *, json: bool) -> None:
    from guildhall.reports.number_format import rate_name, shown
    from guildhall.study.comparing import write_difference

    write_difference(found, out)
    if json:
        as_json({**found.model_dump(mode="json"), "passed": found.passed})
    else:
        rows = [
            (one.model, rate_name(name), *shown(estimate, "points"), _points(one.could_see.get(name)), estimate.n_tasks)
            for one in found.models
            for name, estimate in one.difference.items()
        ]
        title = f"{found.second.study} less {found.first.study}, in points"
        table(title, ("model", "rate", "difference", "interval", "could see", "tasks"), rows, numeric=(2, 4, 5))
        note("could see: the smallest difference such a comparison tells from none four times out of five")
        for finding in found.gate:
            typer.secho(
                f"{finding.outcome}: {finding.condition} [{finding.model}]: {finding.words}",
                fg="green" if finding.outcome == "passed" else "red",
            )
        done(f"written to {out / 'difference.html'}")
    if not found.passed:
        raise typer.Exit(GATE_SHUT)
