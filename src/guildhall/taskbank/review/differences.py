"""What changed between two versions of a draft: facts, words line by line, and files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from guildhall.domain.reviews import Draft
from guildhall.domain.tasks import FileRef, Task

CONTEXT_LINES = 3


class Change(StrEnum):
    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True)
class DifferenceLine:
    """One line of a difference; a gap stands for unchanged lines left out."""

    change: Change
    text: str
    gap: bool = False


@dataclass(frozen=True)
class DraftFact:
    name: str
    before: str
    after: str


@dataclass(frozen=True)
class FileChange:
    """A file by its anchor name (`reference/NAME`), and how it changed."""

    name: str
    change: Change
    before: FileRef | None
    after: FileRef | None


def line_differences(before: str, after: str, *, context: int = CONTEXT_LINES) -> list[DifferenceLine]:
    """Removed and added lines with a few unchanged ones around them."""
    old, new = before.splitlines(), after.splitlines()
    made: list[DifferenceLine] = []
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for number, (tag, start, end, new_start, new_end) in enumerate(steps):
        if tag == "equal":
            made += _unchanged(old[start:end], first=number == 0, last=number == len(steps) - 1, context=context)
        else:
            made += [DifferenceLine(Change.REMOVED, text) for text in old[start:end]]
            made += [DifferenceLine(Change.ADDED, text) for text in new[new_start:new_end]]
    return made


def _unchanged(lines: Sequence[str], *, first: bool, last: bool, context: int) -> Iterator[DifferenceLine]:
    head = 0 if first else context
    tail = 0 if last else context
    if len(lines) <= head + tail:
        yield from (DifferenceLine(Change.SAME, text) for text in lines)
        return
    yield from (DifferenceLine(Change.SAME, text) for text in lines[:head])
    yield DifferenceLine(Change.SAME, f"{len(lines) - head - tail} unchanged lines", gap=True)
    yield from (DifferenceLine(Change.SAME, text) for text in lines[len(lines) - tail :])


def changed_facts(before: Draft, after: Draft) -> list[DraftFact]:
    """The fields other than brief and files that differ, in words."""
    pairs = zip(_facts(before), _facts(after), strict=True)
    return [DraftFact(name, old, new) for (name, old), (_, new) in pairs if old != new]


def _facts(draft: Draft) -> list[tuple[str, str]]:
    task = draft.task
    return [
        ("Title", task.title or ""),
        ("Sector", task.sector),
        ("Occupation", task.occupation),
        ("Hours", "" if task.expert_hours is None else f"{task.expert_hours:g}"),
        ("O*NET tasks", "; ".join(task.onet.tasks)),
        ("O*NET skills", "; ".join(task.onet.skills)),
        ("O*NET work activities", "; ".join(task.onet.work_activities)),
        ("Sensitive content", "; ".join(task.sensitive)),
        ("Third parties", "; ".join(draft.third_party)),
        ("People shown, and their permission", "; ".join(draft.permission)),
        ("Rubric", "\n".join(f"{item.points:+d} {item.text}" for item in task.rubric.items) if task.rubric else ""),
    ]


def file_changes(before: Task, after: Task) -> list[FileChange]:
    """Every file of either version; equal digests mean equal files."""
    old, new = dict(named_files(before)), dict(named_files(after))
    made = []
    for name in dict.fromkeys([*old, *new]):
        first, second = old.get(name), new.get(name)
        if first is None or second is None:
            change = Change.ADDED if first is None else Change.REMOVED
        else:
            change = Change.SAME if first.digest == second.digest else Change.CHANGED
        made.append(FileChange(name, change, first, second))
    return made


def named_files(task: Task) -> Iterator[tuple[str, FileRef]]:
    """A task's files by the names that comments are pinned to."""
    yield from ((f"reference/{file.name}", file) for file in task.reference_files)
    yield from ((f"expert/{file.name}", file) for file in task.expert_files)
