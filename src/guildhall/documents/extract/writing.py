"""Writing within a budget: what does not fit is counted by its unit, and never cut in silence."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from guildhall.documents.kinds import Kind
from guildhall.documents.values import Omission
from guildhall.domain.values import Value

Facts = dict[str, "str | int | float | bool | None"]
"""What is known of a file beside its words; `pages` is how many it has."""


@dataclass(frozen=True)
class FileToRead:
    """A file for a reader: where its bytes lie, what it is, how it is called, how deep in archives it was found.

    `copy` is ours: what each program stores in its own way (values of formulas, coding) is read there.
    """

    path: Path
    kind: Kind
    name: str
    depth: int = 0
    copy: Path | None = None

    def data(self) -> bytes:
        return self.path.read_bytes()


class TextBudget(Value):
    """How much text a reader can take, and how much reading by picture is allowed."""

    chars: Annotated[int, Field(ge=0)] = 400_000
    ocr_pages: Annotated[int, Field(ge=0)] = 20


class Writer:
    """Collects lines until the budget is used up; from then on it only counts.

    `as_written` keeps signs without a shape, for those who look for them.
    """

    def __init__(self, budget: TextBudget, *, as_written: bool = False) -> None:
        self.budget = budget
        self._shown = str if as_written else visible
        self._left = budget.chars
        self._lines: list[str] = []
        self._omitted: Counter[tuple[str, str]] = Counter()

    @property
    def full(self) -> bool:
        return self._left <= 0

    def add(self, line: str, *, unit: str = "lines") -> None:
        """Write a line; the part that does not fit is counted in characters, a line that does not begin in `unit`."""
        if self.full:
            self._omitted[unit, self._reason] += 1
            return
        line = self._shown(line)
        kept = line[: self._left]
        if len(kept) < len(line):
            self._omitted["characters", self._reason] += len(line) - len(kept)
        self._lines.append(kept)
        self._left -= len(kept) + 1

    def omit(self, what: str, reason: str, count: int = 1) -> None:
        self._omitted[what, reason] += count

    @property
    def _reason(self) -> str:
        return f"over the budget of {self.budget.chars} characters"

    def text(self) -> str:
        return "\n".join(self._lines)

    def omitted(self) -> tuple[Omission, ...]:
        return tuple(Omission(what=what, reason=why, count=n) for (what, why), n in self._omitted.items())


_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Cn"})
_SHAPERS = frozenset("\u200c\u200d") | {chr(code) for code in range(0xFE00, 0xFE10)}
"""Signs that join the letter before them or choose its form."""
_CHOICES = range(0xE0100, 0xE01F0)


def visible(text: str) -> str:
    """The letters a reader can see, composed, with lines ended in one way.

    Signs without a shape (marks of byte order, tags, zero-width blanks, controls) could carry a message that nobody
    sees. Those that shape the letter before them stay, one for a letter, and never behind plain ones.
    """
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    if plain.isascii() and plain.replace("\n", "").replace("\t", "").isprintable():
        return plain
    seen: list[str] = []
    for letter in unicodedata.normalize("NFC", plain):
        if letter in _SHAPERS:
            if seen and not seen[-1].isascii() and seen[-1] not in _SHAPERS:
                seen.append(letter)
        elif letter in "\n\t" or (unicodedata.category(letter) not in _UNSEEN and ord(letter) not in _CHOICES):
            seen.append(letter)
    return unicodedata.normalize("NFC", "".join(seen))


def table_row(cells: list[str]) -> str:
    """Cells as one line of a Markdown table."""
    return "| " + " | ".join(cell.replace("\n", " / ").replace("|", "\\|").strip() for cell in cells) + " |"
