"""The words by which a label or heading says whether it speaks of the whole work or of a part of it.

A label made of general words only ("My grade for this essay") leaves that open; a word of summing up makes it
overall; any other word ("Clarity", "Python") names a part.
"""

from __future__ import annotations

import re
from enum import StrEnum


class Scope(StrEnum):
    """What a stated grade is given to."""

    OVERALL = "overall"
    OPEN = "open"  # a plain "Grade: B": its place in the reply has to tell
    PART = "part"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SUMMING_UP = _words(
    """overall final finally total cumulative composite holistic aggregate combined summary conclusion concluding
    verdict general"""
)
_NOUNS = _words("grade grading graded lettergrade mark score rating")
_GRAMMAR = _words(
    """a an the my our your this that these those its it is as are be been being was will would could should must can
    may for of to in on at by with and or so thus therefore hence accordingly here i we you i'd i'll
    all after into out"""
)
_GIVING = _words(
    """letter recommended suggested assigned proposed appropriate fair given giving give assign assigning award awarded
    based earned received deserved deserve following follow below above numeric equivalent range average weighted"""
)
_THE_WORK = _words(
    """assessment evaluation result outcome essay paper submission work piece design proposal system project response
    text author student writer model academic single whole entire complete full quality"""
)
_WEIGHING = _words(
    """consideration considering considered taken together everything account factor aspect criteria criterium solid
    strong well-deserved rigorous comparison impression observation finding judgment judgement remark thought point"""
)
_FURNITURE = _words(
    """strength weakness weaknesses key critical main major minor area improvement suggestion recommendation issue
    specific note justification rationale explanation reasoning constructive detailed potential further critique
    feedback comment analysis reviewing review"""
)
_GENERAL = _SUMMING_UP | _NOUNS | _GRAMMAR | _GIVING | _THE_WORK | _WEIGHING | _FURNITURE
_PART_WORDS = (
    r"\b(?:component|criterion|sub-?grade|section|category|each|every|per|respective|individual|part|grades|"
    r"implementations?|typescript|javascript|python|rust|java|golang|kotlin|swift|ruby|haskell|scala|c\+\+|c#|language|"
    r"problem|question|task|algorithm)\b|\bfor c\b"
)
_NAMES_A_PART = re.compile(_PART_WORDS)
_WORD = re.compile(r"[a-z][a-z'+#-]*")

FOR_A_PART = re.compile(
    rf"[ )\]]*(?:[(\[][ ]*(?:(?:for|on|in)[ ])?|(?:for|on|in)[ ])(?:(?:the|all|each|its)[ ])?(?:[\w+#'-]{{1,20}}[ ])?"
    rf"(?:{_PART_WORDS}|c[,)\]])",
    re.IGNORECASE,
)
"""What follows a grade that is given to a part: `(TypeScript)`, `for the Rust implementation`."""


def names_a_part(words: str) -> bool:
    return _NAMES_A_PART.search(words.lower()) is not None


def sums_up(words: str) -> bool:
    return any(word in _SUMMING_UP for word in _WORD.findall(words.lower()))


def scope_of(label: str) -> Scope:
    """Whole or part, from the words of a label or heading."""
    lowered = label.lower().replace("gradegrade", "grade")
    if names_a_part(lowered):
        return Scope.PART
    words = _WORD.findall(lowered)
    foreign = any(not _is_general(word) for word in words)
    # A long label is prose: it may say anything as long as it ends by announcing the grade.
    announces = len(words) > 6 and any(word in _NOUNS for word in words[-5:])
    if foreign and not announces:
        return Scope.PART
    return Scope.OVERALL if any(word in _SUMMING_UP for word in words) else Scope.OPEN


def _is_general(word: str) -> bool:
    return word in _GENERAL or word.removesuffix("s") in _GENERAL
