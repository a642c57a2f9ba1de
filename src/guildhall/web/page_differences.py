"""Pages of two versions of a file next to one another, and the words that changed between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from guildhall.taskbank.review.differences import Change, DifferenceLine, FileChange, line_differences
from guildhall.web.drafts import DraftFile, DraftShown
from guildhall.web.showing import PageShown


@dataclass(frozen=True)
class PagePair:
    number: int
    before: PageShown | None
    after: PageShown | None
    same: bool = False


@dataclass(frozen=True)
class FilePages:
    """What changed in one file: its words, and its pages in pairs."""

    lines: list[DifferenceLine]
    pairs: list[PagePair]


def file_pages(changes: Sequence[FileChange], before: DraftShown, after: DraftShown) -> dict[str, FilePages]:
    """For each file that is not the same, by its anchor name."""
    old, new = _by_anchor(before), _by_anchor(after)
    return {
        change.name: _pages(old.get(change.name), new.get(change.name))
        for change in changes
        if change.change is not Change.SAME
    }


def _by_anchor(shown: DraftShown) -> dict[str, DraftFile]:
    return {file.anchor: file for file in (*shown.references, *shown.deliverables)}


def _pages(before: DraftFile | None, after: DraftFile | None) -> FilePages:
    words = [(file.shown.text or "") if file else "" for file in (before, after)]
    pages = [zip(file.shown.pages, file.images, strict=True) if file else () for file in (before, after)]
    pairs = []
    for number, (one, other) in enumerate(zip_longest(*pages, fillvalue=(None, None)), 1):
        pairs.append(PagePair(number, one[0], other[0], same=one[1] == other[1]))
    return FilePages(line_differences(*words), pairs)
