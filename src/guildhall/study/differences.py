"""Two reports as one difference: models matched by name, their tasks paired by key."""

from __future__ import annotations

from collections.abc import Mapping

from guildhall import __version__
from guildhall.analysis.paired import paired_difference
from guildhall.domain.differences import ModelDifference, ReportSide, StudyDifference
from guildhall.domain.estimates import Estimate
from guildhall.domain.findings import Findings, ModelRecord, TaskRates
from guildhall.errors import InputError, NothingPaired, UnknownName
from guildhall.study.gate import ESTIMATES


def difference_between(
    first: Findings, second: Findings, *, matches: Mapping[str, str] | None = None, level: float = 0.95
) -> StudyDifference:
    """Second minus first, for each model of both; `matches` maps a name in the first report to one in the second.

    Reports by different kinds of graders, or against different baselines, measure different things: they are refused.
    """
    _same_measure(first, second)
    pairs = _pairs(first, second, matches or {})
    shared = set(_rates(first).tasks) & set(_rates(second).tasks)
    old, new = {one.model: one for one in first.headline}, {one.model: one for one in second.headline}
    return StudyDifference(
        first=_side(first),
        second=_side(second),
        baseline=second.baseline,
        tasks_shared=len(shared),
        models=tuple(
            ModelDifference(
                model=model,
                against=against,
                first=_printed(old[against]),
                second=_printed(new[model]),
                difference={name: _difference(first, second, against, model, name, level) for name in ESTIMATES},
            )
            for against, model in pairs.items()
        ),
        only_first=tuple(name for name in old if name not in pairs),
        only_second=tuple(name for name in new if name not in pairs.values()),
        version=__version__,
    )


def _same_measure(first: Findings, second: Findings) -> None:
    for what, one, other in (
        ("baseline", first.baseline, second.baseline),
        ("kind of graders", first.grader_kind, second.grader_kind),
    ):
        if one != other:
            raise InputError(
                f"{first.study!r} and {second.study!r} differ in their {what} ({one}, {other}), so a difference "
                f"between them would mix two things; write both reports with the same --baseline and --graders"
            )


def _pairs(first: Findings, second: Findings, matches: Mapping[str, str]) -> dict[str, str]:
    """Old name -> new name: as told, then where the names are the same."""
    old, new = [one.model for one in first.headline], [one.model for one in second.headline]
    for name, known, study in (
        *((name, old, first.study) for name in matches),
        *((name, new, second.study) for name in matches.values()),
    ):
        if name not in known:
            raise UnknownName(f"model in the report on {study}", name, known=known)
    same = {name: name for name in old if name in new and name not in matches and name not in matches.values()}
    pairs = {**matches, **same}
    if len(set(pairs.values())) < len(pairs):
        raise InputError("two models of the first report are matched with one of the second; match each once")
    return pairs


def _difference(first: Findings, second: Findings, against: str, model: str, name: str, level: float) -> Estimate:
    told = (f"{name} of {model} in {second.study}", f"{name} of {against} in {first.study}")
    after, before = _rates(second).of(model, name), _rates(first).of(against, name)
    try:
        return paired_difference(after, before, names=told, level=level)
    except NothingPaired as error:
        return Estimate(
            value=None,
            estimand=f"{told[0]} minus {told[1]}, mean over tasks",
            method="none",
            level=level,
            n_tasks=0,
            n_excluded=len(after) + len(before),
            why_no_interval=str(error),
        )


def _rates(findings: Findings) -> TaskRates:
    if findings.task_rates is None:
        raise InputError(f"the report on {findings.study!r} holds no rates by task; write it again with this version")
    return findings.task_rates


def _side(findings: Findings) -> ReportSide:
    return ReportSide(
        study=findings.study,
        title=findings.title,
        design_digest=findings.design_digest,
        grader_kind=findings.grader_kind,
        simulated=findings.simulated,
        tasks=len(_rates(findings).tasks),
    )


def _printed(record: ModelRecord) -> dict[str, Estimate]:
    return {"win": record.win, "win_or_tie": record.win_or_tie, "half_tie": record.half_tie}
