"""Rubrics in the forms they come in: `[+2] text` paragraphs, the public JSON, and our own TOML.

A negative item is written `[+-10]` in the public data; `[-10]` is read too.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from guildhall.domain.tasks import Rubric, RubricItem

_MARK = re.compile(r"^\[(?:\+(-?\d{1,4})|(-\d{1,4}))\][ \t]+", re.MULTILINE)


MOST_POINTS = 10_000


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
    except (ValueError, RecursionError) as error:
        raise RubricFault(f"not JSON that can be read ({error})") from error
    if not isinstance(listed, list) or not listed:
        raise RubricFault("expected a list of items")
    made = []
    for number, item in enumerate(listed, 1):
        if not isinstance(item, dict) or not isinstance(item.get("criterion"), str):
            raise RubricFault(f"item {number} has no criterion")
        identity = item.get("rubric_item_id")
        tags = item.get("tags") or []
        if not isinstance(tags, list):
            raise RubricFault(f"item {number} has tags {tags!r}; a list is expected")
        named = tuple(str(tag) for tag in tags)
        made.append(_item(number, item.get("score"), item["criterion"], id=identity, tags=named))
    return Rubric(items=tuple(made))


def rubric_of(pairs: list[tuple[Any, str]]) -> Rubric:
    return Rubric(items=tuple(_item(number, points, text) for number, (points, text) in enumerate(pairs, 1)))


def _item(number: int, points: Any, text: str, **more: Any) -> RubricItem:
    if not text.strip():
        raise RubricFault(f"item {number} has no text")
    try:
        return RubricItem(text=text.strip(), points=_whole(points), **more)
    except (TypeError, ArithmeticError) as error:
        raise RubricFault(f"item {number} has points {points!r}; whole numbers are expected") from error
    except ValidationError as error:
        raise RubricFault(f"item {number}: {error.errors()[0]['msg']}") from error


def _whole(points: Any) -> int:
    """2, "2" and 2.0 are two; anything else is no number of points."""
    if isinstance(points, bool) or not isinstance(points, int | str | float):
        raise TypeError(points)
    exact = Decimal(points)
    # The bound comes first: the whole number that "1e999999" stands for would fill the memory.
    if not abs(exact) < MOST_POINTS or exact != exact.to_integral_value():
        raise ArithmeticError(points)
    return int(exact)


def as_paragraphs(rubric: Rubric) -> str:
    """The public paragraph form; what `rubric_from_paragraphs` reads."""
    return "\n\n".join(f"[+{item.points}] {item.text}" for item in rubric.items)
