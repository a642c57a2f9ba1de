"""Reading the grade a reply states: `read_grade(text)`.

Overall grades win over part grades, the last explicit decision wins, and where none is stated the reading says
why. Nothing is guessed. `docs/how-to/read-grades.md` shows the ladder of rules.

The last tier of the seed's ladder: guessing a grade from words of praise. It only ever suggests. Off by default: a
reply that states no grade has no grade. Where it is asked for, the reading is marked inferred.

Placing grades: does a plain "Grade: B" go to the whole work or to the section it stands in? Only asked when a reply
gives several different grades. The headings above a grade form a stack, outermost first; the outermost one that names
a part or sums up decides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from guildhall.domain.boswell import NoGrade, Reading
from guildhall.peer.statements import LADDER, RUN_IN, Scope, Statement, names_a_part, scope_of, statements, sums_up
from guildhall.peer.tokens import plain, tokens

_REFUSES = re.compile(
    r"\b(?:cannot|can't|can not|unable to|not able to|won't|will not|decline to|couldn't|not possible to|"
    r"impossible to|not enough)\b"
    r"[^.\n]{0,80}\b(?:assign|provide|give|grade|evaluate|assess|mark|judge|review|comply|assist|help|answer)"
    r"|\b(?:no|without (?:an|the|any)|missing)\b[^.\n]{0,30}\b(?:essay|code|submission|text|content)\b[^.\n]{0,30}"
    r"\b(?:to (?:grade|evaluate|assess|review)|provided|included|given|submitted)"
    r"|\b(?:please|once you|if you|you haven't|not|wasn't|weren't)\b[^.\n]{0,20}"
    r"\b(?:provide|provided|share|include|included|submit)\b[^.\n]{0,60}\b(?:essay|code|text|implementations?|submission|content)",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"\bgrade[ ]{0,3}[:=][ ]{0,3}"
    r"(?:[\[<({][^\n]{0,40}[\]>)}]|(?:your|insert|letter|tbd|pending|xx?|\.\.\.|_+|-{2,})(?![a-z]))",
    re.IGNORECASE,
)
_ENDS_WELL = re.compile(r"[.!?:;)\]}'|`*_>\"”’。！？~-]\s*$")
_ENDS_AT_LABEL = re.compile(r"grade[ ]{0,3}[:=]?[\s*_`]*$", re.IGNORECASE)


def why_no_grade(raw: str, flat: str, *, parts: bool, void: bool, cut_off: bool) -> NoGrade:
    """The reason, most telling first. `cut_off` is the provider's own word that the reply hit a limit."""
    if parts:
        return NoGrade.PART_GRADES
    if _REFUSES.search(flat):
        return NoGrade.REFUSED
    if _PLACEHOLDER.search(flat) or any(token.menu for token in tokens(flat)):
        return NoGrade.PLACEHOLDER
    if void:
        return NoGrade.REFUSED
    if cut_off or _ENDS_AT_LABEL.search(flat[-60:]) or (raw.strip() and not _ENDS_WELL.search(raw[-40:])):
        return NoGrade.TRUNCATED
    return NoGrade.NOTHING_STATED


DESCRIPTORS: dict[str, tuple[str, ...]] = {
    "A+": ("flawless", "perfect", "superb"),
    "A": ("exceptional", "outstanding", "excellent", "superior", "remarkable"),
    "A-": ("very good", "impressive", "thorough"),
    "B+": ("commendable", "above average", "effective"),
    "B": ("good", "competent", "solid"),
    "B-": ("satisfactory", "acceptable", "adequate", "sufficient"),
    "C+": ("fair", "moderate"),
    "C": ("average", "mediocre", "passable"),
    "C-": ("below average", "minimal", "weak", "limited"),
}
"""Each descriptor under one grade only, so that none counts twice."""

PUBLISHED_DESCRIPTORS: dict[str, tuple[str, ...]] = {
    "A+": ("exceptional", "outstanding", "excellent", "superb", "flawless", "perfect"),
    "A": ("excellent", "superior", "exceptional", "outstanding", "remarkable"),
    "A-": ("very good", "strong", "impressive", "solid", "thorough"),
    "B+": ("good", "above average", "commendable", "solid", "effective"),
    "B": ("good", "competent", "satisfactory", "acceptable", "adequate"),
    "B-": ("satisfactory", "acceptable", "adequate", "sufficient", "passable"),
    "C+": ("fair", "average", "passable", "moderate", "mediocre"),
    "C": ("average", "passable", "fair", "mediocre", "basic"),
    "C-": ("below average", "minimal", "basic", "weak", "limited"),
}
"""The published lists: counted as substrings, negated or not; of a draw the better grade is taken."""


class Descriptors(StrEnum):
    """Whose words of praise suggest a grade."""

    OURS = "ours"
    PUBLISHED = "published"


_GRADE_OF = {word: grade for grade, words in DESCRIPTORS.items() for word in words}
_ANY = re.compile(
    r"(?P<negated>\b(?:not|never|hardly|no|n't|isn't|far from)\s{1,3}(?:\w{1,20}\s{1,3})?)?\b(?P<word>"
    + "|".join(sorted(map(re.escape, _GRADE_OF), key=len, reverse=True))
    + r")\b",
    re.IGNORECASE,
)


