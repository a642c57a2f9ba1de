"""Where no grade could be read: how often, by whom, of whom, in which shapes of reply; did asking again help?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from guildhall.domain.boswell import Mark, NoGrade, RunRecord, value_of

_EXAMPLES = 2
_EXCERPT = 160


@dataclass(frozen=True)
class UnreadShare:
    """So many marks without a grade out of so many."""

    name: str
    unread: int
    marks: int

    @property
    def rate(self) -> float:
        return self.unread / self.marks if self.marks else 0.0


@dataclass(frozen=True)
class Shape:
    """Replies that defeat the reader in the same way, with how the ends of some of them read."""

    reason: str
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Retries:
    """What follow-up questions came to."""

    asked_again: int
    helped: int


@dataclass(frozen=True)
class NaReport:
    overall: UnreadShare
    by_run: tuple[UnreadShare, ...]
    by_author: tuple[UnreadShare, ...]
    by_grader: tuple[UnreadShare, ...]
    shapes: tuple[Shape, ...]
    retries: Retries
    advice: tuple[str, ...]


def na_report(runs: Sequence[RunRecord]) -> NaReport:
    """Marks without a grade over runs, worst first."""
    cells = [(run.run, mark, author, grader) for run in runs for mark, author, grader in run.cells()]
    unread = [mark for _, mark, _, _ in cells if value_of(mark) is None]
    again = [mark for _, mark, _, _ in cells if mark.attempts > 1]
    retries = Retries(len(again), sum(mark.reading.grade is not None for mark in again))
    shapes = _shapes(unread)
    return NaReport(
        overall=UnreadShare("all", len(unread), len(cells)),
        by_run=_shares([(run, mark) for run, mark, _, _ in cells]),
        by_author=_shares([(author, mark) for _, mark, author, _ in cells]),
        by_grader=_shares([(grader, mark) for _, mark, _, grader in cells]),
        shapes=shapes,
        retries=retries,
        advice=(*_advice(shapes, retries), *_patterns(unread)),
    )


_STATED = re.compile(
    r"(?P<before>(?:[A-Za-z']+\W{1,3}){1,4})(?<![\w+#'])(?P<grade>[B-DF][+-]?|A[+-]|A(?!\s+[a-z]))(?![\w'+#-])"
)
_MOST_PATTERNS = 5


def _patterns(unread: list[Mark]) -> list[str]:
    """Wordings before a letter in replies of which no grade was read, most frequent first: rules one might add."""
    met = Counter[str]()
    for mark in unread:
        met.update({" ".join(found["before"].lower().split()) for found in _STATED.finditer(mark.reply)})
    return [
        f'a pattern of reading "{words} <grade>" would meet {n} replies; look at them before it is added'
        for words, n in met.most_common(_MOST_PATTERNS)
    ]


def _shares(named: list[tuple[str, Mark]]) -> tuple[UnreadShare, ...]:
    marks = Counter(name for name, _ in named)
    unread = Counter(name for name, mark in named if value_of(mark) is None)
    return tuple(sorted((UnreadShare(n, unread[n], c) for n, c in marks.items()), key=lambda s: (-s.rate, s.name)))


def _shapes(unread: list[Mark]) -> tuple[Shape, ...]:
    by_reason: dict[str, list[Mark]] = {}
    for mark in unread:
        by_reason.setdefault(mark.reading.reason.value if mark.reading.reason else "", []).append(mark)
    shapes = [Shape(reason, len(marks), _examples(marks)) for reason, marks in by_reason.items()]
    return tuple(sorted(shapes, key=lambda shape: -shape.count))


def _examples(marks: list[Mark]) -> tuple[str, ...]:
    """The ends of the shortest replies, where a grade would have stood."""
    chosen = sorted(marks, key=lambda mark: len(mark.reply))[:_EXAMPLES]
    return tuple(" ".join((mark.reply or mark.error or "")[-_EXCERPT:].split()) for mark in chosen)


_ADVICE = {
    NoGrade.REFUSED: "refusals: read the essays concerned; a refusal is an answer about them, not a fault of reading",
    NoGrade.TRUNCATED: "truncation: raise `max_tokens` of the graders concerned",
    NoGrade.PART_GRADES: "part grades only: ask for one overall grade, or allow another follow-up question",
    NoGrade.PLACEHOLDER: "placeholders: the grader repeats its instructions; shorten the prompt or drop the grader",
    NoGrade.NOTHING_STATED: "nothing stated: allow another follow-up question, or ask for structured answers",
    NoGrade.CALL_FAILED: "failed calls: run again with --retry-failed",
}


def _advice(shapes: tuple[Shape, ...], retries: Retries) -> list[str]:
    advice = [_ADVICE[NoGrade(shape.reason)] for shape in shapes if shape.reason]
    if retries.asked_again:
        advice.append(f"asking again helped in {retries.helped} of {retries.asked_again} cases")
    return advice
