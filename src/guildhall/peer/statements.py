"""From mentions to statements: which mentions of a grade *give* one, and to the whole work or to a part of it.

The rules are data: `LADDER` names each rung, its tier and how sure one may be; `PROSE` holds the patterns of
sentences that give a grade. `docs/how-to/read-grades.md` shows them with examples.

The words by which a label or heading says whether it speaks of the whole work or of a part of it. A label made of
general words only ("My grade for this essay") leaves that open; a word of summing up makes it overall; any other word
("Clarity", "Python") names a part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from guildhall.peer.tokens import Token, tokens


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
_GIVEN = _words(
    """letter recommended suggested assigned assignment proposed appropriate fair given giving give assign assigning
    award awarded based earned received deserved deserve following follow below above numeric equivalent range average
    weighted"""
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
_GENERAL = _SUMMING_UP | _NOUNS | _GRAMMAR | _GIVEN | _THE_WORK | _WEIGHING | _FURNITURE
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


@dataclass(frozen=True, slots=True)
class Rung:
    """One rule of the ladder. Tiers: 1 exact, 2 patterns, 3 recovery, 4 descriptors (suggest only)."""

    name: str
    tier: int
    confidence: float


RECOVERY = 3
LADDER: dict[str, Rung] = {
    rung.name: rung
    for rung in (
        Rung("structured", 1, 1.0),
        Rung("label", 1, 0.98),
        Rung("alone on its line", 2, 0.85),
        Rung("table cell", 2, 0.9),
        Rung("in brackets", 2, 0.3),
        Rung("a grade of", 2, 0.85),
        Rung("given", 2, 0.8),
        Rung("between two", 2, 0.7),
        Rung("fits", 2, 0.6),
        Rung("lower case", RECOVERY, 0.75),
        Rung("descriptors", 4, 0.2),
    )
}


@dataclass(frozen=True, slots=True)
class Statement:
    """A grade that is given, not merely mentioned; `graded` when its label says "grade", not "score" or the like."""

    token: Token
    rule: str
    scope: Scope
    graded: bool = True
    line: tuple[int, int] = (0, 0)

    @property
    def in_prose(self) -> bool:
        return self.rule in _PROSE_RUNGS


@dataclass(frozen=True, slots=True)
class ProseRule:
    """What must stand right before and right after a mention for the sentence to give that grade."""

    rung: str
    before: re.Pattern[str]
    after: re.Pattern[str] | None = None


_ADJECTIVE = (
    r"(?-i:an?)|the|solid|strong|high|low|weak|mid|firm|clear|borderline|respectable|commendable|well-deserved|"
    r"well-earned|excellent|good|fair|final|overall|letter"
)
_WORK = r"it|this|that|you|your|essay|paper|submission|work|piece|proposal|design|response|system|implementations?|all"
_GIVING = (
    r"assign(?:ed|ing)?|award(?:ed|ing)?|gives?|given|giving|gave|earn(?:s|ed|ing)?|deserv(?:e|es|ed|ing)|"
    r"merit(?:s|ed|ing)?|warrant(?:s|ed|ing)?|receiv(?:e|es|ed|ing)|grant(?:ed|ing)?|rated?|graded?|"
    r"justif(?:y|ies|ying)|result(?:s|ing) in|lead(?:s|ing) to|plac(?:es|ing) it|lands|landing|settled? on|sits at|"
    r"falls at|is worth|worthy of|meets? the criteria for|consistent with|qualifies for|is|be|was"
)
PROSE: tuple[ProseRule, ...] = (
    ProseRule(
        "a grade of",
        re.compile(
            r"\b(?:grade|mark|rating|score)[ ]+(?:of|is|as|at|being|would be|will be|should be|stands at|"
            r"for [a-z ]{3,40}? (?:is|would be))[ :]+"
            rf"(?:(?:{_ADJECTIVE}|as|at|of|is|be|grade|:)[ (\[:]+){{0,6}}[(\[{{]?$",
            re.IGNORECASE,
        ),
    ),
    ProseRule("between two", re.compile(r"\bbetween[ ]+(?:an?[ ]+)?$", re.IGNORECASE)),
    ProseRule(
        "given",
        re.compile(
            rf"\b(?:{_GIVING})"
            rf"(?:[ ]+(?:{_WORK}|{_ADJECTIVE}|grade|of|as|with|in|to|at|for|is|be)){{0,9}}[ ]*[(\[{{:]?[ ]*$",
            re.IGNORECASE,
        ),
    ),
    ProseRule(
        "fits",
        re.compile(r"(?:^|[\s(\[])$"),
        re.compile(
            r"[\s)\]}'.,;!-]*(?:grade|overall|rating|mark|score|"
            r"(?:is|seems|feels|appears|would be)\s+(?:an?\s+|the\s+)?(?:most\s+)?"
            r"(?:appropriate|fair|warranted|justified|deserved|suitable|right|fitting|accurate))\b",
            re.IGNORECASE,
        ),
    ),
)
_PROSE_RUNGS = frozenset(rule.rung for rule in PROSE)

_NOT_GIVEN = re.compile(
    r"\b(?:no|cannot|can't|not|never|unable|without|neither|nor|instead of|rather than|short of|below|above|beyond|"
    r"prevents?|preventing|prevented|keeps?|keeping|hold(?:s|ing)? (?:it )?back|miss(?:es|ing)?|"
    r"(?:to|could|might|may|can|would|must|potentially|help)(?:[ ]+\w+){0,2}[ ]+(?:reach|achieve|attain|obtain|"
    r"earn|get|merit|warrant|deserve|receive|elevate|raise|push|bring|move|secure|improve|be|justify|qualify|make)|"
    r"elevate|raise|push it|bring it|move it|closer to|towards?|higher|if|were|unless|until|only|"
    r"what (?:an?|the)|typically|usually|required for|expected (?:of|for)|standards? (?:of|for)|"
    r"reserved for|range from|ranging from|scale|from|than|each|per)\b|n't\b",
    re.IGNORECASE,
)
_WOULD_GIVE = re.compile(
    r"\b(?:i|we)(?:'d|[ ]+would)[ ]+(?:\w+[ ]+)?(?:assign|award|give|grade|rate|say|grant|place|put)\b|\bwould be\b",
    re.IGNORECASE,
)
_ALL_OF_IT = re.compile(r"\b(?:all|overall|entire|whole|combined|each)\b", re.IGNORECASE)

_BULLET = "-*+•■●▪◦–"
RUN_IN = re.compile(
    rf"[ ]{{0,8}}(?:(?:[{_BULLET}][ ]+)?(?:\(?\d{{1,2}}[.)][ ]*)?(?:\*\*|__)|(?:[{_BULLET}]|\(?\d{{1,2}}[.)])[ ]+)"
    r"(?P<name>[^*_:\n]{1,60})(?:\*\*|__)?[ ]{0,2}:?(?:\*\*|__)?[ ]{0,2}(?::|(?<=[:*]))"
)
"""A label that opens its line and is followed by text: `2. **Clarity**: ...`."""

_OPENING = " ([{<>|#-"
_BEFORE_A_GRADE = re.compile(
    rf"(?:\b(?:{_ADJECTIVE}|between|approximately|roughly|about)[ ]*|[\d.,/%]{{1,8}}[ ]*[(\[]?[ ]*){{1,3}}$",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"[ )\]}>.,!|']*(?:$|[(\[:;—/-]|"
    r"(?:for|because|since|as|due|based|given|with|overall|grade|in|on|reflect\w*|this|the|it)\b)"
    r"|[ )\]}>]*[.,] |[^\x00-\x7f]",
    re.IGNORECASE,
)
_NOTHING_ELSE = re.compile(r"[\s)\]}>.,!|']*$")
_IS_A_NAME = re.compile(r"[ ]*[:=-][ ]*(?:grade[ ]*[:=][ ]*)?(?-i:[ABCDF][+-]?)(?![A-Za-z0-9])", re.IGNORECASE)
_NOUN = re.compile(r"\b(?:grade|mark|score|rating|assessment|evaluation|verdict|result)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?;][)\]' ]* (?=[A-Z(])|: ")
_LOWER_CASE = re.compile(
    r"\bgrade[ ]{0,3}[:=][ ]{0,3}(?P<words>[a-df](?:[+-]|[ ]?(?:plus|minus))?)(?=[ .)\]]{0,4}(?:$|\n))", re.IGNORECASE
)
_WINDOW_BEFORE, _WINDOW_AFTER = 160, 60


def statements(raw: str, flat: str) -> list[Statement]:
    """Every grade a reply gives, in order; `raw` and `flat` are the reply with and without its markup."""
    return list(_given(raw, flat)) or list(_in_lower_case(flat))


def _given(raw: str, flat: str) -> Iterator[Statement]:
    start, end = 0, -1
    for token in tokens(flat):
        if token.start > end:  # on to another line: looked up once a line, so that a line of any length stays cheap
            start = flat.rfind("\n", 0, token.start) + 1
            end = flat.find("\n", token.start)
            end = len(flat) if end < 0 else end
        if token.grade is None and not (token.void or token.listed):
            continue
        before = flat[max(start, token.start - _WINDOW_BEFORE) : token.start]
        after = flat[token.end : min(end, token.end + _WINDOW_AFTER)]
        statement = (
            _labelled(token, before, after)
            or _alone(token, before, after, flat, start)
            or _in_prose(token, before, after)
        )
        if statement is not None and not (token.void and statement.scope is Scope.PART):
            yield replace(statement, scope=_scope_in_line(raw, start, statement), line=(start, end))


def _scope_in_line(raw: str, start: int, statement: Statement) -> Scope:
    """An open statement is a part's when a part is named where its line begins: `2. Clarity: ... Grade: B`."""
    if statement.scope is not Scope.OPEN or statement.token.start - start <= 8:
        return statement.scope
    run_in = RUN_IN.match(raw, start, statement.token.start)
    return Scope.PART if run_in and scope_of(run_in["name"]) is Scope.PART else Scope.OPEN


