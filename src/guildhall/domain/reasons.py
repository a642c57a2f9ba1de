"""Why work lost or won: justifications coded into labels that exclude each other."""

from __future__ import annotations

from guildhall.domain.estimates import Estimate
from guildhall.domain.values import Value

LABELS = {
    "instruction following": "did, or failed to do, what the brief asked",
    "accuracy": "facts, figures or reasoning are right or wrong",
    "completeness": "parts are there, or are missing or too thin",
    "formatting": "layout, legibility, style and polish of the files",
    "missing deliverable": "an asked-for file is not there at all",
    "ignored references": "the reference files were used, or were not",
    "wrong format": "the file is of another type than was asked for",
    "clarity": "easy or hard to follow; too long or too short",
    "professional judgment": "what an expert of the field would or would not have done",
}
"""What a coder may choose; a justification that names no one main reason stays blank."""


class ReasonShare(Value):
    """How often one model's work lost (or won) for one reason, of all coded justifications of that side."""

    model: str
    side: str
    """`lost` or `won`."""
    label: str
    share: Estimate


class ReasonExample(Value):
    """A justification in the grader's own words, and where to find it."""

    label: str
    side: str
    model: str
    task: str
    judgment: str
    words: str


class Reasons(Value):
    """Reasons by the first coder; where there are several, how far they agree."""

    coder: str
    others: tuple[str, ...] = ()
    coded: int
    blank: int
    """Justifications whose main reason is unclear: counted, and no label's."""
    uncoded: int
    shares: tuple[ReasonShare, ...]
    agreement: tuple[tuple[str, Estimate], ...] = ()
    examples: tuple[ReasonExample, ...] = ()
