"""Names that tell nothing: of files (`A-1.docx`, `A-2.xlsx`, ...) and of the folders in paths inside them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import PurePosixPath

from guildhall.documents.kinds import Kind, claimed_kind
from guildhall.documents.tells import folded_name
from guildhall.documents.values import Cleaned, Omission
from guildhall.domain.values import Value


class BlindName(Value):
    """A file's name as a grader sees it; `named_as_asked` is None when the brief asked for no name."""

    original: str
    shown: str
    named_as_asked: bool | None = None


def blind_names(
    names: Sequence[str], *, side: str = "A", asked: Iterable[str] = (), kinds: Sequence[Kind | None] | None = None
) -> tuple[BlindName, ...]:
    """One name for each file, numbered in the order of the original names so that order tells nothing.

    The extension is that of the file's real kind where it is known. `asked` holds the names a brief demands:
    case, blanks, dashes and the form of accents do not matter, folders do not either.
    """
    wanted = {folded_name(name) for name in asked}
    known = kinds if kinds is not None else [None] * len(names)
    order = sorted(range(len(names)), key=lambda index: (_folded(names[index]), names[index]))
    numbers = {index: number for number, index in enumerate(order, start=1)}
    return tuple(
        BlindName(
            original=name,
            shown=f"{side}-{numbers[index]}{_extension(name, known[index])}",
            named_as_asked=folded_name(PurePosixPath(name.replace("\\", "/")).name) in wanted if wanted else None,
        )
        for index, name in enumerate(names)
    )


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", PurePosixPath(name.replace("\\", "/")).name).casefold()


def _extension(name: str, kind: Kind | None) -> str:
    """The real kind's extension; the given one only where it claims a kind we know, for it may hold a name."""
    if kind is not None and kind.ending is not None:
        return kind.ending
    suffix = PurePosixPath(name).suffix.lower()
    return suffix if claimed_kind(name) is not None else ""


_DISK = r"[A-Za-z]:[\\/]|\\\\"
_TOP = r"(?:Users|home|Volumes|mnt|tmp|var|private)/"
_HOME = re.compile(rf"^(?:file:/*)?(?:(?:\.\.[\\/])*(?:{_DISK})|/+{_TOP}|(?:\.\./)+{_TOP})", re.IGNORECASE)
"""Programs also write a disk path as one that climbs: `../../../C:/Users/...`."""

_SOMEBODYS = re.compile(r"[\\/](?:Users|home|Documents and Settings)[\\/][^\\/]+[\\/]*$", re.IGNORECASE)


def tells_a_machine(path: str) -> bool:
    """Whether this is a path on somebody's disk or share, not a web address or a name inside a package."""
    return bool(_HOME.match(path))


def bare_name(path: str) -> str:
    """The last step of a path; that of somebody's own folder is their name, and not told."""
    if _SOMEBODYS.search(path):
        return "folder"
    return re.split(r"[\\/]", path.rstrip("\\/"))[-1]


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