def _labelled(token: Token, before: str, after: str) -> Statement | None:
    bare_head = before.rstrip(_OPENING)
    if not bare_head or _IS_A_NAME.match(after):
        return None
    if before.lstrip(" ").startswith("|"):
        return _in_table(token, before, after)
    head = bare_head
    if head[-1] not in ":=" and (":" in head or "=" in head):
        head = _BEFORE_A_GRADE.sub("", head).rstrip(_OPENING)
    if head and head[-1] in ":=" and _TAIL.match(after):
        label = _label_of(head)
        part = token.listed or FOR_A_PART.match(after)
        return Statement(token, "label", Scope.PART if part else scope_of(label), "grade" in label.lower())
    if bare_head[-5:].lower() == "grade" and _NOTHING_ELSE.match(after):
        return Statement(token, "label", scope_of(bare_head))
    if before.rstrip(" ").endswith(("(", "[")) and after.lstrip(" ").startswith((")", "]")):
        return Statement(token, "in brackets", Scope.PART)
    if before.rstrip(" ")[-1] in "-—" and _NOTHING_ELSE.match(after):
        return Statement(token, "label", scope_of(bare_head))
    return None


def _label_of(head: str) -> str:
    """The words before the colon, back to the start of the sentence; in `Python: Grade:` the outer label counts too."""
    label = _SENTENCE.split(head[:-1])[-1].strip(" :=")
    return head[:-1] if label.lower() in ("grade", "- grade") and ":" in head[:-1] else label


