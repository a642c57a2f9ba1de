"""O*NET's vocabulary: tags held against its titles, and tags proposed by a model for a person to confirm.

Skills and work activities are the same for every occupation and ship as `onet.toml`. The tasks of an occupation are
O*NET's Task Statements, which the user has; without that file they are words nobody holds against anything.
"""

from __future__ import annotations

import csv
import difflib
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from guildhall.domain.tasks import OnetTags, Task
from guildhall.engine.calls import Call, Reply
from guildhall.errors import InputError, UnknownName, UnreadableFile

KINDS = {"skills": "skill", "work_activities": "work activity"}
COLUMNS = ("task", "kind", "title", "confirmed_by")
_NEAR = 0.6
Ask = Callable[[Iterable[Call]], Any]


@cache
def vocabulary() -> Mapping[str, tuple[str, ...]]:
    """The titles by kind: 35 skills, 41 work activities."""
    read = tomllib.loads(files("guildhall.taskbank").joinpath("onet.toml").read_text(encoding="utf-8"))
    return {kind: tuple(read[kind]) for kind in KINDS}


def title_of(kind: str, said: str) -> str | None:
    """The published title that was said, however it is spaced and capitalised."""
    return {_plain(title): title for title in vocabulary()[kind]}.get(_plain(said))


def _plain(words: str) -> str:
    return " ".join(words.casefold().split())


def faults_of(tags: OnetTags) -> Iterator[tuple[str, str]]:
    """Kinds and what is wrong with a tag of that kind, each with the nearest title."""
    for kind, name in KINDS.items():
        for said in getattr(tags, kind):
            if title_of(kind, said) is None:
                known = {_plain(title): title for title in vocabulary()[kind]}
                near = difflib.get_close_matches(_plain(said), known, n=1, cutoff=_NEAR)
                hint = f"; the nearest is {known[near[0]]!r}" if near else ""
                yield kind, f"{said!r} is no O*NET {name}{hint}"


def held(tags: OnetTags) -> OnetTags:
    """The tags by their published titles; a strange one is refused with the nearest."""
    if wrong := [words for _, words in faults_of(tags)]:
        raise InputError(f"{'; '.join(wrong)}; choose from the list")
    named = {kind: tuple(dict.fromkeys(title_of(kind, said) or said for said in getattr(tags, kind))) for kind in KINDS}
    return tags.but(**named)


def propose(
    tasks: Sequence[Task], *, model: str, ask: Ask, statements: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str, str]]:
    """(task id, kind, title) that a model proposes; titles that were not on its list are dropped by the schema.

    `statements` are O*NET's tasks by occupation; where there are none, none are asked for.
    """
    system = files("guildhall.taskbank").joinpath("prompts", "tag-1.md").read_text(encoding="utf-8")
    calls = {
        task.id: Call.ask(
            model,
            f"Occupation: {task.occupation}\n\nTASK BEGINS\n{task.brief}\nTASK ENDS",
            system=system,
            answer_schema=_schema(statements.get(task.occupation, ())),
            purpose="tagging",
        )
        for task in tasks
    }
    answers = ask(calls.values())
    for task in tasks:
        reply: Reply | None = answers.of(calls[task.id])
        said = reply.data if reply is not None and not reply.failed and isinstance(reply.data, dict) else {}
        known = {**vocabulary(), "tasks": tuple(statements.get(task.occupation, ()))}
        for kind, titles in known.items():
            proposed = said.get(kind)
            for title in dict.fromkeys(proposed if isinstance(proposed, list) else ()):
                if title in titles:
                    yield task.id, kind, title


def _schema(statements: Sequence[str]) -> dict[str, JsonValue]:
    lists = {**vocabulary(), **({"tasks": tuple(statements)} if statements else {})}
    chosen: dict[str, JsonValue] = {
        kind: {"type": "array", "items": {"enum": list(titles)}} for kind, titles in lists.items()
    }
    return {"type": "object", "properties": chosen, "required": list(lists), "additionalProperties": False}


def write_proposals(path: Path, rows: Iterable[tuple[str, str, str]]) -> int:
    """A file for a person: who agrees with a line writes their code name into its last column."""
    with path.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(COLUMNS)
        written = [writer.writerow((*row, "")) for row in rows]
    return len(written)


def confirmed(path: Path, *, people: Iterable[str]) -> dict[str, OnetTags]:
    """Task id -> the tags that somebody on the roster confirmed; lines without a name are left out."""
    roster, found = set(people), dict[str, dict[str, list[str]]]()
    with path.open(encoding="utf-8-sig", newline="") as lines:
        reader = csv.DictReader(lines)
        if missing := set(COLUMNS) - set(reader.fieldnames or ()):
            raise UnreadableFile(path, f"has no column {', '.join(sorted(missing))}")
        for row in reader:
            by = (row["confirmed_by"] or "").strip()
            if not by:
                continue
            if by not in roster:
                raise UnknownName("code name", by, known=sorted(roster))
            if row["kind"] not in {*KINDS, "tasks"}:
                raise UnknownName("kind of tag", row["kind"], known=[*KINDS, "tasks"])
            found.setdefault(row["task"], {}).setdefault(row["kind"], []).append(row["title"])
    return {task: held(OnetTags(**{kind: tuple(said) for kind, said in tags.items()})) for task, tags in found.items()}
