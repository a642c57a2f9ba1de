"""Reading the grade a reply states: `read_grade(text)`.

Overall grades win over part grades, the last explicit decision wins, and where none is stated the reading says
why. Nothing is guessed. `docs/how-to/read-grades.md` shows the ladder of rules.
"""

from __future__ import annotations

from guildhall.domain.boswell import Reading
from guildhall.peer.absence import why_no_grade
from guildhall.peer.descriptors import suggested_grade
from guildhall.peer.placing import Standing, standings
from guildhall.peer.statements import LADDER, Statement, statements
from guildhall.peer.tokens import plain
from guildhall.peer.vocabulary import Scope

READER_VERSION = 1
"""Raised whenever a rule changes, so that stored readings name the rules they rest on."""


def read_grade(text: str, *, cut_off: bool = False, infer: bool = False) -> Reading:
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
    if infer and (suggestion := suggested_grade(flat)):
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
    if placed[-1] is Standing.UNHEADED:
        placed[-1] = Standing.WHOLE
    whole = [statement for statement, standing in zip(candidates, placed, strict=True) if standing is Standing.WHOLE]
    if whole:
        return whole[-1]
    closing = [
        statement for statement, standing in zip(candidates, placed, strict=True) if standing is Standing.CLOSING
    ]
    agreed = len({statement.token.grade for statement in closing}) == 1
    return closing[-1] if agreed and placed[-1] is Standing.CLOSING else None


def _last_in_prose(given: list[Statement]) -> Statement | None:
    return next((s for s in reversed(given) if s.in_prose and s.scope is not Scope.PART), None)
