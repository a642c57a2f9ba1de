"""Stand-ins for judges, offline and deterministic: one counts words, one opens the workbooks; both say so."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from itertools import pairwise

from guildhall.engine.scripted import Answer, ToolUse, Turn, scripted
from guildhall.judging.fences import pieces

_HEADING = re.compile(r"## Submission ([A-Z])")


@scripted("word-counter")
def word_counter(turn: Turn) -> Answer:
    """Prefers the submission with more words; holds an item met when most of its words occur in the submission."""
    if "\n# The criteria\n" in "".join(piece.text for piece in pieces(turn.prompt) if not piece.code):
        return Answer(text=_items(turn.prompt))
    words = words_by_side(turn.prompt)
    counted = ", ".join(f"{letter} has {count}" for letter, count in words.items())
    return Answer(text=f"Counting words as a stand-in for judgment: {counted}.\n\n{_verdict(words)}")


def words_by_side(prompt: str) -> dict[str, int]:
    """How many words stand under each submission of a comparison; a heading inside a fence is none."""
    words: dict[str, int] = {}
    letter = ""
    for piece in pieces(prompt):
        for line in piece.text.split("\n"):
            if not piece.code and (heading := _HEADING.fullmatch(line)):
                letter = heading[1]
                words[letter] = 0
            if letter:
                words[letter] += len(line.split())
    return words


def _verdict(words: dict[str, int]) -> str:
    if len(words) == 2:
        return "VERDICT[TIE]" if words["A"] == words["B"] else f"VERDICT[{'A' if words['A'] > words['B'] else 'B'}]"
    order = sorted(words, key=lambda letter: -words[letter])
    ranking = order[0]
    for before, letter in pairwise(order):
        ranking += ("=" if words[before] == words[letter] else ">") + letter
    return f"RANKING[{ranking}]"


def _items(prompt: str) -> str:
    work, _, criteria = prompt.rpartition("\n# The criteria\n")
    known = set(re.findall(r"[a-z0-9]{4,}", work.partition("## The submission")[2].lower()))
    lines = []
    for number, text in re.findall(r"^ITEM (\d+): (.*)$", criteria, re.MULTILINE):
        wanted = re.findall(r"[a-z0-9]{4,}", text.lower())
        share = sum(word in known for word in wanted) / len(wanted) if wanted else 0.0
        lines.append(f'ITEM {number}: {"MET" if share > 0.6 else "PARTLY" if share > 0.4 else "NOT"} | ""')
    return "\n".join(lines)


@scripted("recounter")
def recounter(turn: Turn) -> Answer:
    """A stand-in for a judge with tools: it adds up the sums of both sides' workbooks, and fewer wrong totals win."""
    if turn.number == 0:
        program = files("guildhall.judging").joinpath("programs", "recount.py").read_text(encoding="utf-8")
        return Answer(text="I add up what the workbooks say.", tools=(ToolUse("python", {"code": program}),))
    try:
        counted = {letter: wrong for letter, (_, wrong) in json.loads(turn.messages[-1].text).items()}
    except ValueError:
        return Answer(text=f"The workbooks could not be counted: {turn.messages[-1].text[-300:]}")
    told = ", ".join(f"{letter} has {wrong} wrong totals" for letter, wrong in counted.items())
    wrong = [counted.get(letter, 0) for letter in "AB"]
    verdict = "TIE" if wrong[0] == wrong[1] else "A" if wrong[0] < wrong[1] else "B"
    return Answer(text=f"Recomputed: {told or 'no workbooks'}.\n\nVERDICT[{verdict}]")


@scripted("picker")
def picker(turn: Turn) -> Answer:
    """A stand-in for a judge: it picks the submission with the most words, and says so."""
    words = words_by_side(turn.prompt)
    best = max(words, key=lambda letter: words[letter]) if words else "A"
    counted = ", ".join(f"{letter} has {count}" for letter, count in words.items())
    return Answer(text=f"Counting words as a stand-in for judgment: {counted}.\n\nBEST[{best}]")
