"""What a scrub keeps count of: the places it cleaned, the people it renamed, the content it could not clean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from guildhall.documents.kinds import Kind
from guildhall.documents.values import Cleaned, Omission

FIXED_MOMENT = datetime(2000, 1, 1)  # noqa: DTZ001 - a constant written into files, in no zone
FIXED_STAMP = "2000-01-01T00:00:00Z"
SIGNATURE = "Guildhall"
"""The one value a generator field takes where no program's layout depends on it."""


MemberScrub = Callable[[str, bytes], bytes]
"""Scrubs a file that was found inside another, given its name and its bytes."""


@dataclass(frozen=True)
class ScrubContext:
    """What a scrubber is told beside the bytes: their kind, their name, and how to scrub a file inside them."""

    kind: Kind
    name: str
    member: MemberScrub


class ScrubLedger:
    """The running record of one scrub: filled by the format modules, read once at the end.

    People are numbered in the order they are met, so the same file always gives the same aliases. What was
    removed is counted by place; its content is kept nowhere.
    """

    def __init__(self) -> None:
        self._cleaned: Counter[tuple[str, str]] = Counter()
        self._omitted: Counter[tuple[str, str]] = Counter()
        self._people: dict[str, str] = {}
        self._ids: dict[str, int] = {}

    def clean(self, place: str, action: str, count: int = 1) -> None:
        if count:
            self._cleaned[place, action] += count

    def omit(self, what: str, reason: str, count: int = 1) -> None:
        if count:
            self._omitted[what, reason] += count

    def alias(self, person: str) -> str:
        """`Author 1` for the first person met, `Author 2` for the second, and the same again for the same name."""
        return self._people.setdefault(person.strip().casefold(), f"Author {len(self._people) + 1}")

    def initials(self, alias: str) -> str:
        return "A" + alias.removeprefix("Author ")

    def number(self, identifier: str) -> int:
        """A small number that stands for a random identifier wherever it is met again."""
        return self._ids.setdefault(identifier.casefold(), len(self._ids) + 1)

    def guid(self, identifier: str) -> str:
        return f"{{00000000-0000-4000-8000-{self.number(identifier):012X}}}"

    def cleaned(self) -> tuple[Cleaned, ...]:
        return tuple(Cleaned(place=p, action=a, count=n) for (p, a), n in sorted(self._cleaned.items()))

    def omitted(self) -> tuple[Omission, ...]:
        return tuple(Omission(what=w, reason=r, count=n) for (w, r), n in sorted(self._omitted.items()))


def ranked_stamps(stamps: set[str]) -> dict[str, str]:
    """Each time of a discussion as its rank after the fixed moment, a minute apart: the order stays, the clock goes."""
    return {
        stamp: (FIXED_MOMENT + timedelta(minutes=rank)).strftime("%Y-%m-%dT%H:%M:%SZ")
        for rank, stamp in enumerate(sorted(stamps))
    }
