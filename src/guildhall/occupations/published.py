"""How much of O*NET there is to cover: the tasks published for given occupations, by their titles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from guildhall.occupations.sources import require_source
from guildhall.occupations.tasks import plain_words, read_statements, reconciliations

SOC_LENGTH = 7
"""`11-3031` of `11-3031.01`: O*NET's finer occupations belong to the six-digit one."""


@dataclass(frozen=True)
class PublishedTasks:
    """Different tasks of some occupations (in plain words), and the titles for which O*NET has none."""

    tasks: frozenset[str]
    without: tuple[str, ...]


def published_tasks(folder: Path, titles: Iterable[str]) -> PublishedTasks:
    """O*NET's task statements for occupations by their BLS titles, with finer occupations and reconciliations."""
    codes: dict[str, set[str]] = {}
    by_code: dict[str, set[str]] = {}
    for statement in read_statements(require_source(folder, "statements"), {}):
        code = statement.onet[:SOC_LENGTH]
        codes.setdefault(statement.title, set()).add(code)
        by_code.setdefault(code, set()).add(plain_words(statement.task))
    split = reconciliations()
    found: set[str] = set()
    without = []
    for title in sorted(set(titles)):
        mine = set().union(*(codes.get(part, set()) for part in split.get(title, (title,))))
        found |= set().union(*(by_code[code] for code in mine))
        without += [] if mine else [title]
    return PublishedTasks(frozenset(found), tuple(without))
