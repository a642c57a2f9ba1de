"""Tasks out again: as folders one can edit, or in the public data set's layout."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tomlkit

from guildhall.domain.tasks import FileRef, Task
from guildhall.errors import InputError
from guildhall.store.blobs import Blobs
from guildhall.taskbank.folder import BRIEF_FILE, FILE_FOLDERS, TASK_FILE, TaskFile
from guildhall.taskbank.rubrics import as_paragraphs

OWN_FILES = frozenset({"brief", "rubric", "reference_files", "expert_files"})


def export_folders(tasks: Sequence[Task], blobs: Blobs, target: Path) -> int:
    """One folder a task; the number of files whose bytes are not in the workspace."""
    absent = 0
    for task in tasks:
        folder = target / task.id
        if folder.exists():
            raise InputError(f"{folder} exists already; give an empty folder")
        folder.mkdir(parents=True)
        (folder / TASK_FILE).write_text(task_toml(task), encoding="utf-8")
        (folder / BRIEF_FILE).write_text(task.brief, encoding="utf-8")
        if task.rubric:
            (folder / "rubric.toml").write_text(_rubric_toml(task), encoding="utf-8")
        for name, kind in FILE_FOLDERS.items():
            absent += _copy(getattr(task, kind), blobs, folder / name)
    return absent


def task_toml(task: Task) -> str:
    """`task.toml` for a task: only what was said, nothing that is a default."""
    said = task.model_dump(mode="json", exclude=set(OWN_FILES), exclude_defaults=True)
    known = TaskFile.model_fields
    document = tomlkit.document()
    ordered = sorted((name for name in known if name in said), key=lambda name: isinstance(said[name], dict))
    for name in ordered:
        document[name] = _without_none(said[name])
    return tomlkit.dumps(document)


def _without_none(data: Any) -> Any:
    """TOML has no null: what is unknown is left out."""
    if isinstance(data, dict):
        return {key: _without_none(item) for key, item in data.items() if item is not None}
    return data


def _rubric_toml(task: Task) -> str:
    document = tomlkit.document()
    items = tomlkit.aot()
    for item in task.rubric.items if task.rubric else ():
        table = tomlkit.table()
        table["points"], table["text"] = item.points, item.text
        items.append(table)
    document["items"] = items
    return tomlkit.dumps(document)


def _copy(files: Sequence[FileRef], blobs: Blobs, folder: Path) -> int:
    absent = 0
    for file in files:
        if file.digest is None or not blobs.has(file.digest):
            absent += 1
            continue
        place = folder / file.name
        place.parent.mkdir(parents=True, exist_ok=True)
        blobs.copy_to(file.digest, place)
    return absent


def export_gdpval(tasks: Sequence[Task], blobs: Blobs, target: Path) -> int:
    """The public 12-column layout: `data/*.parquet` and the files under `<kind>/<32 hex>/<name>`."""
    absent = 0
    rows = []
    for task in tasks:
        listed = {}
        for column, files in (("reference_file", task.reference_files), ("deliverable_file", task.expert_files)):
            paths = [_public_path(column, file) for file in files]
            for file, path in zip(files, paths, strict=True):
                absent += _copy([file.but(name=Path(path).name)], blobs, (target / path).parent)
            listed[f"{column}s"] = paths
            listed[f"{column}_urls"] = listed[f"{column}_hf_uris"] = paths
        rows.append(_public_row(task) | listed)
    write_gdpval_table(rows, target)
    return absent


def write_gdpval_table(rows: Sequence[Mapping[str, Any]], target: Path) -> None:
    """The data set's one table, where its readers look for it."""
    # Here, because commands that only list would wait a tenth of a second for it.
    import polars as pl

    place = target / "data" / "train-00000-of-00001.parquet"
    place.parent.mkdir(parents=True, exist_ok=True)
    lists = {name: pl.List(pl.String) for name in _LISTS if name in rows[0]} if rows else {}
    pl.DataFrame(rows, schema_overrides=lists).write_parquet(place)


_LISTS = tuple(f"{kind}_file{ending}" for kind in ("reference", "deliverable") for ending in ("s", "_urls", "_hf_uris"))


def _public_path(column: str, file: FileRef) -> str:
    """The path it came with; a task of one's own gets a folder named after its content."""
    if file.source and file.source.startswith(f"{column}s/"):
        return file.source
    folder = file.digest[:32] if file.digest else "0" * 32
    return f"{column}s/{folder}/{file.name}"


def _public_row(task: Task) -> dict[str, Any]:
    items = task.rubric.items if task.rubric else ()
    return {
        "task_id": task.id,
        "sector": task.sector,
        "occupation": task.occupation,
        "prompt": task.brief,
        "rubric_pretty": as_paragraphs(task.rubric) if task.rubric else None,
        "rubric_json": json.dumps(
            [
                {"rubric_item_id": item.id, "criterion": item.text, "score": item.points, "tags": list(item.tags)}
                for item in items
            ]
        )
        if items
        else None,
    }
