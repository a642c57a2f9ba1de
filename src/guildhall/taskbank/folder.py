"""Tasks as folders, begun and read: `task.toml`, `brief.md`, `reference/`, `expert/`, `rubric.*`.

`check_folder` reports every fault at once, each with its file and line; `read_folder` accepts none.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from guildhall.domain.tasks import (
    FileRef,
    Joined,
    OnetTags,
    Provenance,
    Ratings,
    ReviewState,
    Rubric,
    Task,
    check_relative_name,
)
from guildhall.domain.values import Id, Line, Value
from guildhall.errors import InputError, UnreadableFile, UnsafePath
from guildhall.taskbank.onet import faults_of
from guildhall.taskbank.rubrics import RubricFault, rubric_from_json, rubric_from_paragraphs, rubric_of

TASK_FILE, BRIEF_FILE = "task.toml", "brief.md"
RUBRIC_FILES = ("rubric.toml", "rubric.json", "rubric.md")
FILE_FOLDERS = {"reference": "reference_files", "expert": "expert_files"}
MAX_FILE_BYTES = 2 << 30


class TaskFile(Value):
    """What `task.toml` may say; its JSON Schema is `guildhall tasks schema`."""

    id: Id
    version: Annotated[int, Field(ge=1)] = 1
    title: Line | None = None
    sector: Line
    occupation: Line
    expert_hours: Annotated[float, Field(gt=0)] | None = None
    hourly_wage_usd: Annotated[float, Field(gt=0)] | None = None
    expert_text: str | None = None
    ratings: Ratings = Ratings()
    onet: OnetTags = OnetTags()
    languages: tuple[str, ...] = ("en",)
    sensitive: tuple[str, ...] = ()
    review: ReviewState = ReviewState.UNREVIEWED
    provenance: Provenance | None = None
    sources: dict[Joined, Line] | None = None


@dataclass(frozen=True)
class FolderFault:
    """Something wrong in a task folder, where it is, and what to do."""

    file: Path
    line: int | None
    words: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else f"{self.file}"
        return f"{place}: {self.words}"


@dataclass
class FolderTask:
    """A task folder as read: the task without file digests, the files by relative name, and all faults."""

    folder: Path
    task: Task | None = None
    files: dict[str, Path] = field(default_factory=dict)
    faults: list[FolderFault] = field(default_factory=list)


def task_folders(path: Path) -> list[Path]:
    """The folder itself when it is a task, else every task folder directly inside it."""
    if (path / TASK_FILE).exists():
        return [path]
    return sorted(inner.parent for inner in path.glob(f"*/{TASK_FILE}"))


def check_folder(folder: Path) -> FolderTask:
    """Read a task folder and collect everything that is wrong with it."""
    found = FolderTask(folder)
    settings = _settings(found)
    brief = _text(found, folder / BRIEF_FILE)
    if brief is not None and not brief.strip():
        found.faults.append(FolderFault(folder / BRIEF_FILE, 1, "is empty; write what the professional is asked to do"))
    rubric = _rubric(found)
    listed = {kind: tuple(_files(found, kind)) for kind in FILE_FOLDERS}
    if settings is not None and brief is not None and not found.faults:
        about_files = {FILE_FOLDERS[kind]: refs for kind, refs in listed.items()}
        found.task = Task(**settings.model_dump(), brief=brief, rubric=rubric, **about_files)
    return found


def read_folder(folder: Path) -> FolderTask:
    """A task folder without faults, or an error that lists them all."""
    found = check_folder(folder)
    if found.faults:
        first, *rest = found.faults
        more = f" (and {len(rest)} more)" if rest else ""
        raise UnreadableFile(
            folder, f"{first}{more}", fix=f"run `guildhall tasks check {folder}` and correct what it lists"
        )
    return found


def _text(found: FolderTask, path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        found.faults.append(FolderFault(path, None, "is missing"))
    except UnicodeDecodeError as error:
        found.faults.append(FolderFault(path, None, f"is not UTF-8 text (byte {error.start})"))
    return None


def _settings(found: FolderTask) -> TaskFile | None:
    path = found.folder / TASK_FILE
    text = _text(found, path)
    if text is None:
        return None
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        found.faults.append(FolderFault(path, int(line[1]) if line else None, f"is not valid TOML: {error}"))
        return None
    try:
        settings = TaskFile.model_validate(data)
        for kind, words in faults_of(settings.onet):
            found.faults.append(FolderFault(path, line_of(text, ("onet", kind)), f"onet.{kind}: {words}"))
        return settings
    except ValidationError as error:
        for fault in error.errors():
            where = ".".join(str(part) for part in fault["loc"])
            found.faults.append(FolderFault(path, line_of(text, fault["loc"]), f"{where}: {fault['msg']}"))
        return None


def line_of(text: str, location: tuple[Any, ...]) -> int | None:
    """The line of a TOML key; of its table when the key is absent."""
    tables, key = [str(part) for part in location[:-1] if isinstance(part, str)], str(location[-1])
    current: list[str] = []
    table_line: int | None = None if tables else 1
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[+\s*([^\]]+?)\s*\]+", line):
            current = header[1].split(".")
            if current == tables:
                table_line = number
        elif current == tables and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            return number
    return table_line


def _rubric(found: FolderTask) -> Rubric | None:
    present = [found.folder / name for name in RUBRIC_FILES if (found.folder / name).exists()]
    if len(present) > 1:
        found.faults.append(FolderFault(present[1], None, f"stands beside {present[0].name}; keep one rubric"))
    if not present:
        return None
    path = present[0]
    text = _text(found, path)
    if text is None:
        return None
    try:
        return _read_rubric(path, text)
    except (RubricFault, tomllib.TOMLDecodeError) as error:
        found.faults.append(FolderFault(path, None, f"cannot be read: {error}"))
        return None


def _read_rubric(path: Path, text: str) -> Rubric:
    if path.suffix == ".json":
        return rubric_from_json(text)
    if path.suffix == ".md":
        return rubric_from_paragraphs(text)
    items = tomllib.loads(text).get("items")
    if not isinstance(items, list) or not all(
        isinstance(item, dict) and set(item) == {"points", "text"} for item in items
    ):
        raise RubricFault("every [[items]] needs exactly `points` and `text`")
    return rubric_of([(item["points"], str(item["text"])) for item in items])


def _files(found: FolderTask, kind: str) -> Iterator[FileRef]:
    """The files below one sub-folder; links, hostile names and oversize files are faults."""
    root = found.folder / kind
    if not root.is_dir():
        return
    for base, folders, names in os.walk(root):
        folders.sort()
        for name in sorted([*names, *(inner for inner in folders if (Path(base) / inner).is_symlink())]):
            path = Path(base) / name
            relative = path.relative_to(root).as_posix()
            fault = _file_fault(path, relative)
            if fault:
                found.faults.append(FolderFault(found.folder / kind, None, fault))
            else:
                found.files[f"{kind}/{relative}"] = path
                yield FileRef(name=relative, size=path.stat().st_size)


def _file_fault(path: Path, relative: str) -> str | None:
    if path.is_symlink():
        return f"{relative!r} is a link; put the file itself there"
    try:
        relative.encode()
        check_relative_name(relative)
    except (ValueError, UnicodeEncodeError) as error:
        return (
            f"{error}; rename it"
            if not isinstance(error, UnicodeEncodeError)
            else f"{relative!r} is not UTF-8; rename it"
        )
    if not path.is_file():
        return f"{relative!r} is not a regular file; remove it"
    if path.stat().st_size > MAX_FILE_BYTES:
        return f"{relative!r} is larger than 2 GiB; split it or leave it out"
    return None


_TASK = """\
# What is said here is checked by `guildhall tasks check`; its schema is `guildhall tasks schema`.
id = "{id}"
version = 1
title = "{title}"
sector = "{sector}"
occupation = "{occupation}"
expert_hours = 2.0          # how long an expert takes; leave out when nobody measured it
# hourly_wage_usd = 40.00   # OEWS median for the occupation
languages = ["en"]
sensitive = []              # for example ["medical"]: graders are warned before the brief

