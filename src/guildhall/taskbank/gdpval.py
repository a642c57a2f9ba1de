"""The public GDPval data set, in both generations, its hub, and the reshaped copies that go round.

7 columns (2025-10) or 12 (with the experts' files and rubrics); Parquet or JSON lines; files by path, URL and hub URI,
percent-encoded or raw. Paths are `reference_files/<32 hex>/<name>`; the folder is opaque, and only the name is kept.

From the hub it is pinned to one commit and verified. The hub client is the extra `hub`; its own cache keeps finished
files by content, so a second try fetches only what is missing; `HF_ENDPOINT` points it at a mirror.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pydantic import ValidationError

from guildhall.domain.tasks import FileRef, Provenance, Rubric, Task, check_relative_name
from guildhall.errors import InputError, MissingTool, UnreadableFile, UnsafePath
from guildhall.store.rows import parquet_rows
from guildhall.taskbank.rubrics import RubricFault, rubric_from_json, rubric_from_paragraphs, rubric_of

REQUIRED = ("task_id", "sector", "occupation", "prompt")


@dataclass(frozen=True)
class Row:
    """One row of the data set and where it stands, for messages."""

    place: str
    fields: Mapping[str, Any]


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a Parquet or JSON-lines file."""
    if path.suffix == ".parquet":
        yield from _parquet_rows(path)
    elif path.suffix in {".jsonl", ".ndjson"}:
        yield from _json_rows(path)
    else:
        raise UnreadableFile(path, "not a Parquet or JSON-lines file", fix="give a .parquet or .jsonl file")


def _parquet_rows(path: Path) -> Iterator[Row]:
    for number, fields in enumerate(parquet_rows(path), 1):
        yield Row(f"{path} row {number}", fields)


def _json_rows(path: Path) -> Iterator[Row]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                fields = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UnreadableFile(f"{path} line {number}", f"not valid JSON ({error})") from error
            if not isinstance(fields, dict):
                raise UnreadableFile(f"{path} line {number}", "not a JSON object")
            yield Row(f"{path} line {number}", fields)


def task_of(row: Row, provenance: Provenance) -> Task:
    """One row as a task; every fault names the row."""
    missing = [name for name in REQUIRED if not row.fields.get(name)]
    if missing:
        raise UnreadableFile(row.place, f"has no {', '.join(missing)}", fix="a GDPval row needs " + ", ".join(REQUIRED))
    fields = row.fields
    try:
        return Task(
            id=fields["task_id"],
            sector=fields["sector"],
            occupation=fields["occupation"],
            brief=fields["prompt"],
            reference_files=_files(row, "reference_file"),
            expert_files=_files(row, "deliverable_file"),
            rubric=_rubric(row),
            provenance=provenance,
            **_more(row),
        )
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(str(part) for part in fault["loc"])
        raise InputError(f"{row.place}: {where}: {fault['msg']}; correct the row and import again") from error


MORE_COLUMN = "guildhall_json"
MORE = ("title", "expert_hours", "hourly_wage_usd", "ratings", "onet", "languages", "sensitive", "review", "sources")
"""What our own releases tell beyond the public columns, in one column of JSON that others may ignore."""


def more_of(task: Task) -> str:
    """The column's text for a task: only what was said, nothing that is a default."""
    said = task.model_dump(mode="json", include=set(MORE), exclude_defaults=True)
    return json.dumps(said, sort_keys=True, ensure_ascii=False)


def _more(row: Row) -> dict[str, Any]:
    text = row.fields.get(MORE_COLUMN)
    if not text:
        return {}
    try:
        said = json.loads(text)
    except (json.JSONDecodeError, TypeError) as error:
        raise UnreadableFile(row.place, f"its column {MORE_COLUMN} is not valid JSON") from error
    if not isinstance(said, dict) or set(said) - set(MORE):
        raise UnreadableFile(row.place, f"its column {MORE_COLUMN} may hold {', '.join(MORE)} and nothing else")
    return said


