"""A study's report: from a workspace to the value, and to its files with the rows behind them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from guildhall.analysis.evidence import Evidence, Need
from guildhall.analysis.reasons import read_codes
from guildhall.domain.judgments import Comparison
from guildhall.domain.policy import GraderGroup
from guildhall.domain.report import Figure, Report
from guildhall.domain.studies import Study
from guildhall.domain.tasks import Task
from guildhall.reports.drawing import drawing
from guildhall.reports.reporting import report_of, write_report
from guildhall.reports.tables import rows_csv
from guildhall.store.ledger import Ledger, booked_on
from guildhall.store.workspace import Workspace
from guildhall.study.evidence import read_evidence
from guildhall.study.exports import write_csv
from guildhall.study.methods import methods_of, planned_and_done

WORTH_A_PROCESS = 2_000
"""Comparisons: from so many on a report computes so long that its figures are drawn beside."""
UNCODED = frozenset(Need) - {Need.JUSTIFICATIONS}
"""What a report needs where nobody coded what graders wrote: their words, one for each judgment, are then not read."""


def study_report(
    workspace: Workspace, study: Study, *, baseline: str | None = None, graders: GraderGroup | str | None = None
) -> Report:
    """Everything a study's judgments say, for one group of graders: kinds are never pooled silently."""
    with _nothing_collected():
        evidence = read_evidence(workspace, study, graders=graders, baseline=baseline, needs=UNCODED)
        return report_from(workspace, evidence)


def report_from(
    workspace: Workspace, evidence: Evidence, *, begin: Callable[[Sequence[Figure]], None] = lambda _figures: None
) -> Report:
    """The same from evidence at hand; `begin` is told the figures as they come."""
    study, policy = evidence.study, evidence.counted.policy
    tasks = workspace.store.get_all(Task, study.tasks)
    note = study.design.rehearsal_note

    def methods(models: Sequence[str]) -> Sequence[str]:
        return methods_of(study, tasks, policy=policy, models=models)

    forms = workspace.store.find(Study, id=study.id)
    return report_of(
        evidence,
        warnings=() if note is None else (note,),
        methods=methods,
        notes=list(_unanswered(workspace, evidence)),
        planned_and_done=list(planned_and_done(study, policy, forms)),
        begin=begin,
    )


def _unanswered(workspace: Workspace, evidence: Evidence) -> Iterator[str]:
    """Calls to models whose cost nobody knows: they are in no figure of the report."""
    ledger = Ledger(workspace.store)
    runs = [run for wave in evidence.waves() for run in booked_on(wave.id)]
    if unknown := sum(ledger.spent(run=run).unanswered for run in runs):
        yield f"{unknown} calls to models: sent, answer unknown; what they cost is unknown and in no figure here."


def write_study_report(
    workspace: Workspace,
    study: Study,
    folder: Path,
    *,
    baseline: str | None = None,
    graders: GraderGroup | str | None = None,
    reasons: Sequence[Path] = (),
) -> Report:
    """Write everything into a folder; the same judgments give the same bytes. `reasons` are files of coded reasons."""
    codes = read_codes(reasons)
    needs = frozenset(Need) if codes else UNCODED
    many = workspace.store.count(Comparison, study=study.id) >= WORTH_A_PROCESS
    with _nothing_collected(), drawing(folder / "figures", beside=many) as figures:
        evidence = read_evidence(workspace, study, graders=graders, baseline=baseline, needs=needs, reasons=codes)
        report = report_from(workspace, evidence, begin=figures.begin)
        write_csv(evidence.pairs, evidence.group, folder / "judgments.csv")
        if (table := evidence.tasks_and_models) is not None:
            (folder / "tasks-and-models.csv").write_text(rows_csv(table), encoding="utf-8")
        write_report(report, folder, figures)
    return report


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """A report makes millions of values and hardly a circle of them: looking for some takes an eighth of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
