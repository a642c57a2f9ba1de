"""People's judgments as preference data for fine-tuning, in two shapes in common use. No author is in any of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from guildhall.domain.authors import Person
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.errors import UnknownName
from guildhall.grading.judges.desk import Desk

SHAPES = ("chat", "reward")


def preference_rows(comparisons: Sequence[Comparison], desk: Desk, *, shape: str) -> Iterator[dict[str, Any]]:
    """One row for every pair of submissions on which people, taken together, prefer one.

    `chat`: prompt, chosen and rejected as messages. `reward`: the same as plain texts, with the margin between 0 and 1.
    Ties and even splits give no row.
    """
    if shape not in SHAPES:
        raise UnknownName("shape of preference data", shape, known=list(SHAPES))
    for comparison in comparisons:
        for first, second, margin in _preferences(comparison, desk):
            prompt = desk.task_of(comparison).brief
            chosen, rejected = _text(first, desk), _text(second, desk)
            if shape == "reward":
                yield {"prompt": prompt, "chosen": chosen, "rejected": rejected, "margin": margin}
            else:
                yield {
                    "prompt": [{"role": "user", "content": prompt}],
                    "chosen": [{"role": "assistant", "content": chosen}],
                    "rejected": [{"role": "assistant", "content": rejected}],
                }


def _preferences(comparison: Comparison, desk: Desk) -> Iterator[tuple[str, str, float]]:
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


def _text(key: str, desk: Desk) -> str:
    """A submission as text: its files under neutral names, then its message."""
    work = desk.prepared(key)
    parts = []
    for number, file in enumerate(work.files, 1):
        body = desk.read_blob(file.text).decode(errors="replace") if file.text else "(no text)"
        parts.append(f"### file-{number}{file.ending}\n\n{body}")
    return "\n\n".join([*parts, *([work.text.strip()] if work.text.strip() else [])])
