"""Which files count as an author's work: by rule, with every exception recorded.

What counts is new or changed. The author's own list decides; without one, what lies in `deliverables/` (or, where
that is empty, everything new) counts. An input handed back unchanged is never work, under whatever name.

What lies in the work folder is one look from inside the sandbox, taken as hearsay and checked again outside.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import PurePosixPath
from typing import Literal

from pydantic import JsonValue

from guildhall.documents.kinds import Family, claimed_kind, files_named
from guildhall.domain.submissions import Problem
from guildhall.domain.tasks import FileRef, check_relative_name
from guildhall.domain.values import Digest, sha256
from guildhall.engine.agents import Room
from guildhall.errors import SandboxError
from guildhall.sampling.confidence import ANYWHERE

DELIVERABLES = "deliverables/"
REFERENCES = "reference_files/"
MOST_FILES = 200
MOST_BYTES = 100 * 2**20
MOST_BYTES_IN_ALL = 1024 * 2**20
_SCANNED_BYTES = 20 * 2**20


@dataclass
class Collection:
    """What was collected, in the order it was named, and everything that was not as it should be."""

    text: str = ""
    files: list[FileRef] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    confidence: int | None = None

    def problem(self, rule: str, words: str, file: str | None = None) -> None:
        self.problems.append(Problem(rule=rule, words=words, file=file))

    def note(self) -> dict[str, JsonValue]:
        broken = any(problem.rule == "promised but not delivered" for problem in self.problems)
        return {
            "delivered": bool(self.files or self.text) and not broken,
            "text": self.text,
            "files": [file.name for file in self.files],
            "problems": [f"{problem.rule}: {problem.words}" for problem in self.problems],
        }


async def collect_files(
    room: Room,
    *,
    placed: Mapping[str, Digest],
    named: Iterable[str] | None,
    text: str,
    keep: Callable[[bytes], Digest],
) -> Collection:
    """Fetch the deliverables from a sandbox. `placed` are the input files by path, `named` what the author listed."""
    collection = Collection(text=text)
    entries = {entry.path: entry for entry in await take_inventory(room)}
    chosen = _chosen(entries, named, collection)
    fetched = await _fetch(room, chosen, placed, collection)
    for path, content in fetched:
        _scan_for_confidence(path, content, collection)
        collection.files.append(FileRef(name=path, digest=keep(content), size=len(content)))
    collection.files = _without_prefix(collection.files, collection)
    _note_strays(entries, chosen, placed, named, collection)
    _note_broken_promises(text, placed, collection)
    return collection


def _chosen(entries: Mapping[str, Entry], named: Iterable[str] | None, collection: Collection) -> list[Entry]:
    """The entries the author means, in its own order."""
    if named is None:
        files = [entry for entry in entries.values() if entry.kind == "file" and not entry.is_cache]
        inside = [entry for entry in files if entry.path.startswith(DELIVERABLES)]
        return inside or files
    chosen: dict[str, Entry] = {}
    for name in named:
        path = _inside(name)
        if path is None:
            collection.problem("unsafe path", f"{name!r} leaves the work folder", name[:200])
            continue
        found = _entries_at(entries, path)
        if not found:
            collection.problem("promised but not delivered", f"{path} was submitted by name and is not there", path)
        chosen |= {entry.path: entry for entry in found if not (entry.is_cache and entry.path != path)}
    return list(chosen.values())


def _inside(name: str) -> str | None:
    """The path relative to the work folder, or None when it leads out of it."""
    parts = [part for part in PurePosixPath(name.removeprefix("/job/")).parts if part != "."]
    if not parts or parts[0] == "/" or ".." in parts:
        return None
    return "/".join(parts)


def _entries_at(entries: Mapping[str, Entry], path: str) -> list[Entry]:
    """The entry of a path; for a folder everything below it; for a bare name the file in `deliverables/`."""
    for candidate in (path, DELIVERABLES + path):
        if candidate in entries:
            return [entries[candidate]]
        below = [entry for entry in entries.values() if entry.path.startswith(candidate.rstrip("/") + "/")]
        if below:
            return below
    return []


async def _fetch(
    room: Room, chosen: list[Entry], placed: Mapping[str, Digest], collection: Collection
) -> list[tuple[str, bytes]]:
    inputs, total = set(placed.values()), 0
    fetched: list[tuple[str, bytes]] = []
    for entry in chosen:
        if (why := unfit(entry, count=len(fetched), total=total)) is not None:
            collection.problem(why[0], why[1], entry.path[:200])
            continue
        try:
            content = await room.read(entry.path)
        except (OSError, ValueError, RuntimeError) as error:
            collection.problem("unreadable", f"could not be read: {error}", entry.path)
            continue
        if sha256(content) in inputs:
            collection.problem("echoed input", "is an input file, unchanged, and does not count as work", entry.path)
            continue
        fetched.append((entry.path, content))
        total += len(content)
    return fetched


def unfit(entry: Entry, *, count: int, total: int) -> tuple[str, str] | None:
    """The rule an entry breaks, and how; None for a plain file of sensible size."""
    try:
        check_relative_name(entry.path)
    except ValueError as error:
        return "hostile name", str(error)
    if entry.kind == "link":
        return "link", f"is a link to {entry.to!r}; links are not followed"
    if entry.kind == "special":
        return "special file", "is neither a file nor a folder"
    if entry.size > MOST_BYTES:
        return "too large", f"has {entry.size:,} bytes; at most {MOST_BYTES:,} count"
    if count >= MOST_FILES:
        return "too many", f"is beyond the first {MOST_FILES} files"
    if total + entry.size > MOST_BYTES_IN_ALL:
        return "too large", f"goes beyond {MOST_BYTES_IN_ALL:,} bytes in all"
    return None


def _scan_for_confidence(path: str, content: bytes, collection: Collection) -> None:
    if any(ANYWHERE.search(part) for part in _readable_parts(content)):
        collection.problem("confidence inside a file", "CONFIDENCE[...] belongs in the final message only", path)


def _readable_parts(content: bytes) -> Iterable[bytes]:
    if not zipfile.is_zipfile(BytesIO(content)):
        yield content[:_SCANNED_BYTES]
        return
    try:
        with zipfile.ZipFile(BytesIO(content)) as package:
            left = _SCANNED_BYTES
            for member in package.infolist()[:500]:
                kind = claimed_kind(member.filename)
                if left > 0 and kind is not None and kind.family is Family.TEXT:
                    with package.open(member) as stream:
                        part = stream.read(left)
                    left -= len(part)
                    yield part
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, NotImplementedError):
        return


def _without_prefix(files: list[FileRef], collection: Collection) -> list[FileRef]:
    """Names as graders will know them: without `deliverables/`, and different on every file system."""
    taken: dict[str, str] = {}
    renamed = []
    for file in files:
        name = file.name.removeprefix(DELIVERABLES)
        if name.lower() in taken:
            fresh = _free_name(name, taken)
            collection.problem("name clash", f"shares its name with {taken[name.lower()]!r}; kept as {fresh!r}", name)
            name = fresh
        taken[name.lower()] = name
        renamed.append(file.but(name=name))
    return renamed


def _free_name(name: str, taken: Mapping[str, str]) -> str:
    path = PurePosixPath(name)
    number = 2
    while (fresh := str(path.with_name(f"{path.stem} ({number}){path.suffix}"))).lower() in taken:
        number += 1
    return fresh


def _note_strays(
    entries: Mapping[str, Entry],
    chosen: list[Entry],
    placed: Mapping[str, Digest],
    named: Iterable[str] | None,
    collection: Collection,
) -> None:
    """Links and unnamed files that were left lying about: recorded, never graded."""
    picked = {entry.path for entry in chosen}
    rest = [entry for entry in entries.values() if entry.path not in picked and not entry.is_cache]
    for entry in rest:
        if entry.kind == "link":
            collection.problem("link", f"is a link to {entry.to!r}; links are not followed", entry.path[:200])
    strays = [entry.path for entry in rest if entry.kind == "file" and entry.path not in placed]
    if strays and named is not None:
        shown = ", ".join(strays[:5]) + (", ..." if len(strays) > 5 else "")
        collection.problem("stray files", f"{len(strays)} files were left behind and not submitted: {shown}")


def _note_broken_promises(text: str, placed: Mapping[str, Digest], collection: Collection) -> None:
    known = [file.name for file in collection.files] + list(placed)
    known += [problem.file for problem in collection.problems if problem.file]
    for promised in dict.fromkeys(files_named(text)):
        if not any(name.lower().endswith(promised.lower()) for name in known):
            collection.problem(
                "promised but not delivered", f"{promised} is named in the final message and is not there", promised
            )


EntryKind = Literal["file", "link", "special"]

MOST_ENTRIES = 20_000

_LIST = """
import json, os, stat, sys
most = int(sys.argv[1])
count = 0
for folder, folders, names in os.walk(".", followlinks=False):
    for name in sorted(names) + [name for name in folders if os.path.islink(os.path.join(folder, name))]:
        path = os.path.join(folder, name)
        try:
            seen = os.lstat(path)
        except OSError:
            continue
        kind = "link" if stat.S_ISLNK(seen.st_mode) else "file" if stat.S_ISREG(seen.st_mode) else "special"
        to = os.readlink(path) if kind == "link" else None
        print(json.dumps([os.path.relpath(path, "."), kind, seen.st_size, to]))
        count += 1
        if count >= most:
            sys.exit(0)
