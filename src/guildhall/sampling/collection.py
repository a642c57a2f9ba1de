"""Which files count as an author's work: by rule, with every exception recorded.

What counts is new or changed. The author's own list decides; without one, what lies in `deliverables/` (or, where
that is empty, everything new) counts. An input handed back unchanged is never work, under whatever name.

What lies in the work folder is one look from inside the sandbox, taken as hearsay and checked again outside. A file may
be called by any bytes: it is kept under a plain name. Whatever is wrong with one file costs that file and a counted
problem, never another file, the submission or the run.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import PurePosixPath
from typing import Literal

from anyio import to_thread
from pydantic import JsonValue

from guildhall.documents.kinds import Family, claimed_kind
from guildhall.documents.packages import opened
from guildhall.documents.tells import files_named
from guildhall.domain.submissions import Problem
from guildhall.domain.tasks import FileRef, plain_name
from guildhall.domain.values import Digest, sha256
from guildhall.engine.agents import AT_ITS_LIMIT, AgentRoom
from guildhall.engine.faults import storage_failed
from guildhall.errors import SandboxError
from guildhall.sampling.elicitation import ANYWHERE

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
    room: AgentRoom,
    *,
    placed: Mapping[str, Digest],
    named: Iterable[str] | None,
    text: str,
    keep: Callable[[bytes], Digest],
) -> Collection:
    """Fetch the deliverables from a sandbox. `placed` are the input files by path, `named` what the author listed."""
    collection = Collection(text=text)
    entries = {entry.path: entry for entry in await take_inventory(room, collection)}
    chosen = _chosen(entries, named, collection)
    fetched = await _fetch(room, chosen, placed, collection)
    for path, content in fetched:
        _look_inside(path, content, collection)
        digest = await to_thread.run_sync(keep, content)
        collection.files.append(FileRef(name=path, digest=digest, size=len(content)))
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
            collection.problem("unsafe path", f"{name!r} leaves the work folder", _printable(name[:200]))
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
    return plain_name("/".join(parts).encode("utf-8", "surrogatepass"))


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
    room: AgentRoom, chosen: list[Entry], placed: Mapping[str, Digest], collection: Collection
) -> list[tuple[str, bytes]]:
    inputs, total = set(placed.values()), 0
    fetched: list[tuple[str, bytes]] = []
    for entry in chosen:
        if (why := unfit(entry, count=len(fetched), total=total)) is not None:
            collection.problem(why[0], why[1], entry.path)
            continue
        try:
            content = await _read(room, entry)
        except Exception as error:  # providers of sandboxes raise what they like
            if storage_failed(error):
                raise
            await room.run(["python3", "-I", "-c", "pass"])  # a room that is gone raises here: no file's fault
            collection.problem("unreadable", f"could not be read: {_printable(str(error))}", entry.path)
            continue
        if entry.raw is not None:
            collection.problem("name written anew", f"was called {entry.raw!r}", entry.path)
        if sha256(content) in inputs:
            collection.problem("echoed input", "is an input file, unchanged, and does not count as work", entry.path)
            continue
        fetched.append((entry.path, content))
        total += len(content)
    return fetched


async def _read(room: AgentRoom, entry: Entry) -> bytes:
    """A file by its name; one that no argument can carry is first lent a plain name, inside."""
    if entry.raw is None:
        return await room.read(entry.path)
    ran = await room.run(["python3", "-I", "-c", _LEND, entry.raw.hex(), _LENT], timeout_s=60)
    if ran.code != 0:
        raise OSError(ran.err.strip()[-200:])
    return await room.read(_LENT)


def unfit(entry: Entry, *, count: int, total: int) -> tuple[str, str] | None:
    """The rule an entry breaks, and how; None for a plain file of sensible size."""
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


def _look_inside(path: str, content: bytes, collection: Collection) -> None:
    try:
        stated = any(ANYWHERE.search(part) for part in _readable_parts(content))
    except Exception as error:  # noqa: BLE001 - a hostile archive may raise anything; the file is kept as it is
        words = _printable(f"{type(error).__name__}: {error}")
        collection.problem("damaged archive", f"could not be looked into ({words}); kept as it is", path)
        return
    if stated:
        collection.problem("confidence inside a file", "CONFIDENCE[...] belongs in the final message only", path)


def _readable_parts(content: bytes) -> Iterable[bytes]:
    if not zipfile.is_zipfile(BytesIO(content)):
        yield content[:_SCANNED_BYTES]
        return
    with opened(content, "archive") as package:
        left = _SCANNED_BYTES
        for member in package.infolist()[:500]:
            kind = claimed_kind(member.filename)
            if left > 0 and kind is not None and kind.family is Family.TEXT:
                with package.open(member) as stream:
                    part = stream.read(left)
                left -= len(part)
                yield part


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


def _free_name(name: str, taken: Container[str]) -> str:
    path = PurePosixPath(name)
    number = 2
    while (fresh := str(path.with_name(f"{path.stem} ({number}){path.suffix}"))).lower() in taken or fresh in taken:
        number += 1
    return plain_name(fresh.encode())


def _note_strays(
    entries: Mapping[str, Entry],
    chosen: list[Entry],
    placed: Mapping[str, Digest],
    named: Iterable[str] | None,
    collection: Collection,
) -> None:
    """Links, pipes and unnamed files that were left lying about: recorded, never graded."""
    picked = {entry.path for entry in chosen}
    rest = [entry for entry in entries.values() if entry.path not in picked and not entry.is_cache]
    for entry in rest:
        if entry.kind != "file" and (why := unfit(entry, count=0, total=0)) is not None:
            collection.problem(why[0], why[1], entry.path)
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
_LISTED_LETTERS = 6 * 2**20

_LIST = """
import json, os, stat, sys
most, letters = int(sys.argv[1]), int(sys.argv[2])
told = seen = missed = 0

