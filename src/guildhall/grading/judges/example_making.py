"""Making a collection of judged examples: every pair of a study that people judged, as they saw it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import combinations
from statistics import fmean
from typing import Any, Literal

from guildhall.domain.authors import ModelRun, Person
from guildhall.domain.examples import ExampleCollection, JudgedExample
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.values import Digest, Id
from guildhall.errors import NothingJudged, UnknownName
from guildhall.grading.judges.desk import JudgeDesk
from guildhall.judging.examples import traces_of

_LONGEST_SIDE = 20_000
_LONGEST_REASON = 600


def collect_examples(
    comparisons: Sequence[Comparison], desk: JudgeDesk, *, name: Id, study: Id, seed: int, now: datetime
) -> ExampleCollection:
    """All pairs people judged, each with what they said taken together. No author is in any of it."""
    examples: list[JudgedExample] = []
    kinds: set[str] = set()
    for comparison in comparisons:
        people = _people(comparison, desk)
        kinds |= {str(one.grader.grader_kind) for one in people if isinstance(one.grader, Person)}
        examples += _examples(comparison, people, desk)
    if not examples:
        raise NothingJudged("a collection of examples, which people must have judged")
    return ExampleCollection(
        name=name,
        study=study,
        examples=tuple(examples),
        seed=seed,
        grader_kinds=tuple(sorted(kinds)),
        made_at=now,
    )


def _people(comparison: Comparison, desk: JudgeDesk) -> list[Judgment]:
    found = desk.workspace.store.find(Judgment, comparison=comparison.key)
    replaced = {one.replaces for one in found}
    return [
        one
        for one in found
        if isinstance(one.grader, Person) and one.ranks is not None and one.planned and one.key not in replaced
    ]


def _examples(comparison: Comparison, people: Sequence[Judgment], desk: JudgeDesk) -> Iterator[JudgedExample]:
    if not people:
        return
    # In the order of the first who judged: reasons speak of A and B.
    for pair in combinations(people[0].order, 2):
        scores = [outcome.score for one in people if (outcome := one.outcome(*pair)) is not None]
        verdict: Literal["A", "B", "TIE"] = "TIE" if fmean(scores) == 0.5 else "A" if fmean(scores) > 0.5 else "B"
        works = [desk.prepared(key) for key in pair]
        with_text = all(work.text.strip() for work in works)
        sides = [_text(key, desk, with_text=with_text) for key in pair]
        yield JudgedExample(
            task=comparison.task,
            brief=desk.task_of(comparison).brief,
            sides=(sides[0], sides[1]),
            verdict=verdict,
            reason=_reason(pair, verdict, people, desk),
            people=len(scores),
            digests=tuple(sorted(set().union(*(traces_of(key, desk.prepared(key)) for key in pair)))),
        )


def _text(key: Digest, desk: JudgeDesk, *, with_text: bool) -> str:
    """A side as text, under the names graders see; the message only where graders see it."""
    work = desk.prepared(key)
    parts = [
        f"[{number}{file.ending}]\n{desk.read_blob(file.text).decode(errors='replace') if file.text else '(no text)'}"
        for number, file in enumerate(work.files, 1)
    ]
    message = [work.text.strip()] if work.text.strip() and (with_text or not work.files) else []
    return "\n\n".join([*message, *parts])[:_LONGEST_SIDE]


def _reason(pair: tuple[Digest, Digest], verdict: str, people: Sequence[Judgment], desk: JudgeDesk) -> str:
    """One person's words for the common verdict, where they fit the order shown and guess at no author's name."""
    score = {"A": 1.0, "TIE": 0.5, "B": 0.0}[verdict]
    names = [word.casefold() for key in pair for word in _author_words(key, desk)]
    for one in people:
        outcome = one.outcome(*pair)
        fits = one.order == pair and outcome is not None and outcome.score == score
        if fits and one.reason.strip() and not any(name in one.reason.casefold() for name in names):
            return one.reason.strip()[:_LONGEST_REASON]
    return ""


def _author_words(key: Digest, desk: JudgeDesk) -> tuple[str, ...]:
    author = desk.submission(key).author
    return (author.name, author.model, author.model.rpartition("/")[2]) if isinstance(author, ModelRun) else ()


SHAPES = ("chat", "reward")


def preference_rows(comparisons: Sequence[Comparison], desk: JudgeDesk, *, shape: str) -> Iterator[dict[str, Any]]:
    """One row for every pair of submissions on which people, taken together, prefer one.

    `chat`: prompt, chosen and rejected as messages. `reward`: the same as plain texts, with the margin between 0 and 1.
    Ties and even splits give no row.
    """
    if shape not in SHAPES:
        raise UnknownName("shape of preference data", shape, known=list(SHAPES))
    for comparison in comparisons:
        for first, second, margin in _preferences(comparison, desk):
            prompt = desk.task_of(comparison).brief
            chosen, rejected = _reply(first, desk), _reply(second, desk)
            if shape == "reward":
                yield {"prompt": prompt, "chosen": chosen, "rejected": rejected, "margin": margin}
            else:
                yield {
                    "prompt": [{"role": "user", "content": prompt}],
                    "chosen": [{"role": "assistant", "content": chosen}],
                    "rejected": [{"role": "assistant", "content": rejected}],
                }


def _preferences(comparison: Comparison, desk: JudgeDesk) -> Iterator[tuple[str, str, float]]:
    judgments = desk.workspace.store.find(Judgment, comparison=comparison.key)
    replaced = {judgment.replaces for judgment in judgments}
    people = [one for one in judgments if isinstance(one.grader, Person) and one.key not in replaced]
    made = comparison.submissions
    for index, first in enumerate(made):
        for second in made[index + 1 :]:
            scores = [outcome.score for one in people if (outcome := one.outcome(first, second)) is not None]
            margin = 2 * sum(scores) / len(scores) - 1 if scores else 0.0
            if margin:
                yield (first, second, margin) if margin > 0 else (second, first, -margin)


def _reply(key: str, desk: JudgeDesk) -> str:
    """A submission as text: its files under neutral names, then its message."""
    work = desk.prepared(key)
    parts = []
    for number, file in enumerate(work.files, 1):
        body = desk.read_blob(file.text).decode(errors="replace") if file.text else "(no text)"
        parts.append(f"### file-{number}{file.ending}\n\n{body}")
    return "\n\n".join([*parts, *([work.text.strip()] if work.text.strip() else [])])
