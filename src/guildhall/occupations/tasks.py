"""O*NET's tasks and ratings, gathered for each OEWS occupation through the codes and the twelve reconciliations."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from guildhall.occupations.digital import TaskStatement
from guildhall.occupations.sources import SOURCES, find_source, number, read_rows, require_source

SCALES = {"FT": "frequency", "IM": "importance", "RT": "relevance"}
_PLAIN = {"freq_mean_2025": "frequency", "importance_2025": "importance", "relevance_2025": "relevance"}
"""Columns of flat rating tables that go round; frequencies there are shares of the largest category."""

Ratings = dict[tuple[str, str], dict[str, float]]


def reconciliations() -> dict[str, tuple[str, ...]]:
    """OEWS title -> the O*NET titles whose tasks are added together."""
    text = files("guildhall.occupations").joinpath("reconciliations.toml").read_text(encoding="utf-8")
    return {entry["title"]: tuple(entry["parts"]) for entry in tomllib.loads(text)["reconciled"]}


def read_ratings(path: Path) -> Ratings:
    """(O*NET code, task key) -> ratings. The key is the task's id in the official file, its words in flat tables."""
    rows = iter(read_rows(path))
    first = next(rows, None)
    if first is None:
        return {}
    everything = [first, *rows]
    return _official(everything) if "Scale ID" in first else _flat(everything)


LATER = ("11-3013", "29-2036")
"""Facilities Managers and Medical Dosimetrists: not rated in the release the method uses, but in the one after."""


def ratings_of(folder: Path) -> Ratings:
    """The folder's ratings; of the two occupations it may lack them for, those of a later release beside it.

    That file is told by its name: `Task Ratings 29.0.txt`, or any with 29.0 or 29_0 in it.
    """
    main, later = find_source(folder, "ratings"), find_source(folder, "later_ratings")
    found = read_ratings(main) if main else {}
    rated = {onet[:SOC_LENGTH] for onet, _ in found}
    added = read_ratings(later) if later else {}
    wanted = set(LATER) - rated
    return found | {key: value for key, value in added.items() if key[0][:SOC_LENGTH] in wanted}


def _official(rows: Sequence[Mapping[str, object]]) -> Ratings:
    """FT rows are percentages over seven categories of frequency: their mean category is the frequency."""
    found: Ratings = {}
    for row in rows:
        name = SCALES.get(str(row["Scale ID"]))
        value = number(row["Data Value"])
        if name is None or value is None:
            continue
        mine = found.setdefault((str(row["O*NET-SOC Code"]), str(row["Task ID"])), {})
        if name == "frequency":
            category = number(row["Category"])
            if category is not None:
                mine[name] = mine.get(name, 0.0) + category * value / 100
        else:
            mine[name] = value
    return found


def _flat(rows: Sequence[Mapping[str, object]]) -> Ratings:
    found: Ratings = {}
    for row in rows:
        values = {name: number(row.get(column)) for column, name in _PLAIN.items()}
        known = {name: value for name, value in values.items() if value is not None}
        if "frequency" in known and known["frequency"] <= 1:
            known["frequency"] *= 7
        found[str(row["soc_code_2010"]), plain_words(str(row["task"]))] = known
    return found


def read_statements(path: Path, ratings: Ratings) -> list[TaskStatement]:
    made = []
    for row in read_rows(path, columns=SOURCES["statements"].columns):
        onet, task = str(row["O*NET-SOC Code"]), str(row["Task"])
        mine = ratings.get((onet, str(row["Task ID"]))) or ratings.get((onet, plain_words(task))) or {}
        made.append(TaskStatement(onet, str(row.get("Title", "")), task, mine))
    return made


def by_occupation(statements: Sequence[TaskStatement], titles: Mapping[str, str]) -> dict[str, list[TaskStatement]]:
    """OEWS code -> statements: by the first six digits of the O*NET code, or by the titles of its parts."""
    by_code: dict[str, list[TaskStatement]] = {}
    by_title: dict[str, list[TaskStatement]] = {}
    for one in statements:
        by_code.setdefault(one.onet[:7], []).append(one)
        by_title.setdefault(one.title, []).append(one)
    split = reconciliations()
    gathered = {}
    for code, title in titles.items():
        parts = [one for part in split.get(title, ()) for one in by_title.get(part, [])]
        gathered[code] = parts or by_code.get(code, [])
    return gathered


def plain_words(text: str) -> str:
    """A task's words without case and punctuation: the same task reads alike in every release."""
    return " ".join("".join(char if char.isalnum() else " " for char in text.casefold()).split())


SOC_LENGTH = 7
"""`11-3031` of `11-3031.01`: O*NET's finer occupations belong to the six-digit one."""


@dataclass(frozen=True)
class PublishedTasks:
    """Different tasks of some occupations (in plain words), and the titles for which O*NET has none."""

    tasks: frozenset[str]
    without: tuple[str, ...]


def statements_of(folder: Path, titles: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Occupation title -> its tasks in O*NET's words, each once."""
    made = read_statements(require_source(folder, "statements"), {})
    codes: dict[str, set[str]] = {}
    for one in made:
        codes.setdefault(one.title, set()).add(one.onet[:SOC_LENGTH])
    split, found = reconciliations(), dict[str, tuple[str, ...]]()
    for title in sorted(set(titles)):
        mine = set().union(*(codes.get(part, set()) for part in split.get(title, (title,))))
        found[title] = tuple(dict.fromkeys(one.task for one in made if one.onet[:SOC_LENGTH] in mine))
    return found


def published_tasks(folder: Path, titles: Iterable[str]) -> PublishedTasks:
    """O*NET's task statements for occupations by their BLS titles, with finer occupations and reconciliations."""
    found = statements_of(folder, titles)
    tasks = frozenset(plain_words(task) for listed in found.values() for task in listed)
    return PublishedTasks(tasks, tuple(title for title, listed in found.items() if not listed))
