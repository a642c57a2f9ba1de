"""The confidence an author states on its last line: read strictly, kept apart, and never guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LAST_LINE = re.compile(r"CONFIDENCE\[(\d{1,3})\]")
ANYWHERE = re.compile(rb"CONFIDENCE\[\s*\d{1,3}\s*\]")


@dataclass(frozen=True)
class Stated:
    """The text without its confidence line, the figure, and what was wrong where it could not be read."""

    text: str
    confidence: int | None
    fault: str | None = None


def read_confidence(text: str) -> Stated:
    """Take `CONFIDENCE[0-100]` off the last line.

    Only a last line that consists of nothing else counts. Anything else that looks like it stays in the text and is
    named as a fault; a text without any has simply stated none.
    """
    kept = text.rstrip()
    body, _, last = kept.rpartition("\n")
    found = _LAST_LINE.fullmatch(last.strip())
    if found and int(found[1]) <= 100:
        return Stated(body.rstrip(), int(found[1]))
    if found:
        return Stated(text, None, f"the confidence {found[1]} is above 100")
    if "CONFIDENCE[" in text:
        return Stated(text, None, "CONFIDENCE[...] does not stand alone on the last line")
    return Stated(text, None)
