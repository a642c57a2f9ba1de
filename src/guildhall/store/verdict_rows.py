"""One judgment's rows in the table of verdicts: a row for each work shown, whole numbers only, from its kept JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from sqlalchemy import BigInteger, Boolean, Float, Integer, SmallInteger

from guildhall.domain.authors import GraderKind
from guildhall.domain.judgments import CRITERIA, Acceptance, BlindGuess
from guildhall.domain.submissions import StopReason
from guildhall.domain.tasks import Specification, TaskKey
from guildhall.errors import ImpossibleValue

NAMED_NONE = -1
"""The guess of a grader who was asked which work a person made and named no one side."""
CRITERION_COLUMNS = tuple(name.replace(" ", "_") for name in CRITERIA)
COLUMNS: Mapping[str, Any] = {
    "judgment": BigInteger,
    "place": SmallInteger,
    "study": Integer,
    "comparison": BigInteger,
    "task": Integer,
    "work": BigInteger,
    "grader": Integer,
    "rank": Integer,
    "sweep": Integer,
    "planned": Boolean,
    "exposure": Integer,
    "replaces": BigInteger,
    "accepted": SmallInteger,
    "edit_minutes": Float,
    "guess": SmallInteger,
    "strength": SmallInteger,
    "confidence": Float,
    "specification": SmallInteger,
    "active_ms": BigInteger,
    "omitted": Integer,
    "failure": Integer,
    "cost_usd": Float,
    "made_at": BigInteger,
    "key_head": BigInteger,
    **dict.fromkeys(CRITERION_COLUMNS, SmallInteger),
}
"""Each column and its type. What they mean is told by `verdict_parts.Verdicts`, which hands them out."""
REQUIRED = frozenset({"judgment", "place", "study", "comparison", "task", "work", "grader", "sweep", "planned"})
REQUIRED |= {"omitted", "made_at", "key_head"}
_BITS = {SmallInteger: 15, Integer: 31, BigInteger: 63}
_LIMITS = tuple((name, 1 << _BITS[COLUMNS[name]]) for name in ("rank", "sweep", "exposure", "active_ms", "omitted"))
_CRITERION_LIMIT = 1 << _BITS[SmallInteger]
_SPECIFICATIONS = {one.value: code for code, one in enumerate(Specification)}
_PLACES = {BlindGuess.A.value: 0, BlindGuess.B.value: 1}
STOPS = {one.value: code for code, one in enumerate(StopReason)}
_PAIR = 2
_KEY_HEAD = 15
"""Hex digits of a judgment's key that fit a whole number of 63 bits."""

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Found:
    """What is known of a judgment beside its own words: rows and codes. A row or code that is missing is None."""

    judgment: int
    key: str
    comparison: int
    compared: Mapping[str, Any]
    study: int | None
    task: int | None
    grader: int | None
    failure: int | None
    replaces: int | None
    works: Sequence[int]
    """Rows of the works in the order shown."""


def rows_of(said: Mapping[str, Any], found: Found) -> list[Row]:
    """The rows of one judgment; `ImpossibleValue` where it cannot be what its comparison asked for."""
    order = said["order"]
    if sorted(order) != sorted(found.compared["submissions"]):
        raise ImpossibleValue("order", "not the works of its comparison", allowed="each of them once")
    common = _common(said, found)
    ranks = said["ranks"] or [None] * len(order)
    usable = {one["place"]: one for one in said.get("usability") or ()}
    omitted, criteria = said.get("omissions") or {}, said.get("criteria") or {}
    rows = []
    for place, (work, rank) in enumerate(zip(found.works, ranks, strict=True)):
        letter = chr(ord("A") + place)
        own = {
            "place": place,
            "work": work,
            "rank": rank,
            "omitted": omitted.get(letter, 0),
            **_usability(usable.get(letter)),
            **(_criteria(criteria, place) if criteria and len(order) == _PAIR else {}),
        }
        row = common | own
        _must_fit(row)
        rows.append(tuple(map(row.get, COLUMNS)))
    return rows


