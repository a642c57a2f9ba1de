"""The package the public grading service takes, made and checked, and its grades read strictly.

A grade is 0, 0.5 or 1, and an error is not a zero.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import polars as pl
from pydantic import Field

from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.domain.values import Id, Value
from guildhall.errors import InputError, UnreadableFile
from guildhall.sampling.elicitation import ANYWHERE
from guildhall.store.blobs import Blobs
from guildhall.store.rows import read_rows

TABLE = PurePosixPath("data/train-00000-of-00001.parquet")
FILES = "deliverable_files"
_OURS = ("deliverable_text", "deliverable_files")
_EXPERTS = ("deliverable_file_urls", "deliverable_file_hf_uris")


class Packed(Value):
    """What a package holds; rows without a submission stay in it, empty, and are counted."""

    rows: int
    with_submission: int
    files: int
    empty: tuple[str, ...]


def pack(
    submissions: Mapping[str, Submission],
    *,
    tasks: Sequence[Task],
    blobs: Blobs,
    out: Path,
    base: Path | None = None,
) -> Packed:
    """Write the package for one author's submissions, by task id. `base` is the public table, whose rows and columns
    are all kept; without it the table is made from the workspace's tasks.
    """
    if out.exists() and any(out.iterdir()):
        raise InputError(f"{out} is not empty; choose a new folder for the package")
    rows = read_rows(base, required=("task_id",)) if base else [_row(task) for task in tasks]
    written = 0
    for row in rows:
        submission = submissions.get(str(row["task_id"]))
        row["deliverable_text"] = submission.text if submission else ""
        row["deliverable_files"] = []
        for column in _EXPERTS:
            row.pop(column, None)
        for file in submission.files if submission else ():
            if file.digest is None:
                raise InputError(
                    f"{file.name} of task {row['task_id']} is known by name only; import it with its bytes"
                )
            path = f"{FILES}/{row['task_id']}/{file.name}"
            (out / path).parent.mkdir(parents=True, exist_ok=True)
            blobs.copy_to(file.digest, out / path)
            row["deliverable_files"].append(path)
            written += 1
    _write_table(rows, out / TABLE)
    empty = tuple(str(row["task_id"]) for row in rows if str(row["task_id"]) not in submissions)
    return Packed(rows=len(rows), with_submission=len(rows) - len(empty), files=written, empty=empty)


def check_package(folder: Path, *, base: Path | None = None) -> list[str]:
    """Every fault of a package in words; none means that the service can take it."""
    rows = read_rows(folder / TABLE, required=("task_id", *_OURS))
    faults = _id_faults(rows, base)
    listed: set[str] = set()
    for row in rows:
        task_id, files = str(row["task_id"]), row["deliverable_files"]
        if not isinstance(row["deliverable_text"], str):
            faults.append(f"{task_id}: deliverable_text is not a string")
        elif ANYWHERE.search(row["deliverable_text"].encode()):
            faults.append(f"{task_id}: deliverable_text still holds CONFIDENCE[...]")
        if not isinstance(files, list):
            faults.append(f"{task_id}: deliverable_files is not a list")
            continue
        listed |= {str(name) for name in files}
        faults += [fault for name in files if (fault := _path_fault(folder, task_id, str(name)))]
    there = {path.relative_to(folder).as_posix() for path in (folder / FILES).rglob("*") if path.is_file()}
    return faults + [f"{name} lies in the tree and is listed by no row" for name in sorted(there - listed)]


def _id_faults(rows: Sequence[Mapping[str, Any]], base: Path | None) -> list[str]:
    ids = [str(row["task_id"]) for row in rows]
    faults = [f"{task_id}: occurs more than once" for task_id in sorted({one for one in ids if ids.count(one) > 1})]
    if base is not None:
        wanted = {str(row["task_id"]) for row in read_rows(base, required=("task_id",))}
        faults += [f"{task_id}: row of the public table is missing" for task_id in sorted(wanted - set(ids))]
        faults += [f"{task_id}: is no task of the public table" for task_id in sorted(set(ids) - wanted)]
    return faults


def _path_fault(folder: Path, task_id: str, name: str) -> str | None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or path.parts[:2] != (FILES, task_id):
        return f"{task_id}: {name!r} does not lie in {FILES}/{task_id}/"
    target = folder / name
    if target.is_symlink() or not target.is_file():
        return f"{task_id}: {name} is listed and is not a file here"
    return f"{task_id}: {name} is empty" if target.stat().st_size == 0 else None


def _row(task: Task) -> dict[str, Any]:
    """A task as the public table shows it."""
    names = [file.source or file.name for file in task.reference_files]
    return {
        "task_id": task.id,
        "sector": task.sector,
        "occupation": task.occupation,
        "prompt": task.brief,
        "reference_files": names,
    }


def _write_table(rows: list[dict[str, Any]], path: Path) -> None:
    if not rows:
        raise UnreadableFile(path, "there is no task to write")
    path.parent.mkdir(parents=True, exist_ok=True)
    lists = {name: pl.List(pl.String) for name in rows[0] if isinstance(rows[0][name], list)}
    pl.DataFrame(rows, schema_overrides=lists, infer_schema_length=None).write_parquet(path)


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
