"""The last tier of the seed's ladder: guessing a grade from words of praise. It only ever suggests.

Off by default: a reply that states no grade has no grade. Where it is asked for, the reading is marked inferred.
"""

from __future__ import annotations

import re
from collections import Counter

DESCRIPTORS: dict[str, tuple[str, ...]] = {
    "A+": ("flawless", "perfect", "superb"),
    "A": ("exceptional", "outstanding", "excellent", "superior", "remarkable"),
    "A-": ("very good", "impressive", "thorough"),
    "B+": ("commendable", "above average", "effective"),
    "B": ("good", "competent", "solid"),
    "B-": ("satisfactory", "acceptable", "adequate", "sufficient"),
    "C+": ("fair", "moderate"),
    "C": ("average", "mediocre", "passable"),
    "C-": ("below average", "minimal", "weak", "limited"),
}
"""Each descriptor under one grade only, so that none counts twice."""

_GRADE_OF = {word: grade for grade, words in DESCRIPTORS.items() for word in words}
_ANY = re.compile(
    r"(?P<negated>\b(?:not|never|hardly|no|n't|isn't|far from)\s{1,3}(?:\w{1,20}\s{1,3})?)?\b(?P<word>"
    + "|".join(sorted(map(re.escape, _GRADE_OF), key=len, reverse=True))
    + r")\b",
    re.IGNORECASE,
)


def suggested_grade(text: str) -> str | None:
    """The grade whose descriptors occur most, negated ones left out; None where there are none or a draw."""
    counts = Counter(_GRADE_OF[match["word"].lower()] for match in _ANY.finditer(text) if not match["negated"])
    leaders = counts.most_common(2)
    if not leaders or (len(leaders) == 2 and leaders[0][1] == leaders[1][1]):
        return None
    return leaders[0][0]
