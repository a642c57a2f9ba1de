"""The verdict form: its fields as plain answers (a draft may be half empty), and answers as a complete verdict."""

from __future__ import annotations

import re
from typing import Any

from pydantic import ValidationError
from starlette.datastructures import FormData

from guildhall.domain.halls import Verdict
from guildhall.domain.judgments import CRITERIA, Acceptance, BlindGuess, Usability
from guildhall.domain.tasks import Specification
from guildhall.grading.queue import Seat

ANSWERS = {
    "overall": "Overall",
    "tie_kind": "Kind of tie",
    "strength": "How clear it is",
    "confidence": "How sure you are",
    "reason": "Your reasons",
    "specification": "The brief",
    "notes": "Private notes",
    **{f"criterion-{name}": name.capitalize() for name in CRITERIA},
    **{f"rank-{place}": f"Rank of {place}" for place in "ABCDEFGHIJ"},
    **{f"usable-{place}": f"Usable: {place}" for place in "ABCDEFGHIJ"},
    **{f"edit-minutes-{place}": f"Minutes of edits: {place}" for place in "ABCDEFGHIJ"},
}
"""Every field of the form and its label; nothing else is kept of what a browser sends."""
LONGEST = 20_000


def answers_of(form: FormData) -> dict[str, str]:
    """The known fields that hold something, each within its length."""
    found = {name: form.get(name) for name in ANSWERS}
    return {name: value.strip()[:LONGEST] for name, value in found.items() if isinstance(value, str) and value.strip()}


def verdict_of(answers: dict[str, str], seat: Seat, *, guess: str = "") -> tuple[Verdict | None, list[str]]:
    """A complete verdict, or everything that is still missing, in words for the page."""
    faults: list[str] = []
    ranks = _ranks(answers, len(seat.slot.order), faults)
    if not answers.get("reason"):
        faults.append("Give your reasons.")
    if ranks is None or faults:
        return None, faults
    tied = len(set(ranks)) == 1
    if tied and answers.get("tie_kind") not in {"both good", "both poor"}:
        return None, ["A tie says whether both are good or both are poor."]
    try:
        return _verdict(answers, ranks, tied=tied, guess=guess), []
    except (ValidationError, ValueError) as error:
        first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        return None, [f"An answer is out of range: {first}"]


def _verdict(answers: dict[str, str], ranks: tuple[int, ...], *, tied: bool, guess: str) -> Verdict:
    return Verdict(
        ranks=ranks,
        tie_kind=answers.get("tie_kind") if tied else None,
        strength=int(answers["strength"]) if answers.get("strength") and not tied else None,
        confidence=float(answers["confidence"]) if answers.get("confidence") else None,
        criteria={name: _step(answers[f"criterion-{name}"]) for name in CRITERIA if answers.get(f"criterion-{name}")},
        reason=answers["reason"],
        usability=tuple(_usability(answers, len(ranks))),
        specification=Specification(answers["specification"]) if answers.get("specification") else None,
        guess=BlindGuess(guess) if guess else None,
    )


def _ranks(answers: dict[str, str], sides: int, faults: list[str]) -> tuple[int, ...] | None:
    if sides == 2:
        chosen = {"A": (1, 2), "B": (2, 1), "tie": (1, 1)}.get(answers.get("overall", ""))
        if chosen is None:
            faults.append("Say which deliverable is better overall, or that they are equal.")
        return chosen
    ranks = [answers.get(f"rank-{chr(65 + index)}", "") for index in range(sides)]
    if not all(re.fullmatch(r"[1-9]|10", rank) for rank in ranks):
        faults.append(f"Give each of the {sides} deliverables a rank; equal ranks are ties.")
        return None
    return tuple(int(rank) for rank in ranks)


def _step(text: str) -> int | None:
    return None if text == "n/a" else int(text)


def _usability(answers: dict[str, str], sides: int) -> Any:
    for index in range(sides):
        place = chr(65 + index)
        chosen = answers.get(f"usable-{place}")
        if chosen:
            minutes = answers.get(f"edit-minutes-{place}")
            kind = Acceptance(chosen)
            edits = float(minutes) if minutes and kind is Acceptance.AFTER_EDITS else None
            yield Usability(place=place, acceptance=kind, edit_minutes=edits)
