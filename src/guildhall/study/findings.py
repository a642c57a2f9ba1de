"""What a study's judgments say: the headline and its breakdowns here, the other chapters each in a module."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from guildhall import __version__
from guildhall.analysis.breakdown import CellRate, cell_rates
from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.tables import Coded
from guildhall.analysis.win_rates import WinRate, win_rates
from guildhall.domain.findings import Breakdown, CellRecord, Counts, FigureGroup, Findings, ModelRecord
from guildhall.domain.studies import Study
from guildhall.domain.tasks import Task
from guildhall.store.workspace import Workspace
from guildhall.study.beside import Hand, when_asked
from guildhall.study.chapters import agreement, blinding, drift, formatting, order, review_time, severity, tells
from guildhall.study.chapters.ablations import ablations_of
from guildhall.study.chapters.calibration import calibrations_of
from guildhall.study.chapters.reasons import reasons_of
from guildhall.study.chapters.savings import savings_of
from guildhall.study.chapters.trend import trend_of
from guildhall.study.entries import COUNTED
from guildhall.study.evidence import Evidence, gather_evidence
from guildhall.study.methods import methods_of
from guildhall.study.task_rates import task_rates
from guildhall.study.works import BREAKDOWNS

CHAPTERS: Sequence[Callable[[Evidence], FigureGroup | None]] = (
    drift.chapter,
    agreement.chapter,
    agreement.beyond_chance,
    order.chapter,
    blinding.chapter,
    tells.chapter,
    severity.chapter,
    severity.per_hundred,
    formatting.chapter,
    formatting.by_rule,
    review_time.chapter,
)
"""The chapters after headline and breakdowns, in the order a reader meets them."""
SMALLEST_BREAKDOWN = 2
"""A column with one value breaks nothing down."""


def findings_of(
    workspace: Workspace, study: Study, *, baseline: str | None = None, grader_kind: str | None = None
) -> Findings:
    """Everything the report shows, for one kind of grader: kinds are never pooled silently."""
    return findings_from(gather_evidence(workspace, study, baseline=baseline, grader_kind=grader_kind))


def findings_from(
    evidence: Evidence,
    reasons: Mapping[str, Mapping[str, str]] | None = None,
    *,
    beside: Hand = when_asked,
) -> Findings:
    """The same from evidence at hand; `reasons` are labels of justifications, by coder and judgment.

    What takes longest and needs least is given to `beside` to be done meanwhile.
    """
    study, baseline, kind = evidence.study, evidence.baseline, evidence.kind
    savings, breakdowns = savings_of(evidence, beside=beside), _breakdowns(evidence.outcomes, beside)
    headline = tuple(_record(rate) for rate in win_rates(evidence.outcomes))
    by_task = task_rates(evidence.outcomes, study)
    tasks = evidence.workspace.store.get_all(Task, study.tasks)
    return Findings(
        study=study.id,
        title=study.title,
        design_digest=study.content_digest(),
        seed=study.seed,
        baseline=baseline,
        grader_kind=kind,
        simulated=kind == "simulated",
        counts=_counts(evidence, tasks),
        headline=headline,
        task_rates=by_task,
        trend=trend_of(evidence, headline),
        ablations=ablations_of(evidence, by_task),
        reasons=reasons_of(evidence, reasons or {}),
        calibrations=calibrations_of(evidence),
        groups=tuple(_groups(evidence)),
        breakdowns=breakdowns(),
        savings=savings(),
        methods=methods_of(study, tasks, kind=kind, baseline=baseline, models=[one.model for one in headline]),
        notes=tuple(
            f"{other} graders judged too; they are not pooled with {kind} graders here"
            for other in evidence.other_kinds
        ),
        version=__version__,
    )


def _counts(evidence: Evidence, tasks: Sequence[Task]) -> Counts:
    judged = evidence.judged
    return Counts(
        tasks=len(tasks),
        tasks_compared=len(judged.tasks),
        tasks_without_expert=sum(not task.expert_files and not task.expert_text for task in tasks),
        submissions=judged.submissions,
        comparisons=judged.comparisons,
        **{name: judged.counted(name, evidence.kind) for name in COUNTED},
    )


def _record(rate: WinRate) -> ModelRecord:
    return ModelRecord(
        model=rate.model,
        wins=rate.wins,
        ties=rate.ties,
        losses=rate.losses,
        win=rate.win,
        win_or_tie=rate.win_or_tie,
        half_tie=rate.half_tie,
    )


def _breakdowns(outcomes: Outcomes, beside: Hand) -> Callable[[], tuple[Breakdown, ...]]:
    """Begin with the breakdowns, the one of most levels last; what comes back waits for all of them."""
    columns = {
        name: column for name, column in (outcomes.groups or {}).items() if _levels(column) >= SMALLEST_BREAKDOWN
    }
    begun = {
        name: beside(cell_rates, replace(outcomes, groups={name: columns[name]}), [name], "win_or_tie")
        for name in sorted(columns, key=lambda name: _levels(columns[name]))
    }

    def rated() -> tuple[Breakdown, ...]:
        rates = {name: begun[name]() for name in reversed(begun)}
        return tuple(
            Breakdown(title=BREAKDOWNS[name], by=(name,), cells=tuple(map(_cell, rates[name]))) for name in columns
        )

    return rated


def _levels(column: Coded) -> int:
    """How many words really stand in a column."""
    return int(np.count_nonzero(np.bincount(column.codes[column.codes >= 0])))


def _cell(cell: CellRate) -> CellRecord:
    return CellRecord(
        model=cell.model,
        levels=cell.levels,
        wins=cell.wins,
        ties=cell.ties,
        losses=cell.losses,
        win_or_tie=cell.rate,
        band=cell.band,
        pooled=cell.pooled,
    )


def _groups(evidence: Evidence) -> list[FigureGroup]:
    """The other chapters; one that has no data is left out, and the methods say what was not asked."""
    return [group for group in (chapter(evidence) for chapter in CHAPTERS) if group is not None]