def _common(said: Mapping[str, Any], found: Found) -> dict[str, Any]:
    usage, correction = said.get("usage") or {}, said.get("correction") or {}
    seconds = correction.get("active_s", said.get("active_s"))
    return {
        "judgment": found.judgment,
        "study": found.study,
        "comparison": found.comparison,
        "task": found.task,
        "grader": found.grader,
        "sweep": said.get("sweep", 1),
        "planned": said.get("planned", True),
        "exposure": said.get("exposure"),
        "replaces": found.replaces,
        "guess": _guess(said),
        "strength": said.get("strength"),
        "confidence": said.get("confidence"),
        "specification": _SPECIFICATIONS.get(said.get("specification") or ""),
        "active_ms": None if seconds is None else round(1000 * seconds),
        "failure": found.failure,
        "cost_usd": usage.get("cost_usd"),
        "made_at": microseconds(said["made_at"]),
        "key_head": int(found.key[:_KEY_HEAD], 16),
    }


def _guess(said: Mapping[str, Any]) -> int | None:
    """Asked about pairs only."""
    named = said.get("guess")
    return None if named is None or len(said["order"]) != _PAIR else _PLACES.get(named, NAMED_NONE)


def _usability(said: Mapping[str, Any] | None) -> dict[str, Any]:
    if said is None:
        return {}
    return {"accepted": int(said["acceptance"] == Acceptance.AS_IS), "edit_minutes": said.get("edit_minutes")}


def _criteria(said: Mapping[str, int | None], place: int) -> dict[str, int | None]:
    """How much better this side does: what is kept runs from A's side to B's."""
    sign = 1 if place else -1
    marks = [(column, said.get(name)) for column, name in zip(CRITERION_COLUMNS, CRITERIA, strict=True)]
    for column, mark in marks:
        if mark is not None and abs(mark) >= _CRITERION_LIMIT:
            raise ImpossibleValue(column, mark, allowed="a small whole number")
    return {column: None if mark is None else sign * mark for column, mark in marks}


def _must_fit(row: Mapping[str, Any]) -> None:
    """What the domain leaves open, no column can hold beyond its bits."""
    for name, limit in _LIMITS:
        value = row.get(name)
        if value is not None and not -limit < value < limit:
            raise ImpossibleValue(name.replace("_", " "), value, allowed=f"between -{limit} and {limit}")


def microseconds(moment: str) -> int:
    """Since 1970, by the clock of Greenwich, exactly."""
    at = datetime.fromisoformat(moment)
    gone = at - datetime.fromtimestamp(0, at.tzinfo)
    return (gone.days * 86_400 + gone.seconds) * 1_000_000 + gone.microseconds


def failure_kind(said: Mapping[str, Any]) -> str | None:
    """What kind of failure it was, without its particulars; None for a verdict."""
    words = said["failure"]
    return None if words is None else plain(words.partition(":")[0])[:200] or "unknown"


def plain(words: str) -> str:
    """Words that every database takes."""
    return words.replace("\0", "")


def grader_kind(grader: Mapping[str, Any]) -> str:
    """What a person is; a program is a `judge`, or a `constant` where it has no model and looks by rule."""
    if grader["kind"] == "person":
        return str(grader.get("grader_kind") or GraderKind.EXPERT)
    return "constant" if grader.get("model") is None and "baseline" in (grader.get("settings") or {}) else "judge"


def grader_name(grader: Mapping[str, Any]) -> str:
    return str(grader["code_name" if grader["kind"] == "person" else "name"])


def author_facts(author: Mapping[str, Any]) -> dict[str, Any]:
    """What reports know of an author; every expert is `expert`."""
    if author["kind"] == "expert":
        return {"name": "expert", "sample": 1, "condition": None, "effort": None}
    effort = (author.get("settings") or {}).get("reasoning_effort")
    return {
        "name": author["name"],
        "sample": author.get("sample", 1),
        "condition": plain(author.get("condition", "elicited")),
        "effort": plain(str(effort)) if effort else None,
    }


def task_key(made: Mapping[str, Any]) -> TaskKey:
    """The wording of a task a work was made for."""
    return TaskKey.of(made["task"], made.get("task_version", 1))


def own_wording(compared: Mapping[str, Any]) -> TaskKey | None:
    """The wording a comparison states itself; None where its study's form or its work tells."""
    version = compared.get("task_version")
    return None if version is None else TaskKey.of(compared["task"], version)


def file_kinds(names: Sequence[str]) -> str | None:
    """The endings of delivered files; None where there is none."""
    endings = {PurePosixPath(name).suffix.lower().lstrip(".") for name in names} - {""}
    return "+".join(sorted(endings))[:900] if endings else None


def read(body: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(body)
    return found
