"""A public subset of the bank: prompts and reference files in the GDPval layout, without their authors' traces.

Which tasks are in it depends on the seed alone; the same bank gives the same bytes. The experts' deliverables and the
rubrics stay behind. A task that cannot be freed of its author is left out, and the next of its occupation takes its
place.
"""

from __future__ import annotations

import gzip
import re
import tempfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from guildhall.documents.looking import Documents
from guildhall.documents.packages import read_members
from guildhall.documents.values import LookOutcome
from guildhall.domain.reviews import Draft
from guildhall.domain.tasks import FileRef, Task
from guildhall.domain.values import Id, Line, Value, sha256
from guildhall.errors import CannotRelease, InputError, UnreadableFile, UnsafePath
from guildhall.store.workspace import Workspace
from guildhall.taskbank.exporting import write_gdpval_table
from guildhall.taskbank.gdpval import MORE_COLUMN, free_name, more_of
from guildhall.taskbank.listing import newest_tasks
from guildhall.taskbank.review.admission import why_not_in_a_study

_ADDRESS = re.compile(r"https?://([\w.-]+)")
_MARK = re.compile(r"([A-Z][\w&-]*)\s?[®™]")


class Licence(Value):
    """Under which terms a release comes: a text of one's own, or a known licence by its name."""

    name: Line = "CC-BY-4.0"
    holder: Line = "the contributors"
    text: str | None = None


KNOWN_LICENCES = {
    "CC-BY-4.0": "https://creativecommons.org/licenses/by/4.0/legalcode",
    "CC-BY-SA-4.0": "https://creativecommons.org/licenses/by-sa/4.0/legalcode",
    "CC0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/legalcode",
    "ODC-By-1.0": "https://opendatacommons.org/licenses/by/1-0/",
}
"""SPDX name -> where its full text stands."""


def licence_page(licence: Licence) -> str:
    if licence.text is not None:
        return licence.text
    return (
        f"SPDX-License-Identifier: {licence.name}\n\n"
        f"The tasks and reference files in this folder are the work of {licence.holder},\n"
        f"and are made available under {licence.name}. The full text of the licence:\n\n"
        f"    {KNOWN_LICENCES[licence.name]}\n\n"
        "Names and marks of third parties that occur in the tasks belong to their owners and are not licensed here;\n"
        "DISCLOSURES.md lists them.\n"
    )


def readme_page(tasks: Sequence[Task], *, per_occupation: int, seed: int) -> str:
    """What is in the folder, in figures; no date, so that the same bank gives the same page."""
    counts = Counter((task.sector, task.occupation) for task in tasks)
    files = sum(len(task.reference_files) for task in tasks)
    rows = [f"| {sector} | {occupation} | {count} |" for (sector, occupation), count in sorted(counts.items())]
    return "\n".join(
        [
            "# Professional tasks",
            "",
            f"{len(tasks)} tasks with {files} reference files, at most {per_occupation} an occupation, "
            f"drawn with seed {seed}.",
            "",
            "`data/` has one row a task in the layout of the public GDPval data set; `reference_files/` has the files",
            "it names. The experts' own deliverables and the rubrics are not part of it. Read DISCLOSURES.md first.",
            "",
            "| sector | occupation | tasks |",
            "| --- | --- | --- |",
            *rows,
            "",
        ]
    )


def disclosures_page(
    tasks: Sequence[Task], declared: Mapping[Id, tuple[str, ...]], agreed: Collection[Id] = frozenset()
) -> str:
    """Sensitive content and references to others, task by task, as declared by authors and as found in the briefs."""
    sensitive = [(task.id, task.occupation, ", ".join(task.sensitive)) for task in tasks if task.sensitive]
    parties = [
        (task.id, task.occupation, ", ".join(named))
        for task in tasks
        if (named := sorted({*declared.get(task.id, ()), *named_in(task.brief)}))
    ]
    return "\n".join(
        [
            "# Disclosures",
            "",
            "## Sensitive content",
            "",
            *_table(sensitive, "touches on", nothing="No task is marked as sensitive by its author and reviewers."),
            "## References to third parties",
            "",
            "Brands, firms and works of others are named because real work names them. Their owners have no part in",
            "these tasks, and naming them says nothing for or against them. Authors are asked to invent the people in",
            "their tasks; reviewers look for personal data.",
            "",
            *_table(parties, "refers to", nothing="No task declares or shows a reference to a third party."),
            "## People shown or heard",
            "",
            f"Real people agreed to be shown or heard in the files of: {', '.join(sorted(agreed))}."
            if agreed
            else "No author recorded that a file shows or lets hear a real person.",
            "",
            "## What was taken out",
            "",
            "Every reference file was written anew without the traces of its makers: properties, comments, tracked",
            "changes, revision marks and the like. Briefs and files were searched for the names of authors and",
            "reviewers, byte by byte.",
            "",
        ]
    )


