"""A colour for every grade: greens for A, blues for B, yellows for C, oranges for D, red for F, grey for none."""

from __future__ import annotations

from guildhall.domain.grades import COMPOSITES, NO_GRADE

COLOURS: dict[str, str] = {
    "A+": "#63BE7B", "A": "#8FD19E", "A-": "#B7E1C0",
    "B+": "#8DB4E2", "B": "#B0CDEB", "B-": "#D0E1F3",
    "C+": "#FFE699", "C": "#FFEFBD", "C-": "#FFF6DC",
    "D+": "#F8CBAD", "D": "#F4B183", "D-": "#EE9A63",
    "F": "#E06666", NO_GRADE: "#D9D9D9",
}  # fmt: skip


def colour_of(grade: str) -> str:
    """A letter's colour; a composite takes that of its better half."""
    return COLOURS[grade.split("/")[0] if grade in COMPOSITES else grade]
