"""Graders that need no model: two constant verdicts, and one that measures what a program can measure.

Every judge is shown beside them. "Always the human" is no strawman: on public board rates it agrees with people more
often than published graders do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from itertools import islice

from guildhall.domain.authors import Expert, ModelGrader
from guildhall.domain.judgments import Judgment
from guildhall.domain.prepared import Prepared
from guildhall.domain.submissions import FREE
from guildhall.domain.tasks import Task
from guildhall.errors import UnknownName
from guildhall.grading.judges.asking import Asked
from guildhall.grading.judges.desk import Faults, JudgeDesk
from guildhall.judging.preparing import asked_names

_VERSION = "1"
_AT_ONCE = 256
_TOO_CLOSE = 0.02
_WORDS = re.compile(r"[^\W_]{4,}")
_COVERED_FROM = 0.6
"""The share of an item's longer words that must occur for the item to count as covered."""

Ranks = tuple[int, ...]
Verdict = tuple[Ranks, str]


def always_human(asked: Asked, desk: JudgeDesk) -> Verdict:
    """The expert's work first, whatever it is. It knows the authors: it is a yardstick, not a judge."""
    experts = [isinstance(desk.submission(key).author, Expert) for key in asked.order]
    return tuple(1 if expert else 2 for expert in experts), "always the expert's work"


def always_tie(asked: Asked, desk: JudgeDesk) -> Verdict:  # noqa: ARG001 - says the same whatever it is shown
    return (1,) * len(asked.order), "always a tie"


def rubric_and_format(asked: Asked, desk: JudgeDesk) -> Verdict:
    """Rubric words covered, format findings and completeness; it sees no author. Sides too close together tie."""
    task = desk.task_of(asked.comparison)
    merits = [merit(task, desk.prepared(key), desk) for key in asked.order]
    ranks = tuple(1 + sum(other > own + _TOO_CLOSE for other in merits) for own in merits)
    told = ", ".join(f"{place} {value:.3f}" for place, value in zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", merits, strict=False))
    return ranks, f"rubric words covered, format findings and completeness: {told}"


def merit(task: Task, work: Prepared, desk: JudgeDesk) -> float:
    """Between 0 and 1: half for rubric coverage, a quarter each for sound format and for completeness."""
    text = " ".join(
        [work.text, *(desk.read_blob(file.text).decode(errors="replace") for file in work.files if file.text)]
    )
    findings = sum(file.faults + len(file.omitted) for file in work.files)
    return 0.5 * _coverage(task, text) + 0.25 / (1 + findings) + 0.25 * _completeness(task, work)


def _coverage(task: Task, text: str) -> float:
    """The share of positive rubric points whose words occur; without a rubric, of the brief's own words."""
    known = set(_WORDS.findall(text.casefold()))
    if task.rubric is None or not task.rubric.positive_points:
        wanted = set(_WORDS.findall(task.brief.casefold()))
        return len(wanted & known) / len(wanted) if wanted else 0.0
    covered = 0
    for item in task.rubric.items:
        wanted = set(_WORDS.findall(item.text.casefold()))
        if item.points > 0 and wanted and len(wanted & known) / len(wanted) >= _COVERED_FROM:
            covered += item.points
    return covered / task.rubric.positive_points


def _completeness(task: Task, work: Prepared) -> float:
    """The share of asked-for files that are there by name; where none is asked for, whether there is any."""
    asked = asked_names(task)
    if not asked:
        return 1.0 if work.files else 0.0
    return min(1.0, sum(file.named_as_asked is True for file in work.files) / len(asked))


BASELINES: dict[str, Callable[[Asked, JudgeDesk], Verdict]] = {
    "always-human": always_human,
    "always-tie": always_tie,
    "rubric-and-format": rubric_and_format,
}


def baseline_grader(name: str) -> ModelGrader:
    if name not in BASELINES:
        raise UnknownName("baseline", name, known=sorted(BASELINES))
    return ModelGrader(name=name, settings={"baseline": _VERSION})


def judge_by_baseline(name: str, wanted: Iterable[Asked], *, desk: JudgeDesk, now: datetime, faults: Faults) -> int:
    """Keep a baseline's verdict on everything wanted; the number of verdicts. The same work gets the same verdict."""
    grader, rule = baseline_grader(name), BASELINES[name]

    def verdicts() -> Iterable[Judgment]:
        for asked in wanted:
            if (verdict := faults.unless(partial(rule, asked, desk))) is None:
                continue
            ranks, reason = verdict
            yield Judgment(
                comparison=asked.comparison.key,
                grader=grader,
                order=asked.order,
                ranks=ranks,
                reason=reason,
                sweep=asked.sweep,
                usage=FREE,
                made_at=now,
            )

    made, kept = iter(verdicts()), 0
    while some := list(islice(made, _AT_ONCE)):
        kept += desk.keep(some)
    return kept
