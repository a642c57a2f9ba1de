"""The verdict form: its fields as plain answers (a draft may be half empty), and answers as a complete verdict."""

from __future__ import annotations

import re
from typing import Any

from pydantic import ValidationError
from starlette.datastructures import FormData

from guildhall.domain.halls import SeverityVerdict, Verdict
from guildhall.domain.judgments import CRITERIA, Acceptance, BlindGuess, Severity, TimeCorrection, Usability
from guildhall.domain.tasks import Specification
from guildhall.errors import InputError
from guildhall.grading.queue import Seat
from guildhall.web.guard import number_in, word

ANSWERS = {
    "overall": "Overall",
    "tie_kind": "Kind of tie",
    "strength": "How clear it is",
    "confidence": "How sure you are",
    "reason": "Your reasons",
    "specification": "The brief",
    "severity": "How bad it is",
    "notes": "Private notes",
    **{f"criterion-{name}": name.capitalize() for name in CRITERIA},
    **{f"rank-{place}": f"Rank of {place}" for place in "ABCDEFGHIJ"},
    **{f"usable-{place}": f"Usable: {place}" for place in "ABCDEFGHIJ"},
    **{f"edit-minutes-{place}": f"Minutes of edits: {place}" for place in "ABCDEFGHIJ"},
}
"""Every field of the form and its label; nothing else is kept of what a browser sends."""
LONGEST = 20_000
_PINNED = re.compile(r"note-([A-JR])\.(\d{1,3})\.(\d{1,3})")


def answers_of(form: FormData) -> dict[str, str]:
    """The known fields that hold something, each within its length."""
    wanted = [*ANSWERS, *(name for name in form if _PINNED.fullmatch(name))]
    found = {name: form.get(name) for name in wanted}
    return {name: value.strip()[:LONGEST] for name, value in found.items() if isinstance(value, str) and value.strip()}


def label_of(name: str) -> str:
    """What a field is called on pages."""
    pinned = _PINNED.fullmatch(name)
    if pinned is None:
        return ANSWERS[name]
    place, file, page = pinned.groups()
    return f"Note on {'the references' if place == 'R' else place}, file {file}, page {page}"


OVERALL = {"A": "A is better", "B": "B is better", "tie": "They are equal"}
STRENGTHS = {"1": "slightly", "2": "clearly", "3": "by far"}
STEPS = {
    "-2": "A much better",
    "-1": "A better",
    "0": "the same",
    "1": "B better",
    "2": "B much better",
    "n/a": "does not apply",
}
"""What the values of the form's choices are called, on the form and on the review page."""


def words_of(name: str, value: str) -> str:
    """An answer in the words in which it was given."""
    if name.startswith("criterion-"):
        return STEPS.get(value, value)
    return {"overall": OVERALL, "strength": STRENGTHS}.get(name, {}).get(value, value)


def is_private(name: str) -> bool:
    """Notes help the grader and go nowhere: they are no part of a judgment."""
    return name == "notes" or name.startswith("note-")


def correction_of(form: FormData) -> TimeCorrection | None:
    """Time as the grader says it was; absent when they leave the clock's figure."""
    minutes, reason = word(form, "corrected_minutes"), word(form, "correction_reason")
    if not minutes:
        return None
    stated = number_in(minutes, 0, 9999.99)
    if stated is None or not reason:
        raise InputError("a corrected time is a number of minutes, with the reason why the clock was wrong")
    return TimeCorrection(active_s=stated * 60, reason=reason[:2000])


SEVERITIES = {
    str(one) if one is not Severity.MODEL_BETTER else "I disagree: this deliverable is the better": one
    for one in Severity
}
"""What raters are asked and send, in words that do not say who made it; kept and reported in the words of the paper."""


def severity_of(answers: dict[str, str]) -> tuple[SeverityVerdict | None, list[str]]:
    """How bad a deliverable is, or what is still missing."""
    faults = []
    if answers.get("severity") not in SEVERITIES:
        faults.append("Say how bad it is.")
    if not answers.get("reason"):
        faults.append("Give your reasons.")
    if faults:
        return None, faults
    return SeverityVerdict(severity=SEVERITIES[answers["severity"]], reason=answers["reason"]), []


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
