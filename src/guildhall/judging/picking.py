"""Picking the best of several submissions: the question, and the strict reading of its answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from itertools import pairwise
from string import ascii_uppercase

from pydantic import JsonValue

from guildhall.domain.authors import ModelGrader
from guildhall.domain.prepared import Prepared
from guildhall.domain.tasks import Task
from guildhall.domain.values import sha256
from guildhall.engine.calls import Call
from guildhall.engine.scripted import Answer, Turn, scripted
from guildhall.errors import UnreadableVerdict
from guildhall.judging.requests import Budget, Part, ReadBlob, material
from guildhall.judging.verdicts import last_line

_VERDICT = re.compile(r"BEST\[([A-Z])\]")


def picking_judge(name: str, model: str, settings: dict[str, JsonValue] | None = None) -> ModelGrader:
    """A judge that picks, known by its model, its settings and the prompt it works under."""
    return ModelGrader(name=name, model=model, settings=settings or {}, prompt_digest=sha256(_prompt().encode()))


def pick_call(
    judge: ModelGrader,
    task: Task,
    references: Prepared,
    shown: Sequence[Prepared],
    *,
    read_blob: ReadBlob,
    budget: Budget | None = None,
) -> Call:
    """The question which of the shown submissions is best; they are lettered in the order given."""
    budget = budget or Budget()
    parts: list[Part | str] = [f"# The request\n\n{task.brief}"]
    if references.files:
        parts += material("Reference files", references, read_blob=read_blob, budget=budget).parts
    for letter, side in zip(ascii_uppercase, shown, strict=False):
        parts += material(f"Submission {letter}", side, read_blob=read_blob, budget=budget).parts
    return Call.ask(judge.model or "", *parts, system=_prompt(), settings=judge.settings, purpose="pick")


def read_pick(reply: str, count: int) -> int:
    """The place picked, counted from 0. Only a last line that is the verdict alone counts; else `UnreadableVerdict`."""
    found = _VERDICT.fullmatch(last_line(reply))
    if found is None:
        raise UnreadableVerdict("the last line is not BEST[X] alone", reply=reply)
    place = ascii_uppercase.index(found[1])
    if place >= count:
        raise UnreadableVerdict(f"{found[1]} was picked, but only {count} submissions were shown", reply=reply)
    return place


def _prompt() -> str:
    return files("guildhall.judging").joinpath("prompts", "pick-1.md").read_text(encoding="utf-8")


@scripted("picker")
def picker(turn: Turn) -> Answer:
    """A stand-in for a judge: it picks the submission with the most words, and says so."""
    places = [(found.start(), found[1]) for found in re.finditer(r"^## Submission ([A-Z])$", turn.prompt, re.MULTILINE)]
    ends = [*places, (len(turn.prompt), "")]
    words = {letter: len(turn.prompt[start:end].split()) for (start, letter), (end, _) in pairwise(ends)}
    best = max(words, key=lambda letter: words[letter]) if words else "A"
    counted = ", ".join(f"{letter} has {count}" for letter, count in words.items())
    return Answer(text=f"Counting words as a stand-in for judgment: {counted}.\n\nBEST[{best}]")
