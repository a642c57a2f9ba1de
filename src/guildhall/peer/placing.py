"""Placing grades: does a plain "Grade: B" go to the whole work or to the section it stands in?

Only asked when a reply gives several different grades. The headings above a grade form a stack, outermost
first; the outermost one that names a part or sums up decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from guildhall.peer.statements import RUN_IN, Statement
from guildhall.peer.vocabulary import Scope, names_a_part, scope_of, sums_up

_NUMBERING = re.compile(r"^[ #>•■●▪◦+-]*(?:\(?(?:\d{1,2}(?:\.\d{1,2})*|[IVX]{1,4})[.):][ ]*)?")
_PLAIN_FENCES = frozenset({"text", "txt", "plaintext", "plain", "markdown", "md"})
_GRADE_LINE = 30  # a line that gives a grade within so many characters gives nothing else first
_LONGEST_LINE = 2000
_BOLD, _SHORT, _RUN_IN_LEVEL = 7, 8, 9  # below the six levels of "#" headings


class Standing(StrEnum):
    """Where a stated grade stands."""

    WHOLE = "whole"
    UNHEADED = "unheaded"  # no heading since the grade before it: the whole, if nothing follows
    CLOSING = "closing"  # sums up inside a part, or so it looks: the whole, unless each part is closed this way
    PART = "part"


@dataclass(frozen=True, slots=True)
class Heading:
    start: int
    end: int
    level: int
    scope: Scope


@dataclass(frozen=True, slots=True)
class Place:
    """A statement with the headings above it, outermost first, and those since the statement before."""

    statement: Statement
    stack: tuple[Heading, ...]
    lead: tuple[Heading, ...]
    follows_on: bool  # alone on its line, nothing between it and another such statement
    under_heading: bool  # nothing between it and its nearest heading


def standings(raw: str, flat: str, statements: Sequence[Statement]) -> list[Standing]:
    """Where each statement stands; `raw` and `flat` are the reply with and without its markup."""
    places = list(_places(raw, flat, statements))
    everywhere = set.intersection(*(set(place.stack) for place in places))
    listed = _listed(places) | _echoed(places)
    return [Standing.PART if number in listed else _standing(place, everywhere) for number, place in enumerate(places)]


def _places(raw: str, flat: str, statements: Sequence[Statement]) -> Iterator[Place]:
    stack: list[Heading] = []
    at, was_alone = 0, False
    for statement in statements:
        line, end = statement.line
        lead = tuple(_headings(raw, flat, at, line))
        for heading in lead:
            stack = _under(stack, heading)
        alone = statement.token.start - line <= _GRADE_LINE
        follows_on = alone and was_alone and statement.scope is Scope.OPEN and not flat[at:line].strip()
        under_heading = bool(lead) and not flat[lead[-1].end : line].strip()
        yield Place(statement, tuple(stack), lead, follows_on, under_heading)
        at, was_alone = end + 1, alone and statement.scope is Scope.OPEN


def _listed(places: Sequence[Place]) -> set[int]:
    """Statements in a bare list of three or more (or of two, when there is nothing else): one for each part."""
    listed: set[int] = set()
    first = 0
    for number in range(1, len(places) + 1):
        if number < len(places) and places[number].follows_on:
            continue
        if number - first > 2 or number - first == len(places):
            listed.update(range(first, number))
        first = number
    return listed


def _echoed(places: Sequence[Place]) -> set[int]:
    """Statements that only repeat the one right above, where the reply does so time and again."""
    echoes = {
        number
        for number, (above, place) in enumerate(pairwise(places), 1)
        if place.follows_on and place.statement.token.grade == above.statement.token.grade
    }
    return echoes if len(echoes) > 1 else set()


def _under(stack: list[Heading], heading: Heading) -> list[Heading]:
    """The stack below a new heading. One that neither names a part nor sums up only closes deeper ones."""
    if heading.scope is Scope.OPEN:
        return [above for above in stack if above.level <= heading.level]
    return [above for above in stack if above.level < heading.level] + [heading]


def _standing(place: Place, everywhere: set[Heading]) -> Standing:
    """`everywhere` holds the headings above every statement: titles, which tell parts from the whole for none."""
    telling = [heading for heading in place.stack if heading not in everywhere]
    says_overall = place.statement.scope is Scope.OVERALL
    parts = any(heading.scope is Scope.PART for heading in place.lead)
    if telling and telling[0].scope is Scope.OVERALL:
        # Under "Overall" parts may be listed once more, each under a heading of its own.
        inner = [heading for heading in telling if heading.scope is Scope.PART]
        directly = place.under_heading and place.lead[-1] in inner and place.lead[-1].level < _RUN_IN_LEVEL
        if not says_overall and (directly or any(heading.level < _BOLD for heading in inner)):
            return Standing.PART
        return Standing.CLOSING if parts else Standing.WHOLE
    if parts:
        # New parts have begun since the last grade: this one is theirs, unless it claims to sum up.
        closes = says_overall or not telling or telling[-1].scope is Scope.OVERALL
        return Standing.CLOSING if closes else Standing.PART
    return Standing.WHOLE if says_overall else Standing.UNHEADED


def _headings(raw: str, flat: str, start: int, end: int) -> Iterator[Heading]:
    at = start
    while at < end:
        stop = flat.find("\n", at, end)
        stop = end if stop < 0 else stop
        words = flat[at:stop].strip() if stop - at <= _LONGEST_LINE else ""
        if words:
            found = _level_and_scope(raw[at:stop].strip(), words)
            if found is not None:
                yield Heading(at, stop, *found)
        at = stop + 1


def _level_and_scope(raw: str, words: str) -> tuple[int, Scope] | None:
    name = _NUMBERING.sub("", words, count=1).strip(" :#-")
    if not name:
        return None
    if raw.startswith("#"):
        return min(6, len(raw) - len(raw.lstrip("#"))), _scope(name)
    if raw.startswith("```"):
        return None if name.lower() in _PLAIN_FENCES else (_SHORT, _scope(name))
    if len(name) <= 70 and _bold(raw):
        return _BOLD, _scope(name)
    if words.endswith(":") and name.count(" ") > 5 and len(name) <= 120:
        return _SHORT, Scope.PART if names_a_part(name) and not sums_up(name) else Scope.OPEN
    if (len(name) <= 60 and words.endswith(":")) or _title_like(name, words):
        return _SHORT, _scope(name)
    run_in = RUN_IN.match(raw)
    return (_RUN_IN_LEVEL, _scope(run_in["name"])) if run_in else None


def _bold(raw: str) -> bool:
    return raw.lstrip("-•■●▪◦0123456789.() ").startswith(("*", "_")) and raw.rstrip(" :").endswith(("*", "_"))


def _title_like(name: str, words: str) -> bool:
    return len(name) <= 45 and name[:1].isupper() and words[-1] not in ".!?;,)" and words[0] not in "-+•●"


def _scope(name: str) -> Scope:
    """A heading that names the grade, or the grades, sums up like one that says "overall"."""
    if _only_grade(name):
        return Scope.OVERALL
    return scope_of(re.sub(r"\bgrades\b", "grade", name.lower()))


def _only_grade(name: str) -> bool:
    return name.strip(" *_:#").lower() in ("grade", "letter grade", "grading")
