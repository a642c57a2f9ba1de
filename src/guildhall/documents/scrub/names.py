"""Names that tell nothing: `A-1.docx`, `A-2.xlsx`, ... and whether a file bore the name the brief asked for."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from guildhall.documents.kinds import Kind, claimed_kind
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
    case and the form of accents do not matter, folders do not either.
    """
    wanted = {_folded(name) for name in asked}
    known = kinds if kinds is not None else [None] * len(names)
    order = sorted(range(len(names)), key=lambda index: (_folded(names[index]), names[index]))
    numbers = {index: number for number, index in enumerate(order, start=1)}
    return tuple(
        BlindName(
            original=name,
            shown=f"{side}-{numbers[index]}{_extension(name, known[index])}",
            named_as_asked=_folded(name) in wanted if wanted else None,
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
