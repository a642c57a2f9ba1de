"""What a report rests on: the rows one kind of grader gave, against one baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.measured import Measured
from guildhall.analysis.outcomes import Outcomes, outcomes_from_arrays
from guildhall.domain.findings import Figure
from guildhall.domain.studies import Study
from guildhall.errors import NothingJudged
from guildhall.store.workspace import Workspace
from guildhall.study.judged import AUTOMATIC, BREAKDOWNS, Judged, Row, judged_rows


@dataclass(frozen=True)
class Evidence:
    """A study's judgments by one kind of grader: kinds are never pooled silently."""

    workspace: Workspace
    study: Study
    baseline: str
    kind: str
    other_kinds: tuple[str, ...]
    judged: Judged
    rows: Sequence[Row]

    @cached_property
    def outcomes(self) -> Outcomes:
        """The rows as arrays, with every column a breakdown may ask for."""
        return outcomes_from_arrays(
            task=[row.task for row in self.rows],
            model=[row.model for row in self.rows],
            sample=[row.sample for row in self.rows],
            grader=[row.grader for row in self.rows],
            score=[row.score for row in self.rows],
            groups={name: [row.columns.get(name) for row in self.rows] for name in BREAKDOWNS},
        )


def gather_evidence(workspace: Workspace, study: Study, *, baseline: str, grader_kind: str | None) -> Evidence:
    """The evidence of one kind of grader: the one asked for, else people before programs."""
    judged = judged_rows(workspace.store, study.id, baseline=baseline)
    kinds = sorted({row.grader_kind for row in judged.rows}, key=lambda name: (name.startswith(AUTOMATIC), name))
    kind = grader_kind or (kinds[0] if kinds else "")
    rows = [row for row in judged.rows if row.grader_kind == kind]
    if not rows:
        raise NothingJudged(f"study {study.id!r} against {baseline!r}", n_excluded=judged.failures)
    others = tuple(other for other in kinds if other != kind)
    return Evidence(workspace, study, baseline, kind, others, judged, rows)


def figure(name: str, measured: Measured, words: str = "") -> Figure:
    return Figure(name=name, estimate=measured.to_estimate(), words=words)


def codes(names: Sequence[str]) -> NDArray[np.intp]:
    """Names as whole numbers, for estimators that cluster."""
    return np.unique(names, return_inverse=True)[1].astype(np.intp)
