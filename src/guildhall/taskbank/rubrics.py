"""Rubrics in the forms they come in: `[+2] text` paragraphs, the public JSON, and our own TOML.

A negative item is written `[+-10]` in the public data; `[-10]` is read too.
"""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import ValidationError

from guildhall.domain.tasks import Rubric, RubricItem

_MARK = re.compile(r"^\[(?:\+(-?\d{1,4})|(-\d{1,4}))\][ \t]+", re.MULTILINE)


class RubricFault(ValueError):
    """A rubric that cannot be read; the words say where and why."""


def rubric_from_paragraphs(text: str) -> Rubric:
    """Read `[+2] criterion` paragraphs; a criterion may itself run over several paragraphs."""
    marks = list(_MARK.finditer(text))
    if not marks or text[: marks[0].start()].strip():
        start = text.strip().splitlines()[0][:60] if text.strip() else "nothing"
        raise RubricFault(f"expected an item such as '[+2] Names the total', found {start!r}")
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return rubric_of(
        [
            (mark.group(1) or mark.group(2), text[mark.end() : end].strip())
            for mark, end in zip(marks, ends, strict=True)
        ]
    )


def rubric_from_json(items: str | list[Any]) -> Rubric:
    """Read the public `rubric_json`: a list of objects with `score` and `criterion`."""
    try:
        listed = json.loads(items) if isinstance(items, str) else items
    except json.JSONDecodeError as error:
        raise RubricFault(f"not valid JSON ({error.msg} at character {error.pos})") from error
    if not isinstance(listed, list):
        raise RubricFault("expected a list of items")
    made = []
    for number, item in enumerate(listed, 1):
        if not isinstance(item, dict) or not isinstance(item.get("criterion"), str):
            raise RubricFault(f"item {number} has no criterion")
        identity = item.get("rubric_item_id")
        tags = tuple(str(tag) for tag in item.get("tags") or ())
        made.append(_item(number, item.get("score"), item["criterion"], id=identity, tags=tags))
    return Rubric(items=tuple(made))


def rubric_of(pairs: list[tuple[Any, str]]) -> Rubric:
    return Rubric(items=tuple(_item(number, points, text) for number, (points, text) in enumerate(pairs, 1)))


def _item(number: int, points: Any, text: str, **more: Any) -> RubricItem:
    if not text.strip():
        raise RubricFault(f"item {number} has no text")
    if isinstance(points, bool) or not isinstance(points, int | str | float) or float(points) != int(float(points)):
        raise RubricFault(f"item {number} has points {points!r}; whole numbers are expected")
    try:
        return RubricItem(text=text.strip(), points=int(points), **more)
    except ValidationError as error:
        raise RubricFault(f"item {number}: {error.errors()[0]['msg']}") from error


def as_paragraphs(rubric: Rubric) -> str:
    """The public paragraph form; what `rubric_from_paragraphs` reads."""
    return "\n\n".join(f"[+{item.points}] {item.text}" for item in rubric.items)