def _in_table(token: Token, before: str, after: str) -> Statement | None:
    cells = before.strip(" |").split("|")
    whole_cell = before.rstrip(" ([").endswith("|") and after.lstrip(" )].").startswith("|")
    if not whole_cell or not cells[0].strip():
        return None
    return Statement(token, "table cell", scope_of(cells[0]))


def _alone(token: Token, before: str, after: str, flat: str, line: int) -> Statement | None:
    if before.strip(_OPENING) or token.void or token.listed or not _NOTHING_ELSE.match(after):
        return None
    above = _line_above(flat, line)
    if not above:
        return Statement(token, "alone on its line", Scope.OPEN)
    if next(tokens(above), None) is not None:
        return None
    if _NOUN.search(above) and len(above) < 120:
        return Statement(token, "alone on its line", scope_of(above))
    ends_reply = line + 200 >= len(flat)
    return Statement(token, "alone on its line", Scope.OPEN) if ends_reply and len(token.words) > 1 else None


def _line_above(flat: str, at: int) -> str:
    """The nearest line above that is not blank; rules, fences and markup are blanks."""
    end = at - 1
    while end > 0:
        start = flat.rfind("\n", 0, end) + 1
        line = flat[start:end].strip(" #-=>|─━═—")
        if line:
            return line
        end = start - 1
    return ""


def _in_prose(token: Token, before: str, after: str) -> Statement | None:
    if token.grade is None or after.lstrip(" )")[:1] == ":":
        return None
    sentence = _SENTENCE.split(before)[-1]
    for rule in PROSE:
        if token.alternatives != (rule.rung == "between two"):
            continue
        if rule.before.search(before) and (rule.after is None or rule.after.match(after)):
            if _NOT_GIVEN.search(sentence) and not _WOULD_GIVE.search(sentence):
                return None
            part = names_a_part(sentence) and not _ALL_OF_IT.search(sentence)
            return Statement(token, rule.rung, Scope.PART if part else Scope.OPEN)
    return None


def _in_lower_case(flat: str) -> Iterator[Statement]:
    for match in _LOWER_CASE.finditer(flat):
        for token in tokens(match["words"].upper()):
            start, end = match.span("words")
            line = (match.start(), match.end())
            yield Statement(replace(token, start=start, end=end), "lower case", Scope.OPEN, line=line)
