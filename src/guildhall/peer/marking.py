"""From a model's reply to a `Mark`: what was said is kept whole, what it states is read, why not is said."""

from __future__ import annotations

from collections.abc import Sequence

from guildhall.domain.authors import ModelRun
from guildhall.domain.boswell import Essay, Mark, NoGrade, Reading
from guildhall.domain.grades import COMPOSITES, NUMERIC
from guildhall.domain.submissions import FREE, StopReason, Usage
from guildhall.engine.calls import Reply
from guildhall.peer.reader import read_grade

FOLLOW_UP = "\n\n[asked again for the grade]\n\n"
"""Stands between a grader's answers where a follow-up question was put."""
_CUT_OFF = (StopReason.TRUNCATED, StopReason.TOKEN_LIMIT, StopReason.TIME_LIMIT)


def read_replies(replies: Sequence[Reply]) -> tuple[str, Reading]:
    """All a grader said, joined, and the reading of it: of the last answer that states a grade, else of the first."""
    said = ""
    readings: list[Reading] = []
    for reply in replies:
        said += FOLLOW_UP if readings else ""
        readings.append(_shifted(_read(reply), len(said)))
        said += reply.text
    stated = [reading for reading in readings if reading.grade is not None]
    return said, stated[-1] if stated else readings[0]


def _read(reply: Reply) -> Reading:
    if reply.failed:
        return Reading(rule="none", confidence=1.0, reason=NoGrade.CALL_FAILED)
    structured = reply.data.get("grade") if isinstance(reply.data, dict) else None
    if isinstance(structured, str) and (structured in NUMERIC or structured in COMPOSITES):
        start = reply.text.rfind(f'"{structured}"') + 1
        span = (start, start + len(structured)) if start else None
        return Reading(grade=structured, span=span, rule="structured", confidence=1.0)
    reading = read_grade(reply.text, cut_off=reply.stop in _CUT_OFF)
    if reading.grade is None and reply.stop is StopReason.REFUSED:
        return Reading(rule="none", confidence=1.0, reason=NoGrade.REFUSED)
    return reading


def _shifted(reading: Reading, by: int) -> Reading:
    return reading.but(span=(reading.span[0] + by, reading.span[1] + by)) if reading.span and by else reading


def worth_asking_again(reading: Reading) -> bool:
    """Whether a follow-up question may help: not after a refusal or a call that failed."""
    return reading.grade is None and reading.reason not in (NoGrade.REFUSED, NoGrade.CALL_FAILED)


def essay_of(replies: Sequence[Reply], *, run: str, domain: str, author: ModelRun) -> Essay:
    """An author's essay from the last try; the usage of every try is in it."""
    last = replies[-1]
    return Essay(
        run=run,
        domain=domain,
        author=author,
        text=last.text,
        stop=last.stop.value,
        seconds=last.seconds,
        cached=last.cached,
        usage=total_usage(replies),
        made_at=last.made_at,
    )


def mark_of(replies: Sequence[Reply], *, essay: Essay, grader: ModelRun, round_number: int) -> Mark:
    """A grader's mark from all its answers. Only the first, full answer is timed: a follow-up is a line."""
    said, reading = read_replies(replies)
    first = replies[0]
    return Mark(
        run=essay.run,
        domain=essay.domain,
        essay=essay.key,
        grader=grader,
        round=round_number,
        reply=said,
        reading=reading,
        attempts=len(replies),
        error=replies[-1].error,
        stop=first.stop.value,
        seconds=first.seconds,
        cached=first.cached,
        usage=total_usage(replies),
        made_at=replies[-1].made_at,
    )


def total_usage(replies: Sequence[Reply]) -> Usage:
    return sum((reply.usage for reply in replies), FREE)


def can_be_marked(essay: Essay) -> bool:
    """A refusal or an empty answer is recorded, but is no essay for others to mark."""
    return bool(essay.text.strip()) and essay.stop in (StopReason.FINISHED, *_CUT_OFF)
