"""The naive twin: which judgments count, and what they add up to, one judgment at a time and in fractions.

It shares nothing with the package but the domain's values. Whatever the package prints of a planted store is held
against this.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from statistics import mean
from typing import NamedTuple

from guildhall.domain.authors import Expert, ModelGrader, ModelRun
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.policy import MissingRule
from guildhall.domain.submissions import OUR_FAULT, StopReason, Submission
from guildhall.domain.tasks import TaskKey
from guildhall.domain.values import Digest, Id
from tests.planted.ledger import PEOPLE, Planted, PlantedStudy, group_of

RULES = (
    "replaced",
    "set aside",
    "no baseline",
    "other graders",
    "other settings",
    "surplus",
    "excluded grader",
    "ungradable",
    "nothing to judge",
    "later exposure",
    "no verdict",
    "broken round",
)
"""In this order; a judgment is counted under the first that takes it."""


class Policy(NamedTuple):
    """What is asked for: against whom, by which graders, and what is left out."""

    baseline: str
    graders: str
    grader_keys: Collection[str] | None = None
    ungradable: Collection[TaskKey] = ()
    excluded: Collection[str] = ()
    set_aside: Collection[Digest] = ()
    first_exposure: bool = False
    missing: MissingRule | None = None


class Row(NamedTuple):
    """One model's work beside the baseline's in one judgment; `halves`: 0 lost, 1 tied, 2 won."""

    judgment: Digest
    task: TaskKey
    model: str
    sample: int
    work: Digest
    grader: str
    halves: int


class Counted(NamedTuple):
    rows: list[Row]
    left_out: dict[str, int]
    counted: int
    """How many judgments gave rows."""


class Try(NamedTuple):
    """A model's try at a task, with what came of it."""

    key: Digest
    task: Id
    model: str
    sample: int
    stop: StopReason
    empty: bool


class Judgments(NamedTuple):
    """A study's judgments with all that is needed to read them."""

    judgments: Sequence[Judgment]
    comparisons: Mapping[Digest, Comparison]
    submissions: Mapping[Digest, Submission]
    pins: Mapping[Id, TaskKey]
    tries: Sequence[Try] = ()
    """What the study's authors, and the baseline, brought to the wordings it pins; replaced ones are not among them."""
    empty: frozenset[Digest] = frozenset()
    """Those that left nothing anybody could judge."""


def count(given: Judgments, policy: Policy) -> Counted:
    """The rules one after the other, then the rows of what is left."""
    kept, left_out = list(given.judgments), dict.fromkeys(RULES, 0)
    for rule, takes in _rules(given, policy).items():
        stays = [one for one in kept if not takes(one)]
        left_out[rule], kept = len(kept) - len(stays), stays
    whole = _whole_rounds(given, kept) if policy.graders not in (*PEOPLE, "simulated") else kept
    left_out["broken round"], kept = len(kept) - len(whole), whole
    return Counted([row for one in kept for row in _rows(given, one, policy)], left_out, len(kept))


def _rules(given: Judgments, policy: Policy):
    replaced = {one.replaces for one in given.judgments if one.replaces is not None}
    surplus = _second_verdicts(given.judgments, replaced)

    def task(one: Judgment) -> TaskKey:
        return given.pins[given.comparisons[one.comparison].task]

    return {
        "replaced": lambda one: one.key in replaced,
        "set aside": lambda one: one.key in policy.set_aside,
        "no baseline": lambda one: _base(given, one, policy) is None,
        "other graders": lambda one: group_of(one.grader) != policy.graders,
        "other settings": lambda one: policy.grader_keys is not None and one.grader.key not in policy.grader_keys,
        "surplus": lambda one: not one.planned or one.key in surplus,
        "excluded grader": lambda one: one.grader.key in policy.excluded,
        "ungradable": lambda one: task(one) in policy.ungradable,
        "nothing to judge": lambda one: not list(_rows(given, one, policy)),
        "later exposure": lambda one: policy.first_exposure and (one.exposure or 1) > 1,
        "no verdict": lambda one: one.ranks is None,
    }


def _second_verdicts(judgments: Iterable[Judgment], replaced: Collection[Digest]) -> set[Digest]:
    """What a program said again at a place it had judged already: the first verdict there counts."""
    places = defaultdict(list)
    for one in judgments:
        if isinstance(one.grader, ModelGrader) and one.ranks is not None and one.key not in replaced:
            places[one.grader.key, one.comparison, one.order, one.sweep].append((one.made_at, one.key))
    return {key for said in places.values() for _, key in sorted(said)[1:]}


def _base(given: Judgments, one: Judgment, policy: Policy) -> Digest | None:
    """The baseline's work in this judgment."""
    for key in given.comparisons[one.comparison].submissions:
        author = given.submissions[key].author
        if ("expert" if isinstance(author, Expert) else author.name) == policy.baseline:
            return key
    return None


def _whole_rounds(given: Judgments, kept: Sequence[Judgment]) -> list[Judgment]:
    """Verdicts of rounds in which every order was answered; a round is one sweep over one sample."""
    said: dict[tuple[Digest, int], set[tuple[Digest, ...]]] = defaultdict(set)
    for one in kept:
        said[one.comparison, one.sweep].add(one.order)

    def is_whole(one: Judgment) -> bool:
        size = len(given.comparisons[one.comparison].submissions)
        return len(said[one.comparison, one.sweep]) == (size if size % 2 == 0 else 2 * size)

    return [one for one in kept if is_whole(one)]


