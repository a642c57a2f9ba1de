"""Coding one justification: the question, and the strict reading of its answer."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from pydantic import JsonValue

from guildhall.domain.reasons import LABELS
from guildhall.engine.calls import Call
from guildhall.engine.scripted import Answer, Turn, scripted
from guildhall.errors import UnreadableVerdict
from guildhall.judging.verdicts import last_line

UNCLEAR = "unclear"
_VERDICT = re.compile(r"REASON\[([a-z ]+)\]")


def reason_call(model: str, words: str, side: str, settings: dict[str, JsonValue] | None = None) -> Call:
    """The question why work won or lost; who made it is nowhere in it."""
    question = f"The work in question {side}. The grader's justification:\n\n<justification>\n{words}\n</justification>"
    return Call.ask(model, question, system=_prompt(), settings=settings or {}, purpose="reason")


def read_reason(reply: str) -> str:
    """The label, empty when the coder found it unclear. Only a last line that is the verdict alone counts."""
    found = _VERDICT.fullmatch(last_line(reply))
    if found is None:
        raise UnreadableVerdict("the last line is not REASON[label] alone", reply=reply)
    if found[1] == UNCLEAR:
        return ""
    if found[1] not in LABELS:
        raise UnreadableVerdict(f"{found[1]!r} is not one of the labels", reply=reply)
    return found[1]


@cache
def _prompt() -> str:
    text = files("guildhall.judging").joinpath("prompts", "reason-1.md").read_text(encoding="utf-8")
    return text.replace("{labels}", "\n".join(f"- `{label}`: {words}" for label, words in LABELS.items()))


_TELLING = {
    "missing deliverable": ("missing file", "no file", "not delivered"),
    "wrong format": ("wrong format", "instead of a", "file type"),
    "ignored references": ("reference",),
    "accuracy": ("wrong", "error", "incorrect", "accurate", "right figures", "add up"),
    "formatting": ("format", "layout", "legible", "polish"),
    "completeness": ("incomplete", "missing", "complete", "thin"),
    "instruction following": ("brief", "asked", "instruction"),
    "clarity": ("clear", "confus", "follow"),
}


@scripted("reason-coder")
def reason_coder(turn: Turn) -> Answer:
    """A stand-in for a coder: the first label whose telling words occur, else unclear."""
    said = turn.prompt.rpartition("<justification>")[2].lower()
    label = next((name for name, words in _TELLING.items() if any(word in said for word in words)), UNCLEAR)
    return Answer(text=f"REASON[{label}]")
