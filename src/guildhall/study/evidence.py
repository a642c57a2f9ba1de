"""What a report rests on: the rows one kind of grader gave, against one baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.tables import Table
from guildhall.domain.estimates import Estimate
from guildhall.domain.findings import Figure
from guildhall.domain.studies import Extension, Study
from guildhall.errors import NothingJudged
from guildhall.store.workspace import Workspace
from guildhall.study.beside import Hand, when_asked
from guildhall.study.judged import Judged, judged_rows
from guildhall.study.rows import Rows
from guildhall.study.tasks_and_models import tasks_and_models
from guildhall.study.waves import Drift, drift_of, split_anchors


@dataclass(frozen=True)
class Evidence:
    """A study's judgments by one kind of grader: kinds are never pooled silently."""

    workspace: Workspace
    study: Study
    baseline: str
    kind: str
    other_kinds: tuple[str, ...]
    judged: Judged
    rows: Rows
    drift: Drift | None = None
    """What the anchors of a later wave say."""
    earlier: Evidence | None = None
    """The earlier wave where the two may be pooled: its rows are among these."""

    def waves(self) -> Iterator[Study]:
        """The studies whose rows are here, the earliest first."""
        if self.earlier is not None:
            yield from self.earlier.waves()
        yield self.study

    @cached_property
    def outcomes(self) -> Outcomes:
        """The rows as arrays, with every column a breakdown may ask for."""
        return self.rows.outcomes()

    @cached_property
    def tasks_and_models(self) -> Table | None:
        """Each model on each task as one row, for speed and cost; None where nothing is known of either."""
        return tasks_and_models(self.workspace.store, self.rows)


def gather_evidence(
    workspace: Workspace, study: Study, *, baseline: str | None, grader_kind: str | None, beside: Hand = when_asked
) -> Evidence:
    """The evidence of one kind of grader: the one asked for, else people before programs; as baseline the study's."""
    baseline = baseline or study.baseline
    judged = judged_rows(workspace.store, study.id, baseline=baseline, beside=beside)
    kinds = judged.rows.kinds
    kind = grader_kind or (kinds[0] if kinds else "")
    rows = judged.rows.of_kind(kind)
    if not len(rows):
        raise NothingJudged(f"study {study.id!r} against {baseline!r}", n_excluded=judged.counted("failures"))
    others = tuple(other for other in kinds if other != kind)
    alone = Evidence(workspace, study, baseline, kind, others, judged, rows)
    return alone if study.extends is None else _with_earlier_wave(alone, study.extends)


def _with_earlier_wave(later: Evidence, extension: Extension) -> Evidence:
    """A later wave with its drift: anchors out of its own rows, the earlier wave's in where the two may be pooled."""
    base = later.workspace.store.get(Study, extension.key)
    earlier = gather_evidence(later.workspace, base, baseline=later.baseline, grader_kind=later.kind)
    anchors, _ = split_anchors(later.rows, extension)
    drift = drift_of(earlier.rows, anchors, extension, later=later.study.id)
    _, own = split_anchors(later.judged.rows, extension)
    judged = replace(later.judged, rows=own)
    if drift.pooled:
        judged = earlier.judged.and_also(judged)
    pooled = earlier if drift.pooled else None
    return replace(later, rows=judged.rows.of_kind(later.kind), judged=judged, drift=drift, earlier=pooled)


def figure(name: str, measured: Estimate, words: str = "") -> Figure:
    return Figure(name=name, estimate=measured, words=words)


def codes(names: Sequence[str]) -> NDArray[np.intp]:
    """Names as whole numbers, for estimators that cluster."""
    return np.unique(names, return_inverse=True)[1].astype(np.intp)