def _files(row: Row, kind: str) -> tuple[FileRef, ...]:
    listed = row.fields.get(f"{kind}s")
    if listed is None:
        return ()
    if not isinstance(listed, list):
        raise UnreadableFile(row.place, f"{kind}s is not a list")
    taken: set[str] = set()
    return tuple(_file(row, entry, taken) for entry in listed)


def _file(row: Row, entry: Any, taken: set[str]) -> FileRef:
    """A listed file, by path or as an object with a path and a size."""
    path = entry.get("path") if isinstance(entry, dict) else entry
    size = entry.get("size") if isinstance(entry, dict) else None
    if not isinstance(path, str):
        raise UnreadableFile(row.place, f"lists a file without a path ({str(entry)[:60]})")
    path = plain_path(path)
    try:
        check_relative_name(path)
    except ValueError as error:
        raise UnsafePath(path, f"{error}, in {row.place}", fix="correct the path and import again") from error
    name = free_name(path.rsplit("/", 1)[-1], taken)
    return FileRef(name=name, size=size if isinstance(size, int) else None, source=path)


def plain_path(path: str) -> str:
    """A hub URI or URL down to the path inside the data set; percent signs decoded."""
    if "://" in path:
        rest = unquote(path.split("://", 1)[1])
        for marker in ("reference_files/", "deliverable_files/"):
            if marker in rest:
                return rest[rest.index(marker) :]
    return path


def free_name(name: str, taken: set[str]) -> str:
    """Two files of one task may share a name in different hash folders: the second becomes `name (2).ext`."""
    stem, dot, ending = name.rpartition(".")
    stem, ending = (stem, dot + ending) if stem else (name, "")
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{stem} ({number}){ending}"
    taken.add(candidate)
    return candidate


def _rubric(row: Row) -> Rubric | None:
    fields = row.fields
    try:
        if fields.get("rubric_json"):
            return rubric_from_json(fields["rubric_json"])
        if fields.get("rubric_items"):
            return rubric_of([(item["score"], item["criterion"]) for item in fields["rubric_items"]])
        if fields.get("rubric_pretty"):
            return rubric_from_paragraphs(fields["rubric_pretty"])
    except (RubricFault, KeyError, TypeError) as error:
        raise UnreadableFile(row.place, f"its rubric cannot be read: {error}", fix="correct the rubric") from error
    return None


_REPO = re.compile(r"^(?P<repo>\w[\w.-]*/\w[\w.-]*)(?<!\.jsonl)(?<!\.parquet)(?<!\.zip)(?:@(?P<revision>[\w./-]+))?$")


@dataclass(frozen=True)
class HubSnapshot:
    """A copy of the data set on this machine, and the commit it is."""

    folder: Path
    repository: str
    commit: str


def hub_name(text: str) -> tuple[str, str] | None:
    """`owner/name[@revision]` as (repository, revision); None for anything else."""
    found = _REPO.match(text)
    return (found["repo"], found["revision"] or "main") if found else None


def fetch(repository: str, revision: str, *, with_files: bool = True) -> HubSnapshot:
    """Download a data set (or only its table) and say which commit it was."""
    try:
        from huggingface_hub import HfApi, snapshot_download
    except ModuleNotFoundError as error:
        raise MissingTool(
            "the hub client",
            needed_for=f"downloading {repository}",
            fix="install it with `pip install 'guildhall[hub]'`",
        ) from error
    try:
        commit = HfApi().dataset_info(repository, revision=revision).sha
        if commit is None:
            raise InputError(f"the hub names no commit for {repository}@{revision}; give a revision that exists")
        wanted = None if with_files else ["data/*", "README.md"]
        folder = snapshot_download(repository, repo_type="dataset", revision=commit, allow_patterns=wanted)
    except InputError:
        raise
    except Exception as error:  # the client and the two transports below it raise many kinds, all about the download
        why = (str(error).strip().splitlines() or [type(error).__name__])[0][:160]
        raise InputError(
            f"{repository}@{revision} could not be downloaded ({why}), and no file or folder here is called "
            f"{repository}; correct the name, or run the command again to resume"
        ) from error
    return HubSnapshot(Path(folder), repository, commit)
