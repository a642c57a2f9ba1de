"""Why a reply states no grade."""

from __future__ import annotations

import re

from guildhall.domain.boswell import NoGrade
from guildhall.peer.tokens import tokens

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
