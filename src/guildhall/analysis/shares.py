"""Shares of ratings that fall into a class, tasks and graders crossed: severity, acceptance, reasons."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.crossed import SHARE_OF_CELLS, crossed
from guildhall.analysis.intervals import share_interval
from guildhall.domain.estimates import Estimate
from guildhall.errors import ImpossibleValue, NothingJudged

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


def clustered_share(
    hit: NDArray[np.bool_],
    cluster: Codes,
    *,
    what: str,
    grader: Codes | None = None,
    weight: Floats | None = None,
    level: float = 0.95,
    unit: str = "task",
    per: float = 1.0,
) -> Estimate:
    """The (weighted) share of rows that are hits, times `per`; rows of one cluster go together.

    `grader` names whoever gave each row. Weights are inverse sampling rates: a control drawn one in ten counts for ten.
    """
    if not len(hit):
        raise NothingJudged(what)
    weights = np.ones(len(hit)) if weight is None else weight
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ImpossibleValue("a weight", "0, negative or NaN", allowed="above 0 on every row")
    value = float(weights @ hit) / float(weights.sum())
    errors = weights * (hit - value) / weights.sum()
    spread = crossed(errors, cluster, grader, weight=weights, share_of_cells=SHARE_OF_CELLS)
    effective_rows = float(weights.sum()) ** 2 / float(weights @ weights)
    found = share_interval(
        value,
        spread,
        n_judgments=max(spread.n_tasks, int(effective_rows)),
        level=level,
        unit=unit,
    )
    if found["interval"] is not None:
        found["interval"] = (found["interval"][0] * per, found["interval"][1] * per)
    return Estimate(
        value=value * per,
        level=level,
        estimand=what,
        unit=unit,
        n_tasks=spread.n_tasks if unit == "task" else None,
        n_judgments=len(hit),
        **found,
    )


@dataclass(frozen=True)
class SeverityRows:
    """Severity ratings: class codes into `classes`, the rated sample and its task, and how likely it was drawn."""

    classes: tuple[str, ...]
    rating: Codes
    task: Codes
    sample: Codes
    eligible: NDArray[np.bool_]
    drawn: Floats
    rater: Codes | None = None


def severity_shares(rows: SeverityRows, *, level: float = 0.95) -> dict[str, Estimate]:
    """Of lost deliverables (the eligible ones), the share of ratings in each class, clustered by task and by rater."""
    lost = rows.eligible
    rater = None if rows.rater is None else rows.rater[lost]
    return {
        name: clustered_share(
            rows.rating[lost] == code,
            rows.task[lost],
            grader=rater,
            what=f"share of ratings {name!r} among lost deliverables",
            level=level,
        )
        for code, name in enumerate(rows.classes)
    }


def per_hundred_deliverables(rows: SeverityRows, name: str, *, level: float = 0.95) -> Estimate:
    """How many of 100 deliverables, lost or not, are rated `name`: controls are weighted back by how they were drawn.

    Each sample's raters share its weight, so a sample rated twice does not count twice.
    """
    _, at = np.unique(rows.sample, return_inverse=True)
    weight = 1 / rows.drawn / np.bincount(at)[at]
    return clustered_share(
        rows.rating == rows.classes.index(name),
        rows.task,
        grader=rows.rater,
        what=f"deliverables rated {name!r} per 100",
        weight=weight,
        level=level,
        per=100.0,
    )