def named_in(brief: str) -> set[str]:
    """Web addresses and marked names in a brief."""
    return {*_ADDRESS.findall(brief), *_MARK.findall(brief)}


def _table(rows: Sequence[tuple[str, str, str]], heading: str, *, nothing: str) -> list[str]:
    if not rows:
        return [nothing, ""]
    cells = [[cell.replace("|", "/") for cell in row] for row in rows]
    lines = [f"| {task} | {occupation} | {what} |" for task, occupation, what in cells]
    return [f"| task | occupation | {heading} |", "| --- | --- | --- |", *lines, ""]


PER_OCCUPATION = 5


@dataclass(frozen=True)
class ReleasePlan:
    """What is asked for: how many tasks an occupation, drawn how, which licence, and which names must not be in it."""

    licence: Licence
    per_occupation: int = PER_OCCUPATION
    seed: int = 1
    names: tuple[str, ...] = ()


@dataclass
class Released:
    """What is in a release, and what was left out of it with the reason."""

    tasks: list[Task] = field(default_factory=list)
    left_out: dict[Id, str] = field(default_factory=dict)
    short: dict[str, int] = field(default_factory=dict)
    """Occupations with fewer tasks than asked for, and how many they have."""


def write_release(workspace: Workspace, looking: Documents, target: Path, plan: ReleasePlan) -> Released:
    """Write the subset to a new folder, and search every byte of it for the names before it is called done."""
    if target.exists() and any(target.iterdir()):
        raise InputError(f"{target} is not empty; give a new folder")
    target.mkdir(parents=True, exist_ok=True)
    released = Released()
    for occupation, tasks in _drawn(workspace, plan, released).items():
        taken = 0
        for task in tasks:
            if taken == plan.per_occupation:
                break
            try:
                released.tasks.append(_written(workspace, looking, task, target, plan.names))
                taken += 1
            except CannotRelease as refusal:
                released.left_out[task.id] = refusal.why
        if taken < plan.per_occupation:
            released.short[occupation] = taken
    if not released.tasks:
        raise InputError("no task of this workspace can be released; `guildhall tasks list` shows what there is")
    released.tasks.sort(key=lambda task: task.id)
    _write_pages(workspace, released, target, plan)
    if found := names_below(target, plan.names):
        first = next(iter(found))
        raise InputError(
            f"{target / first} still holds a name that must not be released; delete {target} and mend the task"
        )
    return released


def _drawn(workspace: Workspace, plan: ReleasePlan, released: Released) -> dict[str, list[Task]]:
    """Tasks that may be released by occupation, each occupation in its seeded order."""
    drawn: dict[str, list[Task]] = {}
    for task in newest_tasks(workspace.store):
        if why := why_not_in_a_study(workspace.store, task):
            released.left_out[task.id] = why
        else:
            drawn.setdefault(task.occupation, []).append(task)
    for tasks in drawn.values():
        tasks.sort(key=lambda task: sha256(f"release:{plan.seed}:{task.id}".encode()))
    return dict(sorted(drawn.items()))


def _written(workspace: Workspace, looking: Documents, task: Task, target: Path, names: Sequence[str]) -> Task:
    """The public form of a task, its scrubbed files written; nothing is written when one of them cannot be cleaned."""
    told = "\n".join(
        [task.id, task.title or "", task.brief, more_of(task), *(file.name for file in task.reference_files)]
    )
    if names_in(told.encode(), names):
        raise CannotRelease(task.id, "its brief, title or a file name holds a name that must not be released")
    taken: set[str] = set()
    with tempfile.TemporaryDirectory(prefix="guildhall-release-") as folder:
        cleaned = [
            _cleaned(workspace, looking, task.id, file, Path(folder) / str(number), names)
            for number, file in enumerate(task.reference_files)
        ]
        files = []
        for file, clean in zip(task.reference_files, cleaned, strict=True):
            name = free_name(PurePosixPath(file.name).name, taken)
            data = clean.read_bytes()
            digest = sha256(data)
            place = f"reference_files/{digest[:32]}/{name}"
            (target / place).parent.mkdir(parents=True, exist_ok=True)
            (target / place).write_bytes(data)
            files.append(FileRef(name=name, digest=digest, size=len(data), source=place))
    public = {"version": 1, "expert_files": (), "expert_text": None, "rubric": None, "provenance": None}
    return task.but(reference_files=tuple(files), **public)


