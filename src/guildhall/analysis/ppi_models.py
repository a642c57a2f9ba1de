"""Prediction-powered win rates model by model: the grader's error differs by model, so nothing is shared but tasks.

A model with no human labels gets a value transported from the others, and no interval: that its error is like
theirs is an assumption no label supports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from guildhall.analysis.files import column_names, read_table
from guildhall.analysis.outcomes import to_halves
from guildhall.analysis.ppi import FEWEST_LABELLED, Codes, Floats, PpiMean, PpiRows, ppi_mean
from guildhall.analysis.ppi_ratings import PairRows
from guildhall.analysis.rated import CONVENTIONS
from guildhall.analysis.tables import Coded, renumber
from guildhall.domain.estimates import Convention, Estimate
from guildhall.errors import ImpossibleValue, NothingJudged, NothingToCompare, UnknownName


@dataclass(frozen=True)
class PpiTable:
    """Rows of all models; `human` is NaN where nobody judged, `model`, `task`, `stratum` are codes."""

    models: tuple[str, ...]
    model: Codes
    auto: Floats
    human: Floats
    task: Codes | None = None
    probability: Floats | None = None
    stratum: Codes | None = None
    grader: Codes | None = None
    n_excluded: int = 0

    def of(self, model: int, convention: Convention) -> PpiRows:
        mine = self.model == model
        return PpiRows(
            auto=by_convention(self.auto[mine], convention),
            human=by_convention(self.human[mine], convention, what="human"),
            task=None if self.task is None else self.task[mine],
            probability=None if self.probability is None else self.probability[mine],
            stratum=None if self.stratum is None else self.stratum[mine],
            grader=None if self.grader is None else self.grader[mine],
        )


@dataclass(frozen=True)
class ModelPpi:
    """One model's estimate; `powered` is absent where the value is transported."""

    model: str
    estimate: Estimate
    classical: Estimate | None
    lam: float | None
    effective_human_n: float | None
    n_human: int
    n_auto: int
    powered: PpiMean | None


def named_convention(word: str) -> Convention:
    """The convention a user named, or a refusal that lists the names."""
    for name in CONVENTIONS:
        if name == word:
            return name
    raise UnknownName("convention", word, known=list(CONVENTIONS))


def by_convention(scores: Floats, convention: Convention, *, what: str | None = None) -> Floats:
    """Scores in {0, 0.5, 1} as what the convention counts; other scores (a judge's mean verdict) only as they are.

    With `what` other scores are refused: a mean of several grades is neither won nor tied.
    """
    if convention == "half_tie":
        return scores
    if what is not None and (other := scores[~np.isnan(scores) & ~np.isin(scores, (0.0, 0.5, 1.0))]).size:
        allowed = f"0, 0.5 or 1 for {convention}; a mean of several grades has no ties to count, half_tie takes it"
        raise ImpossibleValue(what, other[0], allowed=allowed)
    _, tie, _ = CONVENTIONS[convention]
    counted = np.where(scores == 0.5, tie, scores)
    return np.where(np.isnan(scores), np.nan, counted)


def ppi_by_model(
    table: PpiTable, *, convention: Convention = "half_tie", folds: int = 0, level: float = 0.95
) -> list[ModelPpi]:
    """Every model's prediction-powered rate, in the order of `table.models`."""
    rows = {model: table.of(index, convention) for index, model in enumerate(table.models)}
    powered = {
        model: ppi_mean(one, folds=folds, level=level, what=f"{convention} rate of {model}")
        for model, one in rows.items()
        if one.labelled.sum() >= FEWEST_LABELLED
    }
    if not powered:
        raise NothingToCompare("prediction-powered rates: no model has human labels")
    return [
        _known(model, powered[model], table.n_excluded)
        if model in powered
        else _transported(model, rows, powered, convention, table.n_excluded)
        for model in table.models
    ]


def _known(model: str, mean: PpiMean, n_excluded: int) -> ModelPpi:
    return ModelPpi(
        model=model,
        estimate=replace(mean.estimate, n_excluded=n_excluded),
        classical=replace(mean.classical, n_excluded=n_excluded),
        lam=mean.lam,
        effective_human_n=mean.effective_human_n,
        n_human=mean.n_human,
        n_auto=mean.n_auto,
        powered=mean,
    )


