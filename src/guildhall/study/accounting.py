"""Holding a study's judges to account, training a calibrator on its judgments, and taking preference data out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from guildhall.analysis.accountability import Account, account, ratings_table
from guildhall.analysis.evidence import Evidence, evidence_from
from guildhall.analysis.judge_gain import agreement_gain
from guildhall.analysis.ratings_table import ratings_from_table
from guildhall.analysis.tables import encode
from guildhall.domain.authors import ModelRun
from guildhall.domain.estimates import Estimate
from guildhall.domain.pair_scores import PairScore
from guildhall.domain.submissions import Submission
from guildhall.errors import NothingJudged
from guildhall.grading.judges.baselines import BASELINES
from guildhall.grading.judges.evidence import maker_of
from guildhall.grading.judges.features import sample_features
from guildhall.grading.judges.gradability import ungradable
from guildhall.study.judges import graders_of
from guildhall.study.judging import makers_of, marks_of, queued, rows_of
from guildhall.study.studies import OpenStudy


@dataclass(frozen=True)
class Accounts:
    """Every judge's account, with the tasks left out of some judge's as ungradable, and why."""

    accounts: tuple[Account, ...]
    ungradable: Mapping[str, str]
    tasks: int
    gains: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    """Judge -> other -> how much more often it agrees with people than that one: a baseline, or one that was named."""


def accounts_of(
    study: OpenStudy, names: Sequence[str] = (), *, against: str | None = None, level: float = 0.95
) -> Accounts:
    """The account of each judge that has verdicts (or of those named), on gradable tasks."""
    rows = rows_of(study)
    judges = names or sorted({row.grader for row in rows if not row.human})
    if not judges:
        raise NothingJudged("accounts of judges")
    takes = {grader.name: grader.takes for grader in graders_of(study)}
    # A judge that hears can grade tasks about sound, and is held to account for them; one that does not is not.
    out = {
        judge: ungradable(study.workspace.store, study.tasks, takes=takes.get(judge, ("image",))) for judge in judges
    }
    kept = {judge: [row for row in rows if row.task not in left_out] for judge, left_out in out.items()}
    made = tuple(account(kept[judge], judge, level=level) for judge in judges)
    spoke = {row.grader for row in rows if not row.human}
    if against is not None and against not in spoke:
        raise NothingJudged(f"a comparison with {against}")
    others = (set(BASELINES) | ({against} if against is not None else set())) & spoke
    gains = {
        judge: {other: agreement_gain(kept[judge], judge, other, level=level) for other in sorted(others - {judge})}
        for judge in judges
        if judge not in BASELINES
    }
    return Accounts(made, dict(chain.from_iterable(one.items() for one in out.values())), len(study.tasks), gains)


def study_evidence(study: OpenStudy) -> tuple[list[str], Evidence]:
    """What a trained grader can learn from a study, and the submissions it is about, row by row.

    Judges' verdicts, orders, repeats, lengths, rubric points and format findings beside people's verdicts. Constant
    verdicts are left out: there is nothing to learn from them.
    """
    rows = learnable_rows(study)
    samples = list(dict.fromkeys(row.sample for row in rows))
    store = study.workspace.store
    marks = [mark for mark, _ in marks_of(study)]
    known = sample_features(store, queued(study).comparisons, rows, marks)
    names = sorted({name for sample in samples for name in known.get(sample, {})})
    extra = {name: np.array([known.get(one, {}).get(name, np.nan) for one in samples]) for name in names}
    authors = [store.get(Submission, sample).author for sample in samples]
    families = [maker_of(one, makers_of(study)) if isinstance(one, ModelRun) else None for one in authors]
    # Samples are numbered in the order of their first appearance, since every name is one sample here.
    ratings = ratings_from_table(ratings_table(rows))
    return samples, evidence_from(ratings, extra, family=encode(families).codes if all(families) else None)


def learnable_rows(study: OpenStudy) -> list[PairScore]:
    """Verdicts on gradable tasks by people and by judges that look at the work."""
    out = ungradable(study.workspace.store, study.tasks)
    rows = [
        row
        for row in rows_of(study)
        if row.task not in out and row.score is not None and not row.grader.startswith("always-")
    ]
    if not any(row.human for row in rows):
        raise NothingJudged("a trained grader, which learns from people")
    return rows
