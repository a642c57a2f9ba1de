"""Verdicts of people and judges on the same pairs, as rows that can be counted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from guildhall.domain.authors import Expert, ModelGrader, ModelRun, Person
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.pair_scores import PairScore
from guildhall.domain.prepared import Prepared
from guildhall.domain.submissions import Submission
from guildhall.judging.preparing import VERSION
from guildhall.store.records import Store


def pair_scores(
    store: Store,
    comparisons: Sequence[Comparison],
    *,
    makers: Mapping[str, str],
    judge_makers: Mapping[str, str],
    current: Mapping[str, AbstractSet[str]] | None = None,
) -> Iterator[PairScore]:
    """One row for every model in every current verdict on these comparisons, failures included.

    `makers` names authors' families and `judge_makers` judges', by name; where one is missing, the part of its model
    string before the slash stands for it. Surplus judgments of people take no part; neither do verdicts of a judge
    named in `current` under other settings than it has now: name -> the grader keys that count.
    """
    for comparison in comparisons:
        made = {key: store.get(Submission, key) for key in comparison.submissions}
        expert = next((key for key, one in made.items() if isinstance(one.author, Expert)), None)
        if expert is None:
            continue
        words = {key: _words(store, key) for key in made}
        judgments = store.find(Judgment, comparison=comparison.key)
        replaced = {judgment.replaces for judgment in judgments if judgment.replaces}
        for judgment in judgments:
            if judgment.key in replaced or not judgment.planned or _outdated(judgment, current or {}):
                continue
            for key, submission in made.items():
                author = submission.author
                if isinstance(author, ModelRun):
                    ratio = _ratio(words[key], words[expert])
                    kin = _kin(judgment, author, makers, judge_makers)
                    yield _row(judgment, comparison, key, expert, author.name, ratio=ratio, kin=kin)


def _row(
    judgment: Judgment,
    comparison: Comparison,
    key: str,
    expert: str,
    model: str,
    *,
    ratio: float | None,
    kin: bool | None,
) -> PairScore:
    outcome = judgment.outcome(key, expert)
    first = judgment.order.index(key) < judgment.order.index(expert)
    return PairScore(
        task=comparison.task,
        model=model,
        sample=key,
        grader=judgment.grader.code_name if isinstance(judgment.grader, Person) else judgment.grader.name,
        human=isinstance(judgment.grader, Person),
        score=None if outcome is None else outcome.score,
        shown_first=first,
        grader_kind=str(judgment.grader.grader_kind) if isinstance(judgment.grader, Person) else "automatic",
        sweep=judgment.sweep,
        log_length_ratio=ratio,
        kin=kin,
        failure=judgment.failure,
        cost_usd=judgment.usage.cost_usd if judgment.usage else None,
        criteria=_criteria(judgment, first),
    )


def _outdated(judgment: Judgment, current: Mapping[str, AbstractSet[str]]) -> bool:
    grader = judgment.grader
    return isinstance(grader, ModelGrader) and grader.key not in current.get(grader.name, {grader.key})


def _criteria(judgment: Judgment, first: bool) -> dict[str, float]:
    """Each criterion from the model's side; steps below zero are for A."""
    if len(judgment.order) != 2:
        return {}
    sign = -1 if first else 1
    return {name: 0.5 + 0.5 * _sign(sign * step) for name, step in judgment.criteria.items() if step is not None}


def _sign(step: int) -> int:
    return (step > 0) - (step < 0)


def _words(store: Store, key: str) -> int | None:
    name = f"{key}:{VERSION}"
    if not store.has(Prepared, name):
        return None
    prepared = store.get(Prepared, name)
    return len(prepared.text.split()) + sum(file.words for file in prepared.files)


def _ratio(own: int | None, other: int | None) -> float | None:
    return None if own is None or other is None else math.log((own + 1) / (other + 1))


def _kin(
    judgment: Judgment, author: ModelRun, makers: Mapping[str, str], judge_makers: Mapping[str, str]
) -> bool | None:
    grader = judgment.grader
    if not isinstance(grader, ModelGrader):
        return None
    judge = judge_makers.get(grader.name) or _maker(grader.model)
    own = maker_of(author, makers)
    return None if judge is None or own is None else judge == own


def maker_of(author: ModelRun, makers: Mapping[str, str]) -> str | None:
    """The family an author belongs to, as far as it is known."""
    return makers.get(author.name) or _maker(author.model)


def _maker(model: str | None) -> str | None:
    return model.partition("/")[0] if model and "/" in model else None
