"""Reading a judge's verdict, strictly: a form it was told to use, or a failure that is kept and can be judged again.

Nothing is guessed. A letter somewhere in the prose is not a verdict, two verdicts are none, and what cannot be read
never becomes a tie.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from string import ascii_uppercase

from pydantic import JsonValue

from guildhall.domain.judgments import CRITERIA
from guildhall.domain.submissions import StopReason
from guildhall.engine.calls import Reply
from guildhall.errors import UnreadableVerdict

TIE = "TIE"
_PAIR = re.compile(r"VERDICT\[(A|B|TIE)\]")
_RANKING = re.compile(r"RANKING\[([A-Z](?:[>=][A-Z])*)\]")
_PAIR_RANKS = {"A": (1, 2), "B": (2, 1), TIE: (1, 1)}


@dataclass(frozen=True)
class VerdictReading:
    """What a reply says: a rank for each shown place, the reason, and single criteria where it was asked for them."""

    ranks: tuple[int, ...]
    reason: str
    criteria: dict[str, int | None] = field(default_factory=dict)


def pair_schema() -> dict[str, JsonValue]:
    """The shape of a pairwise verdict for providers that hold a model to one: reasons first, then the verdict."""
    choice: dict[str, JsonValue] = {"type": "string", "enum": ["A", "B", TIE]}
    criteria: dict[str, JsonValue] = {
        "type": "object",
        "properties": dict.fromkeys(CRITERIA, choice),
        "required": list(CRITERIA),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "criteria": criteria, "verdict": choice},
        "required": ["reason", "criteria", "verdict"],
        "additionalProperties": False,
    }


def read_verdict(reply: Reply, *, places: int, by_schema: bool) -> VerdictReading:
    """The verdict of a reply on `places` sides, or `UnreadableVerdict` with what is wrong with it."""
    if places == 2 and by_schema:
        return _read_data(reply)
    if places == 2:
        return VerdictReading(
            _PAIR_RANKS[_found(_PAIR, reply.text, "VERDICT[A], VERDICT[B] or VERDICT[TIE]")], _reason(reply)
        )
    return VerdictReading(read_ranking(reply.text, places), _reason(reply))


def failure_of(reply: Reply) -> str | None:
    """Why a reply cannot hold a verdict at all: the provider failed, the model refused or was cut off."""
    if reply.error is not None:
        return f"provider failed: {reply.error}"
    return None if reply.stop is StopReason.FINISHED else f"{reply.stop.value}: {reply.text.strip()[-200:]}"


def read_ranking(text: str, places: int) -> tuple[int, ...]:
    """Ranks from `RANKING[B>A=C]`; each letter once. After a tie the next rank leaves a gap, as in sport."""
    line = _found(_RANKING, text, "RANKING[B>A=C] with every letter once")
    letters = re.split("[>=]", line)
    if sorted(letters) != list(ascii_uppercase[:places]):
        raise UnreadableVerdict(f"the ranking names {', '.join(letters)}, but {places} were shown", reply=text)
    ranks, rank = {}, 1
    for number, letter in enumerate(letters, 1):
        if number > 1 and line[2 * number - 3] == ">":
            rank = number
        ranks[letter] = rank
    return tuple(ranks[letter] for letter in ascii_uppercase[:places])


def last_line(text: str) -> str:
    """The last line with anything on it, without blanks at its ends; empty where there is none."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def reason_in(text: str) -> str:
    """What the judge said before its last line."""
    return text.strip().rpartition("\n")[0].strip()


def _reason(reply: Reply) -> str:
    return reason_in(reply.text)


def _found(form: re.Pattern[str], text: str, wanted: str) -> str:
    found = form.fullmatch(last_line(text))
    if found is None:
        raise UnreadableVerdict(f"the last line is not {wanted} alone", reply=text)
    return found[1]


def _read_data(reply: Reply) -> VerdictReading:
    data = reply.data
    verdict = data.get("verdict") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(verdict, str) or verdict not in _PAIR_RANKS:
        raise UnreadableVerdict("the reply is not JSON with a verdict of A, B or TIE", reply=reply.text)
    given = data.get("criteria")
    steps = {"A": -1, "B": 1, TIE: 0}
    criteria = {
        name: steps[choice]
        for name, choice in (given.items() if isinstance(given, dict) else ())
        if name in CRITERIA and isinstance(choice, str) and choice in steps
    }
    return VerdictReading(_PAIR_RANKS[verdict], str(data.get("reason", "")), dict(criteria))