def _cleaned(
    workspace: Workspace, looking: Documents, task: Id, file: FileRef, folder: Path, names: Sequence[str]
) -> Path:
    if file.digest is None or not workspace.blobs.has(file.digest):
        raise CannotRelease(task, "a reference file is known by name only")
    folder.mkdir()
    original = folder / f"file{PurePosixPath(file.name).suffix}"
    workspace.blobs.copy_to(file.digest, original)
    scrubbed = looking.cleaned(original, out=folder / "clean")
    if scrubbed.outcome is not LookOutcome.OK:
        raise CannotRelease(task, f"a reference file cannot be cleaned: {scrubbed.reason}")
    clean = scrubbed.out[0]
    words = looking.tells(clean, identities=names)
    if names_in(clean.read_bytes(), names) or any(one.rule == "known-name" for one in words.findings):
        raise CannotRelease(task, "a reference file holds a name that must not be released")
    return clean


def _write_pages(workspace: Workspace, released: Released, target: Path, plan: ReleasePlan) -> None:
    rows = [
        {
            "task_id": task.id,
            "sector": task.sector,
            "occupation": task.occupation,
            "prompt": task.brief,
            **{
                f"reference_file{ending}": [file.source for file in task.reference_files]
                for ending in ("s", "_urls", "_hf_uris")
            },
            MORE_COLUMN: more_of(task),
        }
        for task in released.tasks
    ]
    write_gdpval_table(rows, target)
    declared = _declared(workspace, released.tasks)
    parties = {key: draft.third_party for key, draft in declared.items()}
    agreed = {key for key, draft in declared.items() if draft.permission}
    pages: Mapping[str, str] = {
        "README.md": readme_page(released.tasks, per_occupation=plan.per_occupation, seed=plan.seed),
        "DISCLOSURES.md": disclosures_page(released.tasks, parties, agreed),
        "LICENSE": licence_page(plan.licence),
    }
    for name, text in pages.items():
        (target / name).write_text(text, encoding="utf-8")


def _declared(workspace: Workspace, tasks: Sequence[Task]) -> dict[Id, Draft]:
    """The newest version of the draft of each released task, with what its author declared."""
    drafts = {task.id: workspace.store.find(Draft, task=task.id) for task in tasks}
    return {key: max(made, key=lambda draft: draft.task.version) for key, made in drafts.items() if made}


LEAST_LENGTH = 3
"""Shorter names are in every file, and tell nobody."""
_DEEPEST = 6
_MOST_UNPACKED = 400 << 20


def names_in(data: bytes, names: Iterable[str]) -> list[str]:
    """Which of the names are in these bytes, whatever their case, or in what is packed in them."""
    wanted = sorted({name.strip() for name in names if len(name.strip()) >= LEAST_LENGTH})
    found: set[str] = set()
    for part in _unpacked(data, 0):
        lowered = part.lower()
        found |= {name for name in wanted if any(form in lowered for form in _forms(name))}
    return sorted(found)


def names_below(folder: Path, names: Sequence[str]) -> dict[str, list[str]]:
    """File -> the names found in its bytes or in its path, for every file below a folder that holds any."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        relative = path.relative_to(folder).as_posix()
        hits = {*names_in(path.read_bytes(), names), *names_in(relative.encode(), names)}
        if hits:
            found[relative] = sorted(hits)
    return found


def _forms(name: str) -> Iterator[bytes]:
    lowered = name.lower()
    yield from {lowered.encode(encoding, "ignore") for encoding in ("utf-8", "utf-16-le", "utf-16-be", "latin-1")}


def _unpacked(data: bytes, depth: int) -> Iterator[bytes]:
    yield data
    if depth >= _DEEPEST:
        return
    try:
        if data.startswith(b"PK"):
            for name, inner in read_members(data).items():
                yield name.encode()
                yield from _unpacked(inner, depth + 1)
        elif data.startswith(b"\x1f\x8b"):
            yield from _unpacked(gzip.decompress(data)[:_MOST_UNPACKED], depth + 1)
    except (UnreadableFile, UnsafePath, OSError, EOFError, zlib.error):
        return  # what cannot be unpacked was searched as it stands
