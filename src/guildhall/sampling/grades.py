"""What the public grading service sends back, read strictly: a grade is 0, 0.5 or 1, and an error is not a zero."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from guildhall.domain.values import Id, Value
from guildhall.errors import UnreadableFile
from guildhall.sampling.tables import read_rows

_SCORES = {0.0, 0.5, 1.0}


class ServiceGrade(Value):
    """One task's grades; no score and an error where the service could not grade."""

    task: Id
    scores: tuple[Annotated[float, Field(ge=0, le=1)], ...] = ()
    errors: tuple[str, ...] = ()


def read_grades(path: Path) -> list[ServiceGrade]:
    """The grades of a file the service returned; whatever contradicts itself is refused with its task."""
    grades = [_grade(path, row) for row in read_rows(path, required=("task_id", "scores"))]
    tasks = [grade.task for grade in grades]
    if repeated := [task for task in tasks if tasks.count(task) > 1]:
        raise UnreadableFile(path, f"grades task {repeated[0]} more than once")
    return grades


def as_rows(grades: list[ServiceGrade], *, model: str) -> list[dict[str, Any]]:
    """Rows that `guildhall analyze win-rate` reads: one for each grade."""
    return [
        {"task": grade.task, "model": model, "sample": 1, "grader": f"service-{number}", "score": score}
        for grade in grades
        for number, score in enumerate(grade.scores, 1)
    ]


def _grade(path: Path, row: dict[str, Any]) -> ServiceGrade:
    task = str(row["task_id"])
    try:
        return _checked(path, row, task)
    except (ValueError, TypeError, OverflowError) as error:
        raise UnreadableFile(path, f"task {task!r} has a figure that is none ({error})") from error


def _checked(path: Path, row: dict[str, Any], task: str) -> ServiceGrade:
    scores = tuple(float(score) for score in _listed(row["scores"]))
    if not set(scores) <= _SCORES:
        raise UnreadableFile(path, f"task {task} has a score other than 0, 0.5 and 1")
    counted, mean = row.get("num_grades"), row.get("avg_score")
    if counted not in (None, "") and int(counted) != len(scores):
        raise UnreadableFile(path, f"task {task} says it has {counted} grades and lists {len(scores)}")
    if scores and mean not in (None, "") and abs(float(mean) - sum(scores) / len(scores)) > 0.006:
        raise UnreadableFile(path, f"task {task} has the mean {mean}, which its scores do not give")
    errors = tuple(str(words) for words in _listed(row.get("error_messages")) if words)
    if not errors and row.get("error") not in (None, "", False, "False", "false"):
        errors = (str(row["error"]),)
    return ServiceGrade(task=task, scores=scores, errors=errors)


def _listed(value: Any) -> list[Any]:
    """A list, or a list that a text file holds as text."""
    if value is None or value == "":
        return []
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return [part.strip() for part in value.strip("[]").split(",") if part.strip()]
    return list(value) if isinstance(value, list | tuple) else [value]