def _transported(
    model: str,
    rows: Mapping[str, PpiRows],
    powered: Mapping[str, PpiMean],
    convention: Convention,
    n_excluded: int,
) -> ModelPpi:
    """The automatic mean moved by the mean rectifier of the labelled models, with its leave-one-model-out error."""
    shifts = np.array([(mean.estimate.value or 0.0) - rows[name].auto.mean() for name, mean in powered.items()])
    value = float(np.clip(rows[model].auto.mean() + shifts.mean(), 0, 1))
    names = ", ".join(powered)
    if len(shifts) > 1:
        others = (shifts.sum() - shifts) / (len(shifts) - 1)
        error = f"leave-one-model-out error {np.sqrt(np.mean((shifts - others) ** 2)):.3f}"
    else:
        error = "its error is unknown with one labelled model"
    return ModelPpi(
        model=model,
        estimate=Estimate(
            value=value,
            estimand=f"{convention} rate of {model}, tasks drawn from a population",
            method=f"transported from {names}",
            n_samples=len(rows[model].auto),
            n_judgments=0,
            n_excluded=n_excluded,
            why_no_interval=f"no human labels for {model}; transported from {names}, {error}",
        ),
        classical=None,
        lam=None,
        effective_human_n=None,
        n_human=int(rows[model].labelled.sum()),
        n_auto=len(rows[model].auto),
        powered=None,
    )


def read_ppi(path: Path, *, stratum: str | None = None) -> PpiTable:
    """Rows `model, auto, human` and optionally `task, sample, probability, grader`; `human` may be empty, row by row.

    Rows without an automatic score (ungradable tasks) are outside the estimand: left out and counted.
    """
    named = (stratum,) if stratum else ()
    table = read_table(path, required=("model", "auto", "human", *named), optional=("task", "probability", "grader"))
    auto = table.numbers("auto")
    known = ~np.isnan(auto)
    if not known.any():
        raise NothingJudged("prediction-powered estimates", n_excluded=len(auto))
    model = table.coded("model")
    return PpiTable(
        models=model.names,
        model=_whole(model, "model")[known],
        auto=auto[known],
        human=table.numbers("human")[known],
        task=_whole(table.coded("task"), "task")[known] if "task" in table else None,
        probability=table.numbers("probability")[known] if "probability" in table else None,
        stratum=_whole(table.coded(stratum), stratum)[known] if stratum else None,
        grader=table.coded("grader").codes[known] if "grader" in table else None,
        n_excluded=int((~known).sum()),
    )


def read_pair_ppi(path: Path) -> PairRows:
    """Rows `left, right, auto, human` and optionally `task, grader`: scores from the left side, `human` may be empty.

    Rows without an automatic score are left out.
    """
    table = read_table(path, required=("left", "right", "auto", "human"), optional=("task", "grader"))
    auto = table.numbers("auto")
    known = ~np.isnan(auto)
    if not known.any():
        raise NothingJudged("prediction-powered ratings", n_excluded=len(auto))
    index: dict[str, int] = {}
    left, right = (renumber(table.coded(side), index)[known].astype(np.intp) for side in ("left", "right"))
    if (left < 0).any() or (right < 0).any() or (left == right).any():
        raise ImpossibleValue("left and right", "empty or the same in some row", allowed="two different models")
    human = table.numbers("human")[known]
    for scores in (auto[known], human[~np.isnan(human)]):
        to_halves(scores)
    task = _whole(table.coded("task"), "task")[known] if "task" in table else None
    grader = table.coded("grader").codes[known] if "grader" in table else None
    return PairRows(tuple(index), left, right, auto[known], human, task, grader)


def holds_pairs(path: Path) -> bool:
    """Whether the rows compare two models with each other, rather than one with the expert."""
    return {"left", "right"} <= set(column_names(path))


def _whole(column: Coded, name: str) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    if (column.codes < 0).any():
        raise ImpossibleValue(name, "empty", allowed="named on every row")
    return column.codes.astype(np.intp)