def _rows(given: Judgments, one: Judgment, policy: Policy) -> Iterable[Row]:
    base, task = _base(given, one, policy), given.pins[given.comparisons[one.comparison].task]
    assert base is not None
    rank = dict(zip(one.order, one.ranks or [0] * len(one.order), strict=True))
    for key in one.order:
        author = given.submissions[key].author
        void = policy.missing is not None and (key in given.empty or base in given.empty)
        if key != base and isinstance(author, ModelRun) and not void:
            halves = 1 + (rank[key] < rank[base]) - (rank[key] > rank[base])
            yield Row(one.key, task, author.name, author.sample, key, one.grader.key, halves)


def by_rule(given: Judgments, policy: Policy, judged: Collection[Row]) -> list[Row]:
    """Tries that a rule decides: where one side, or both, left nothing to judge. Only of tasks that were reached."""
    if policy.missing is None:
        return []
    found, waiting = [], set()
    for one in given.tries:
        task = given.pins[one.task]
        if one.model == policy.baseline or task in policy.ungradable:
            continue
        fates = f"{_fate(policy, one)} {_fate_of_base(given, policy, one)}"
        if fates == "judged judged":
            waiting.add(task)
        halves = {"loss judged": 0, "judged loss": 2}.get(fates)
        if fates == "loss loss" and policy.missing.both_empty == "tie":
            halves = 1
        if halves is not None:
            found.append(Row("", task, one.model, one.sample, one.key, "", halves))
    waiting -= {row.task for row in judged}
    return [row for row in found if row.task not in waiting]


def _fate(policy: Policy, one: Try) -> str:
    assert policy.missing is not None
    return policy.missing.fate(one.stop) if one.stop in OUR_FAULT or one.empty else "judged"


def _fate_of_base(given: Judgments, policy: Policy, one: Try) -> str | None:
    if policy.baseline == "expert":
        experts = (made.task == one.task for made in given.submissions.values() if isinstance(made.author, Expert))
        return "judged" if any(experts) else None
    tries = [
        made
        for made in given.tries
        if made.task == one.task and made.model == policy.baseline and made.stop not in OUR_FAULT
    ]
    tries.sort(key=lambda made: made.sample)
    if not tries:
        return None
    return _fate(policy, tries[one.sample - 1] if one.sample <= len(tries) else tries[0])


class Figures(NamedTuple):
    """One model's record and its three rates: the mean over tasks of the mean over samples of the mean over grades."""

    wins: int
    ties: int
    losses: int
    win: Fraction
    win_or_tie: Fraction
    half_tie: Fraction


SCORES: dict[str, tuple[int | Fraction, ...]] = {
    "win": (0, 0, 1),
    "win_or_tie": (0, 1, 1),
    "half_tie": (0, Fraction(1, 2), 1),
}


def figures(rows: Iterable[Row]) -> dict[str, Figures]:
    """Each model's."""
    by_model: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_model[row.model].append(row)
    return {model: _figures(own) for model, own in by_model.items()}


def _figures(rows: Sequence[Row]) -> Figures:
    halves = Counter(row.halves for row in rows)
    rates = (_rate(rows, SCORES[name]) for name in ("win", "win_or_tie", "half_tie"))
    return Figures(halves[2], halves[1], halves[0], *rates)


def _rate(rows: Sequence[Row], scores: Sequence[int | Fraction]) -> Fraction:
    grades: dict[TaskKey, dict[int, list[Fraction]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        grades[row.task][row.sample].append(Fraction(scores[row.halves]))
    return mean(mean(mean(given) for given in samples.values()) for samples in grades.values())


def judgments_of(planted: Planted, study: PlantedStudy) -> Judgments:
    wanted = {author.key for author in study.form.authors}
    replaced = {one.replaces for one in planted.submissions.values()}
    tries = [
        Try(one.key, one.task, one.author.name, one.author.sample, one.stop, _has_nothing(one))
        for one in planted.submissions.values()
        if one.key not in replaced and isinstance(one.author, ModelRun) and one.task in study.pins
        if one.author.key in wanted or one.author.name == study.baseline
    ]
    empty = frozenset(one.key for one in tries if one.empty and one.stop not in OUR_FAULT)
    return Judgments(study.judgments, study.comparisons, planted.submissions, study.pins, tries, empty)


def _has_nothing(one: Submission) -> bool:
    """Whether a try left nothing that anybody could judge."""
    return not one.files and (one.stop.value in {"refused", "nothing delivered"} or not one.text.strip())


def policy_of(planted: Planted, study: PlantedStudy, graders: str) -> Policy:
    """The study's own policy for one group of graders: what no judge can grade is nothing to people."""
    kind, _, name = graders.partition(":")
    missing = study.form.design.plan.missing if study.form.design.plan else None
    if kind not in {"judge", "constant"}:
        return Policy(study.baseline, graders, missing=missing)
    out = {key for task, key in study.pins.items() if task in planted.ungradable}
    keys = study.judge_keys.get(name, frozenset())
    return Policy(study.baseline, graders, grader_keys=keys, ungradable=out, missing=missing)


def groups_of(planted: Planted, study: PlantedStudy) -> list[str]:
    """The groups of graders of whom something counts, in no order that means anything."""
    given = judgments_of(planted, study)
    present = sorted({group_of(one.grader) for one in study.judgments})
    return [name for name in present if count(given, policy_of(planted, study, name)).rows]