def unlisted(error):
    global missed
    missed += 1

for folder, folders, names in os.walk(b".", followlinks=False, onerror=unlisted):
    folders.sort()
    links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
    for name in sorted(names) + links:
        seen += 1
        path = os.path.join(folder, name)
        try:
            found = os.lstat(path)
            kind = "link" if stat.S_ISLNK(found.st_mode) else "file" if stat.S_ISREG(found.st_mode) else "special"
            to = os.readlink(path).hex() if kind == "link" else None
        except OSError:
            missed += 1
            continue
        line = json.dumps([path[2:].hex(), kind, found.st_size, to])
        letters -= len(line)
        if told < most and letters > 0:
            print(line)
            told += 1
    if seen > 10 * most:
        break
print(json.dumps([seen, missed]))
"""
"""Names travel in hex: what a file is called may be any bytes. What is told, and looked at, is bounded."""

_LEND = """
import os, sys
source, lent = bytes.fromhex(sys.argv[1]), os.fsencode(sys.argv[2])
if os.path.lexists(lent):
    os.unlink(lent)
os.link(source, lent, follow_symlinks=False)
"""
_LENT = ".guildhall-lent"

_CACHE_FOLDERS = {"__pycache__", ".cache", ".config", ".git", ".ipynb_checkpoints", ".local", "node_modules", ".venv"}
_CACHE_NAMES = {".DS_Store", "Thumbs.db", ".bash_history", ".python_history"}
_CACHE_ENDINGS = (".pyc", ".pyo", ".tmp", ".swp")
_CACHE_STARTS = ("~$", ".~lock.")


@dataclass(frozen=True)
class Entry:
    """What lies in a folder, by its plain name; `raw` is what it is called where that is another name."""

    path: str
    kind: EntryKind
    size: int
    to: str | None = None
    raw: bytes | None = None

    @classmethod
    def of(cls, raw: bytes, kind: EntryKind, size: int, to: bytes | None = None) -> Entry:
        path = plain_name(raw)
        link = None if to is None else _printable(to.decode("utf-8", "surrogateescape"))[:300]
        return cls(path, kind, size, link, raw=None if path.encode() == raw else raw)

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


async def take_inventory(room: AgentRoom, collection: Collection) -> list[Entry]:
    """Every file, link and special file below the work folder; links are listed and never followed."""
    ran = await room.run(["python3", "-I", "-c", _LIST, str(MOST_ENTRIES), str(_LISTED_LETTERS)], timeout_s=120)
    if ran.code != 0 and AT_ITS_LIMIT in ran.err:  # the author filled it: such work is over, and is not tried again
        collection.problem("unreadable", f"nothing could be fetched: {ran.err.strip()[-200:]}")
        return []
    if ran.code != 0:
        raise SandboxError(f"the work folder could not be listed: {ran.err.strip()[-300:]}")
    *lines, last = ran.out.splitlines()
    found = [
        Entry.of(bytes.fromhex(path), kind, size, None if to is None else bytes.fromhex(to))
        for path, kind, size, to in map(json.loads, lines)
    ]
    seen, missed = json.loads(last)
    if seen > len(lines) + missed:
        collection.problem("too many", f"{seen - len(lines) - missed:,} files lie beyond the first {len(lines):,}")
    if missed:
        collection.problem("unreadable", f"{missed:,} files or folders could not be listed")
    return told_apart(found)


def told_apart(entries: Iterable[Entry]) -> list[Entry]:
    """The same entries, no two by one name: what is called by other bytes may come to the same plain name."""
    known: dict[str, Entry] = {}
    for entry in entries:
        path = entry.path if entry.path not in known else _free_name(entry.path, known)
        known[path] = entry if path == entry.path else replace(entry, path=path, raw=entry.raw or entry.path.encode())
    return list(known.values())


def _printable(text: str) -> str:
    """Words of a stranger as words that can be kept and shown: what is no letter stands as its escape."""
    return text.encode("utf-8", "backslashreplace").decode()
