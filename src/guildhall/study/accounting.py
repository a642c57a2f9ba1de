"""Holding a study's judges to account, training a calibrator on its judgments, and taking preference data out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain

import numpy as np

from guildhall.analysis.accountability import Account, account, agreement_gain, ratings_table
from guildhall.analysis.calibrator import TrainingRows, evidence_from
from guildhall.analysis.counting import Counted
from guildhall.analysis.ratings_table import ratings_from_table
from guildhall.analysis.tables import encode
from guildhall.domain.authors import ModelRun
from guildhall.domain.estimates import Estimate
from guildhall.domain.examples import ExampleCollection
from guildhall.domain.pair_scores import PairScore
from guildhall.domain.submissions import Submission
from guildhall.errors import NothingJudged
from guildhall.grading.judges.baselines import BASELINES
from guildhall.grading.judges.example_making import collect_examples
from guildhall.grading.judges.features import maker_of, sample_features
from guildhall.study.judge_rows import JudgedWork
from guildhall.study.judging import desk_of, judged_work, makers_of, marks_of, queued
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
    """The account of each judge that has verdicts (or of those named), on tasks it can grade."""
    work = judged_work(study)
    judges = names or sorted(work.judges)
    if missing := [name for name in judges if name not in work.judges]:
        raise NothingJudged(f"the account of {missing[0]}")
    if not judges:
        raise NothingJudged("accounts of judges")
    if against is not None and against not in work.judges:
        raise NothingJudged(f"a comparison with {against}")
    others = sorted((set(BASELINES) | ({against} if against is not None else set())) & work.judges.keys())
    gains = {
        name: {other: gain_of(work, name, other, level=level) for other in others if other != name}
        for name in judges
        if name not in BASELINES
    }
    left_out = dict(chain.from_iterable(_ungradable(work.by(name)).items() for name in judges))
    return Accounts(tuple(account_of(work, name, level=level) for name in judges), left_out, len(study.tasks), gains)


def account_of(work: JudgedWork, name: str, *, level: float = 0.95) -> Account:
    """One judge's account, held against people on the tasks it can grade."""
    counted = work.by(name)
    rows, people = list(work.rows(counted)), _people_beside(work, counted)
    return account(rows, people, grader=name, coverage=work.coverage(counted), level=level)


def gain_of(work: JudgedWork, name: str, other: str, *, level: float = 0.95) -> Estimate:
    """How much more often a judge agrees with people than another does, on the tasks the first can grade."""
    mine, theirs = work.by(name), work.by(other)
    people = _people_beside(work, mine)
    return agreement_gain(list(work.rows(mine)), list(work.rows(theirs)), people, names=(name, other), level=level)


def _ungradable(counted: Counted) -> dict[str, str]:
    return {key.id: why for key, why in counted.policy.ungradable.items()}


def _people_beside(work: JudgedWork, counted: Counted) -> list[PairScore]:
    out = _ungradable(counted)
    return [row for row in work.people if row.task not in out]


def study_evidence(study: OpenStudy) -> tuple[list[str], TrainingRows]:
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
    work = judged_work(study)
    looking = [work.counted(group) for name, group in work.judges.items() if not name.startswith("always-")]
    out = {key.id for one in looking for key in one.policy.ungradable}
    people = [row for row in work.people if row.task not in out]
    if not people:
        raise NothingJudged("a trained grader, which learns from people")
    return [*people, *(row for one in looking for row in work.rows(one))]


def examples_of(study: OpenStudy, *, name: str, now: datetime) -> ExampleCollection:
    """Everything people judged so far; later judgments make another collection."""
    seed = study.file.study.seed
    with desk_of(study) as desk:
        return collect_examples(queued(study).comparisons, desk, name=name, study=study.id, seed=seed, now=now)


def examples_card(made: ExampleCollection) -> str:
    """What the collection holds and how it is used."""
    said = Counter(one.verdict for one in made.examples)
    tasks = len({one.task for one in made.examples})
    with_reason = sum(bool(one.reason) for one in made.examples)
    return f"""# {made.name}, version {made.version}

Judged examples for the prompts of automatic judges, collected {made.made_at:%Y-%m-%d} from study {made.study}.

- {len(made.examples)} pairs of {tasks} tasks, judged by people of the kind: {", ".join(made.grader_kinds)}.
- They said A {said["A"]} times, B {said["B"]} times, tie {said["TIE"]} times; {with_reason} pairs come with a
  person's reason.
- Tasks are dealt to {made.folds} folds by seed {made.seed}. A judge at work on a task is shown no example of the same
  task, of a task in the same fold, or with a submission, file or message in common.

Whether examples help a judge is a question of its own: let it judge with and without them, and ask
`guildhall grade account --judge WITH --against WITHOUT`.
"""
