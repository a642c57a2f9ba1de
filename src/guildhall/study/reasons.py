"""Justifications of a study, and their codes: by people through a file, by a model, or by clusters of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from guildhall.analysis.evidence import Evidence, Need
from guildhall.analysis.reasons import CODES, cluster_reasons
from guildhall.domain.studies import Study
from guildhall.engine.oneshot import run_calls
from guildhall.engine.terms import Terms
from guildhall.errors import NothingJudged, UnreadableVerdict
from guildhall.judging.reasons import Encoder, read_reason, reason_call
from guildhall.reports.text import csv_text
from guildhall.store.workspace import Workspace
from guildhall.study.evidence import read_evidence

COLUMNS = ("judgment", "side", "coder", "label", "words")


@dataclass(frozen=True)
class Justification:
    """Why one model's work lost or won against the baseline, in the grader's words; ties have no side."""

    judgment: str
    model: str
    task: str
    side: str
    words: str


def justifications(evidence: Evidence) -> list[Justification]:
    """All that were written about a win or a loss, in the order of the pairs."""
    columns = ("judgment", "model", "task", "side", "words")
    return [Justification(*row) for row in evidence.facts[Need.JUSTIFICATIONS].select(columns).iter_rows()]


def export_reasons(workspace: Workspace, study: Study, path: Path, *, baseline: str | None, graders: str | None) -> int:
    """Write justifications without any author for people to code; the columns `coder` and `label` are theirs."""
    found = justifications(
        read_evidence(workspace, study, baseline=baseline, graders=graders, needs=[Need.JUSTIFICATIONS])
    )
    if not found:
        raise NothingJudged("reasons")
    path.write_text(csv_text(COLUMNS, ([one.judgment, one.side, "", "", one.words] for one in found)), encoding="utf-8")
    return len(found)


@dataclass(frozen=True)
class CodedByProgram:
    """What a program made of the justifications; unread replies were no verdict and are left out."""

    rows: int
    blank: int
    unread: int


def code_by_clusters(
    found: Sequence[Justification], path: Path, *, seed: int, k: int, encode: Encoder | None = None
) -> CodedByProgram:
    """Losing and winning are clustered apart: the same words mean the opposite there.

    `encode` says how close justifications are in meaning; without it, it is the words they share.
    """
    rows = []
    for side in ("lost", "won"):
        own = [one for one in found if one.side == side]
        words = [one.words for one in own]
        vectors = encode(words) if encode and own else None
        labels = cluster_reasons(words, rng=np.random.default_rng(seed), k=k, vectors=vectors) if own else []
        rows += [(one.judgment, "clusters", label) for one, label in zip(own, labels, strict=True)]
    path.write_text(csv_text(CODES, rows), encoding="utf-8")
    return CodedByProgram(len(rows), sum(not label for *_, label in rows), unread=0)


def code_by_model(
    found: Sequence[Justification], path: Path, *, workspace: Workspace, model: str, terms: Terms
) -> CodedByProgram:
    """One call a justification; asked once, however often this runs."""
    calls = {one.judgment: reason_call(model, one.words, one.side) for one in found}
    answers = run_calls(calls.values(), workspace=workspace, terms=terms)
    rows, unread = [], 0
    for judgment, call in calls.items():
        reply = answers.of(call)
        try:
            rows.append((judgment, model, read_reason(reply.text if reply else "")))
        except UnreadableVerdict:
            unread += 1
    path.write_text(csv_text(CODES, rows), encoding="utf-8")
    return CodedByProgram(len(rows), sum(not label for *_, label in rows), unread)