[ratings]                   # 1 to 5, by experts other than the author; leave out what was not rated
# difficulty = 3
# representativeness = 4
# quality = 4

[onet]                      # by O*NET's titles; `guildhall tasks vocabulary` lists skills and work activities
tasks = []
skills = []
work_activities = []
"""

_BRIEF = """\
You are ... (role and situation).

You are asked to ... (what is wanted, for whom, by when).

Use the attached files: ... (each file in `reference/`, and what it is).

Deliver ... (files by name and type, length, and what must be in them).
"""

_RUBRIC = """\
# Signed points: negative items take points away for what must not happen.
[[items]]
points = 3
text = "States ... correctly."

[[items]]
points = -5
text = "Invents figures that are in no reference file."
"""


def new_task(folder: Path, *, title: str, sector: str, occupation: str) -> Path:
    """Make the folder; an existing one is never touched."""
    try:
        check_relative_name(folder.name)
    except ValueError as error:
        raise UnsafePath(folder, str(error)) from error
    if folder.exists():
        raise InputError(f"{folder} exists already; choose another name")
    (folder / "reference").mkdir(parents=True)
    (folder / "expert").mkdir()
    words = {"id": folder.name.replace(" ", "-"), "title": title, "sector": sector, "occupation": occupation}
    escaped = {name: text.replace("\\", "\\\\").replace('"', '\\"') for name, text in words.items()}
    (folder / "task.toml").write_text(_TASK.format(**escaped), encoding="utf-8")
    (folder / "brief.md").write_text(_BRIEF, encoding="utf-8")
    (folder / "rubric.toml").write_text(_RUBRIC, encoding="utf-8")
    return folder
