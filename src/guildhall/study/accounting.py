"""Holding a study's judges to account, training a calibrator on its judgments, and taking preference data out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from guildhall.analysis.accountability import Account, account
from guildhall.analysis.calibrator import Evidence, evidence_from
from guildhall.analysis.ratings_table import ratings_from_table
from guildhall.analysis.tables import Floats, Table, encode
from guildhall.domain.pair_scores import PairScore
from guildhall.errors import NothingJudged
from guildhall.grading.judges.gradability import ungradable
from guildhall.study.judging import rows_of
from guildhall.study.studies import OpenStudy


@dataclass(frozen=True)
class Accounts:
    """Every judge's account, with the tasks left out as ungradable and why."""

    accounts: tuple[Account, ...]
    ungradable: Mapping[str, str]
    tasks: int


def accounts_of(study: OpenStudy, names: Sequence[str] = (), *, level: float = 0.95) -> Accounts:
    """The account of each judge that has verdicts (or of those named), on gradable tasks."""
    out = ungradable(study.workspace.store, study.tasks)
    rows = [row for row in rows_of(study) if row.task not in out]
    judges = names or sorted({row.grader for row in rows if not row.human})
    if not judges:
        raise NothingJudged("accounts of judges")
    made = tuple(account(rows, judge, level=level) for judge in judges)
    return Accounts(made, out, tasks=len(study.tasks))


def study_evidence(study: OpenStudy) -> Evidence:
    """What a calibrator can learn from a study: its judges' verdicts and lengths beside people's verdicts.

    Constant verdicts are left out: there is nothing to learn from them.
    """
    out = ungradable(study.workspace.store, study.tasks)
    rows = [
        row
        for row in rows_of(study)
        if row.task not in out and row.score is not None and not row.grader.startswith("always-")
    ]
    if not any(row.human for row in rows):
        raise NothingJudged("a calibrator, which learns from people")
    ratings = ratings_from_table(ratings_table(rows))
    # Samples are numbered in the order of their (sample, model, task) codes; each name is one sample here.
    first = {row.sample: row for row in reversed(rows)}
    ratios = np.array([first[name].log_length_ratio or 0.0 for name in dict.fromkeys(row.sample for row in rows)])
    return evidence_from(ratings, {"log length ratio": ratios})


def ratings_table(rows: Sequence[PairScore]) -> Table:
    """Rows in the columns `guildhall analyze agreement` reads."""
    columns = {
        "sample": [row.sample for row in rows],
        "model": [row.model for row in rows],
        "task": [row.task for row in rows],
        "rater": [row.grader for row in rows],
        "kind": ["human" if row.human else "auto" for row in rows],
    }
    scores: Floats = np.array([np.nan if row.score is None else row.score for row in rows])
    return Table({**{name: encode(cells) for name, cells in columns.items()}, "score": scores}, len(rows))
