"""What a study's judgments say: the headline, breakdowns, agreement, order, blinding, severity, time, calibration."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from guildhall import __version__
from guildhall.analysis.agreement import agreement
from guildhall.analysis.blinding import GuessRows, blinding_index
from guildhall.analysis.breakdown import breakdown
from guildhall.analysis.calibration import calibrate
from guildhall.analysis.measured import Measured
from guildhall.analysis.outcomes import Outcomes, outcomes_from_arrays, to_halves
from guildhall.analysis.ratings_table import Ratings
from guildhall.analysis.shares import clustered_share
from guildhall.analysis.t_intervals import clustered_mean, t_estimate
from guildhall.analysis.win_rates import WinRate, win_rates
from guildhall.domain.findings import Breakdown, CellRecord, Counts, Figure, FigureGroup, Findings, ModelRecord
from guildhall.domain.judgments import Severity, SeverityRating
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.errors import NotEnoughData, NothingJudged
from guildhall.store.workspace import Workspace
from guildhall.study.judged import AUTOMATIC, BREAKDOWNS, Judged, Row, judged_rows
from guildhall.study.methods import methods_of

SMALLEST_BREAKDOWN = 2
"""A column with one value breaks nothing down."""


def findings_of(
    workspace: Workspace, study: Study, *, baseline: str = "expert", grader_kind: str | None = None
) -> Findings:
    """Everything the report shows, for one kind of grader: kinds are never pooled silently."""
    judged = judged_rows(workspace.store, study.id, baseline=baseline)
    kinds = sorted({row.grader_kind for row in judged.rows}, key=lambda name: (name.startswith(AUTOMATIC), name))
    kind = grader_kind or (kinds[0] if kinds else "")
    rows = [row for row in judged.rows if row.grader_kind == kind]
    if not rows:
        raise NothingJudged(f"study {study.id!r} against {baseline!r}", n_excluded=judged.failures)
    outcomes = _outcomes(rows)
    others = [other for other in kinds if other != kind]
    return Findings(
        study=study.id,
        title=study.title,
        design_digest=study.content_digest(),
        seed=study.seed,
        baseline=baseline,
        grader_kind=kind,
        simulated=kind == "simulated",
        counts=_counts(workspace, study, judged),
        headline=tuple(_record(rate) for rate in win_rates(outcomes)),
        breakdowns=tuple(_breakdowns(outcomes)),
        groups=tuple(_groups(workspace, study, rows)),
        methods=methods_of(study, kind=kind, baseline=baseline),
        notes=tuple(f"{other} graders judged too; they are not pooled with {kind} graders here" for other in others),
        version=__version__,
    )


def _outcomes(rows: Sequence[Row]) -> Outcomes:
    return outcomes_from_arrays(
        task=[row.task for row in rows],
        model=[row.model for row in rows],
        sample=[row.sample for row in rows],
        grader=[row.grader for row in rows],
        score=[row.score for row in rows],
        groups={name: [row.columns.get(name) for row in rows] for name in BREAKDOWNS},
    )


def _counts(workspace: Workspace, study: Study, judged: Judged) -> Counts:
    tasks = [workspace.store.get(Task, key) for key in study.tasks]
    return Counts(
        tasks=len(tasks),
        tasks_compared=len(judged.tasks),
        tasks_without_expert=sum(not task.expert_files and not task.expert_text for task in tasks),
        submissions=len(judged.submissions),
        comparisons=judged.comparisons,
        judgments=judged.judgments,
        failures=judged.failures,
        surplus=judged.surplus,
        omissions=judged.omissions,
    )


def _record(rate: WinRate) -> ModelRecord:
    return ModelRecord(
        model=rate.model,
        wins=rate.wins,
        ties=rate.ties,
        losses=rate.losses,
        win=rate.win.to_estimate(),
        win_or_tie=rate.win_or_tie.to_estimate(),
        half_tie=rate.half_tie.to_estimate(),
    )


def _breakdowns(outcomes: Outcomes) -> list[Breakdown]:
    made = []
    for name, title in BREAKDOWNS.items():
        column = (outcomes.groups or {})[name]
        if len(set(column.codes[column.codes >= 0].tolist())) < SMALLEST_BREAKDOWN:
            continue
        cells = tuple(
            CellRecord(
                model=cell.model,
                levels=cell.levels,
                wins=cell.raw.wins,
                ties=cell.raw.ties,
                losses=cell.raw.losses,
                win_or_tie=cell.raw.win_or_tie.to_estimate(),
                band=cell.band["win_or_tie"],
                pooled=cell.pooled["win_or_tie"].to_estimate() if "win_or_tie" in cell.pooled else None,
            )
            for cell in breakdown(outcomes, [name])
        )
        made.append(Breakdown(title=title, by=(name,), cells=cells))
    return made


def _groups(workspace: Workspace, study: Study, rows: Sequence[Row]) -> list[FigureGroup]:
    """The other chapters; one that has no data is left out, and the methods say what was not asked."""
    chapters: tuple[Callable[[], FigureGroup | None], ...] = (
        lambda: _agreement(rows),
        lambda: _order(rows),
        lambda: _blinding(rows),
        lambda: _severity(workspace, study),
        lambda: _time(rows),
        lambda: _calibration(rows),
    )
    return [group for group in (chapter() for chapter in chapters) if group is not None]


def _figure(name: str, measured: Measured, words: str = "") -> Figure:
    return Figure(name=name, estimate=measured.to_estimate(), words=words)


def _agreement(rows: Sequence[Row]) -> FigureGroup | None:
    samples = [f"{row.task}/{row.model}/{row.sample}" for row in rows]
    if len(set(samples)) == len(samples):
        return None
    found = agreement(_ratings(rows, samples)).human_human
    words = (
        "How often two graders of one deliverable agree: 1 minus the gap between their verdicts, averaged over pairs."
    )
    return FigureGroup(title="Agreement between graders", words=words, figures=(_figure("between graders", found),))


def _ratings(rows: Sequence[Row], samples: Sequence[str]) -> Ratings:
    _, first, sample = np.unique(samples, return_index=True, return_inverse=True)
    models, model = np.unique([rows[at].model for at in first], return_inverse=True)
    raters, rater = np.unique([row.grader for row in rows], return_inverse=True)
    return Ratings(
        models=tuple(models.tolist()),
        raters=tuple(raters.tolist()),
        sample=sample,
        rater=rater.astype(np.int32),
        is_human=np.ones(len(rows), dtype=np.bool_),
        halves=to_halves(np.array([row.score for row in rows])),
        model=model.astype(np.int32),
        task=_codes([rows[at].task for at in first]).astype(np.int32),
    )


def _order(rows: Sequence[Row]) -> FigureGroup:
    task = _codes([row.task for row in rows])
    first = np.array([row.model_place == 0 for row in rows])
    score = np.array([row.score for row in rows])
    figures = [
        _figure(
            name,
            clustered_share(score[which] > 0.5, task[which], what=f"share of wins when the model's work was {name}"),
        )
        for name, which in (("at A", first), ("elsewhere", ~first))
        if which.any()
    ]
    words = "Orders are balanced by design, so a difference here is a habit of the graders and not of the result."
    return FigureGroup(title="Order of the sides", words=words, figures=tuple(figures))


def _blinding(rows: Sequence[Row]) -> FigureGroup | None:
    asked = [row for row in rows if row.guess is not None]
    if not asked:
        return None
    figures = []
    for model in sorted({row.model for row in asked}):
        mine = [row for row in asked if row.model == model]
        index = blinding_index(
            GuessRows(
                guess=np.array([row.guess for row in mine], dtype=np.int8),
                preferred=np.array([row.score > 0.5 for row in mine]),
                grader=_codes([row.grader for row in mine]),
            )
        )
        figures += [
            _figure(f"{model}: {where}", measured) for where, measured in index.items() if measured.value is not None
        ]
    words = "Right minus wrong guesses of which side a person made: 0 when the blind held, 1 when it hid nothing."
    return FigureGroup(title="Did the blind hold?", words=words, figures=tuple(figures))


def _severity(workspace: Workspace, study: Study) -> FigureGroup | None:
    ratings = [rating for rating in workspace.store.each(SeverityRating, study=study.id) if not rating.control]
    if not ratings:
        return None
    task = _codes([workspace.store.get(Submission, rating.submission).task for rating in ratings])
    figures = tuple(
        _figure(
            str(kind), clustered_share(np.array([one.severity is kind for one in ratings]), task, what=f"share: {kind}")
        )
        for kind in Severity
    )
    words = "Of deliverables that lost, how bad they were, by experts who had not judged the pair."
    return FigureGroup(title="How bad the losses are", words=words, figures=figures)


def _time(rows: Sequence[Row]) -> FigureGroup | None:
    first = [row for row in rows if row.active_s is not None and row.exposure == 1]
    if not first:
        return None
    minutes = np.array([row.active_s or 0.0 for row in first]) / 60
    mean = clustered_mean(minutes, _codes([row.task for row in first]))
    found = t_estimate(
        mean.value,
        mean.error,
        n_clusters=mean.n_clusters,
        df=mean.df,
        estimand="minutes of active time at a grader's first sight of a task",
        method="t over tasks",
        n_judgments=len(first),
    )
    words = (
        "Only a grader's first meeting with a task counts as review time; time without signs of activity is unknown."
    )
    return FigureGroup(title="Time to review", words=words, figures=(_figure("minutes", found),))


def _calibration(rows: Sequence[Row]) -> FigureGroup | None:
    stated = [row for row in rows if row.confidence is not None]
    if not stated:
        return None
    figures = []
    for model in sorted({row.model for row in stated}):
        mine = [row for row in stated if row.model == model]
        try:
            found = calibrate(
                np.array([(row.confidence or 0.0) / 100 for row in mine]),
                np.array([row.score for row in mine]),
                _codes([row.task for row in mine]),
                against="half-tie win rate against the baseline",
            )
        except NotEnoughData:
            continue
        figures += [
            _figure(f"{model}: Brier score", found.brier),
            _figure(f"{model}: over-confidence", found.overconfidence),
        ]
    words = "Stated confidence claims that the work is right, not that it beats an expert: read it with that in mind."
    return (
        FigureGroup(title="Stated confidence against outcomes", words=words, figures=tuple(figures))
        if figures
        else None
    )


def _codes(names: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.unique(names, return_inverse=True)[1].astype(np.intp)