def suggested_grade(text: str, *, words: Descriptors = Descriptors.OURS) -> str | None:
    """The grade whose descriptors occur most, negated ones left out; None where there are none or a draw."""
    if words is Descriptors.PUBLISHED:
        said = text.lower()
        times = {grade: sum(map(said.count, listed)) for grade, listed in PUBLISHED_DESCRIPTORS.items()}
        best = max(times, key=lambda grade: times[grade])
        return best if times[best] else None
    counts = Counter(_GRADE_OF[match["word"].lower()] for match in _ANY.finditer(text) if not match["negated"])
    leaders = counts.most_common(2)
    if not leaders or (len(leaders) == 2 and leaders[0][1] == leaders[1][1]):
        return None
    return leaders[0][0]


_NUMBERING = re.compile(r"^[ #>•■●▪◦+-]*(?:\(?(?:\d{1,2}(?:\.\d{1,2})*|[IVX]{1,4})[.):][ ]*)?")
_PLAIN_FENCES = frozenset({"text", "txt", "plaintext", "plain", "markdown", "md"})
_GRADE_LINE = 30  # a line that gives a grade within so many characters gives nothing else first
_LONGEST_LINE = 2000
_BOLD, _SHORT, _RUN_IN_LEVEL = 7, 8, 9  # below the six levels of "#" headings


class GradeStanding(StrEnum):
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


def standings(raw: str, flat: str, statements: Sequence[Statement]) -> list[GradeStanding]:
    """Where each statement stands; `raw` and `flat` are the reply with and without its markup."""
    places = list(_places(raw, flat, statements))
    everywhere = set.intersection(*(set(place.stack) for place in places))
    listed = _listed(places) | _echoed(places)
    return [
        GradeStanding.PART if number in listed else _standing(place, everywhere) for number, place in enumerate(places)
    ]


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


def _standing(place: Place, everywhere: set[Heading]) -> GradeStanding:
    """`everywhere` holds the headings above every statement: titles, which tell parts from the whole for none."""
    telling = [heading for heading in place.stack if heading not in everywhere]
    says_overall = place.statement.scope is Scope.OVERALL
    parts = any(heading.scope is Scope.PART for heading in place.lead)
    if telling and telling[0].scope is Scope.OVERALL:
        # Under "Overall" parts may be listed once more, each under a heading of its own.
        inner = [heading for heading in telling if heading.scope is Scope.PART]
        directly = place.under_heading and place.lead[-1] in inner and place.lead[-1].level < _RUN_IN_LEVEL
        if not says_overall and (directly or any(heading.level < _BOLD for heading in inner)):
            return GradeStanding.PART
        return GradeStanding.CLOSING if parts else GradeStanding.WHOLE
    if parts:
        # New parts have begun since the last grade: this one is theirs, unless it claims to sum up.
        closes = says_overall or not telling or telling[-1].scope is Scope.OVERALL
        return GradeStanding.CLOSING if closes else GradeStanding.PART
    return GradeStanding.WHOLE if says_overall else GradeStanding.UNHEADED


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


def read_grade(text: str, *, cut_off: bool = False, infer: Descriptors | None = None) -> Reading:
    """The overall grade a reply states, with its span, rule and confidence, or the reason why there is none.

    `cut_off` says that the provider stopped the reply at a limit. `infer` allows a suggestion from words of praise
    when nothing is stated; it comes marked as inferred.
    """
    flat = plain(text)
    given = statements(text, flat)
    labelled = [statement for statement in given if not statement.in_prose]
    chosen = _decision(text, flat, labelled) or (None if _whole(labelled) else _last_in_prose(given))
    if chosen is not None and not chosen.token.void:
        span = (chosen.token.start, chosen.token.end)
        return Reading(grade=chosen.token.grade, span=span, rule=chosen.rule, confidence=LADDER[chosen.rule].confidence)
    if infer and (suggestion := suggested_grade(flat, words=infer)):
        rung = LADDER["descriptors"]
        return Reading(grade=suggestion, rule=rung.name, confidence=rung.confidence, inferred=True)
    void = chosen is not None
    reason = why_no_grade(text, flat, parts=bool(labelled) and not void, void=void, cut_off=cut_off)
    return Reading(rule="none", confidence=0.9 if labelled or given else 0.95, reason=reason)


def _whole(labelled: list[Statement]) -> list[Statement]:
    """The labelled statements that may speak of the whole work: "grade" before "score" and the like."""
    candidates = [statement for statement in labelled if statement.scope is not Scope.PART]
    return [statement for statement in candidates if statement.graded] or candidates


def _decision(raw: str, flat: str, labelled: list[Statement]) -> Statement | None:
    candidates = _whole(labelled)
    if len({statement.token.grade for statement in candidates}) <= 1:
        return candidates[-1] if candidates else None
    placed = standings(raw, flat, candidates)
    if placed[-1] is GradeStanding.UNHEADED:
        placed[-1] = GradeStanding.WHOLE
    whole = [
        statement for statement, standing in zip(candidates, placed, strict=True) if standing is GradeStanding.WHOLE
    ]
    if whole:
        return whole[-1]
    closing = [
        statement for statement, standing in zip(candidates, placed, strict=True) if standing is GradeStanding.CLOSING
    ]
    agreed = len({statement.token.grade for statement in closing}) == 1
    return closing[-1] if agreed and placed[-1] is GradeStanding.CLOSING else None


def _last_in_prose(given: list[Statement]) -> Statement | None:
    return next((s for s in reversed(given) if s.in_prose and s.scope is not Scope.PART), None)