"""

_CACHE_FOLDERS = {"__pycache__", ".cache", ".config", ".git", ".ipynb_checkpoints", ".local", "node_modules", ".venv"}
_CACHE_NAMES = {".DS_Store", "Thumbs.db", ".bash_history", ".python_history"}
_CACHE_ENDINGS = (".pyc", ".pyo", ".tmp", ".swp")
_CACHE_STARTS = ("~$", ".~lock.")


@dataclass(frozen=True)
class Entry:
    path: str
    kind: EntryKind
    size: int
    to: str | None = None

    @property
    def is_cache(self) -> bool:
        """Leavings of programs, which nobody means to deliver."""
        path = PurePosixPath(self.path)
        return (
            bool(_CACHE_FOLDERS.intersection(path.parts[:-1]))
            or path.name in _CACHE_NAMES
            or path.name.endswith(_CACHE_ENDINGS)
            or path.name.startswith(_CACHE_STARTS)
        )


async def take_inventory(room: Room) -> list[Entry]:
    """Every file, link and special file below the work folder; links are listed and never followed."""
    ran = await room.run(["python3", "-I", "-c", _LIST, str(MOST_ENTRIES)], timeout_s=120)
    if ran.code != 0:
        raise SandboxError(f"the work folder could not be listed: {ran.err.strip()[-300:]}")
    found = []
    for line in ran.out.splitlines():
        path, kind, size, to = json.loads(line)
        found.append(
            Entry(str(path), "file" if kind == "file" else "link" if kind == "link" else "special", int(size), to)
        )
    return found
