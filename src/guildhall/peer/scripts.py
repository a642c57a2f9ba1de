"""Scripted models for Boswell runs offline: they write essays of differing worth and mark by counting it.

An author's skill shows in how many sentences of its essay bring evidence; a grader counts those, adds its own leniency,
and words its reply in its own way. Used as `scripted/guildhall.peer.scripts:steady` and so on.
"""

from __future__ import annotations

import re

from guildhall.domain.grades import LETTERS
from guildhall.domain.submissions import StopReason
from guildhall.engine.scripted import Answer, Behaviour, Turn, scripted

_EVIDENCE = "This is borne out by a documented case."
_FILLER = "The matter has many sides, and each deserves a fair hearing."
_QUESTION = "states no overall grade"


def _is_marking(turn: Turn) -> bool:
    return any("<essay " in said.text for said in turn.messages)


def _essay(turn: Turn, skill: int) -> str:
    body = [_EVIDENCE if number < skill else _FILLER for number in range(12)]
    return f"On the question put (variant {turn.seed % 97}).\n\n" + " ".join(body)


def _worth(turn: Turn) -> int:
    """How many grades below A+ the essay stands, by its evidence, with a little noise of the grader's own."""
    essay = next(said.text for said in turn.messages if said.role == "user" and "<essay " in said.text)
    return 12 - len(re.findall(re.escape(_EVIDENCE), essay)) + turn.seed % 2


def _letter(place: int) -> str:
    return LETTERS[min(max(place, 0), len(LETTERS) - 1)]


def _behaves(name: str, *, skill: int, leniency: int, wording: str, seconds: float) -> Behaviour:
    @scripted(f"peer-{name}")
    def script(turn: Turn) -> Answer:
        if not _is_marking(turn):
            return Answer(text=_essay(turn, skill), seconds=seconds)
        grade = _letter(_worth(turn) - leniency)
        return Answer(text=wording.format(grade=grade), seconds=seconds)

    return script


steady = _behaves("steady", skill=9, leniency=0, seconds=0.02, wording="Well argued.\n\nGrade: {grade}")
generous = _behaves(
    "generous", skill=7, leniency=2, seconds=0.01, wording="**Feedback**: lovely.\n\n**Grade:** {grade}"
)
strict = _behaves(
    "strict", skill=10, leniency=-2, seconds=0.03, wording="### Verdict\n\nThin.\n\n### Final Grade\n{grade}"
)
modest = _behaves("modest", skill=5, leniency=0, seconds=0.01, wording="I would give this essay a {grade}.")


@scripted("peer-constant")
def constant(turn: Turn) -> Answer:
    """Gives A- to everything."""
    return Answer(text="Fine work.\n\nGrade: A-" if _is_marking(turn) else _essay(turn, 6), seconds=0.01)


@scripted("peer-refuses")
def refuses(turn: Turn) -> Answer:
    """Writes an essay, but will not grade."""
    if not _is_marking(turn):
        return Answer(text=_essay(turn, 8), seconds=0.01)
    return Answer(text="I cannot assign a grade to this work.", stop=StopReason.REFUSED, seconds=0.01)


@scripted("peer-truncates")
def truncates(turn: Turn) -> Answer:
    """Runs out of tokens before it comes to the grade, and again when asked for it alone."""
    if not _is_marking(turn):
        return Answer(text=_essay(turn, 4), stop=StopReason.TRUNCATED, seconds=0.01)
    if _QUESTION in turn.prompt and turn.seed % 2:
        return Answer(text=f"Grade: {_letter(_worth(turn))}", seconds=0.01)
    return Answer(text="The essay opens well and then turns to the", stop=StopReason.TRUNCATED, seconds=0.01)
