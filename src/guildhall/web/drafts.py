"""A draft as its pages show it: files with links, threads by the page they are pinned to, and what a visitor may do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from guildhall.domain.halls import Member, Role
from guildhall.domain.judgments import BlindedFile
from guildhall.domain.reviews import Draft, Screening
from guildhall.domain.tasks import ReviewState
from guildhall.domain.values import Digest, Id
from guildhall.errors import UnknownName
from guildhall.study.reviewing import is_ready
from guildhall.taskbank.review.desk import Hold, ReviewDesk
from guildhall.taskbank.review.differences import Change, DifferenceLine, FileChange, line_differences
from guildhall.taskbank.review.eligibility import may_decide, why_not_review
from guildhall.taskbank.review.histories import TaskHistory, Thread, history_of
from guildhall.taskbank.review.standing import Standing, standing_of
from guildhall.web.showing import FileShown, PageShown, shown_files
from guildhall.web.site import DRAFT, Site


@dataclass(frozen=True)
class DraftFile:
    """A file under the name that comments are pinned to, and the threads pinned to it, by page (0: the file itself)."""

    anchor: str
    shown: FileShown
    images: tuple[Digest, ...]
    """Of its pages, to tell which are the same in two versions; never on a page."""
    threads: dict[int, list[Thread]]


@dataclass(frozen=True)
class DraftShown:
    """One version with its files; absent files are still being made ready."""

    draft: Draft
    references: tuple[DraftFile, ...]
    deliverables: tuple[DraftFile, ...]
    ready: bool


@dataclass(frozen=True)
class Rights:
    """What a visitor may do with a task just now; `why_not` says why they may not review it."""

    author: bool
    review: bool
    why_not: str | None
    comment: bool
    decide: bool


@dataclass(frozen=True)
class TaskShown:
    history: TaskHistory
    standing: Standing
    newest: DraftShown
    screenings: list[Screening]
    general: list[Thread]
    hold: Hold | None
    rights: Rights


def desk_of(site: Site) -> ReviewDesk:
    return ReviewDesk(site.store, {member.code_name: member for member in site.roster.everyone()})


def history_for(site: Site, member: Member, task: Id) -> TaskHistory:
    """A task's history; another author's task is as unknown to an author as one that never was."""
    history = history_of(site.store, task)
    if member.role is Role.AUTHOR and history.author != member.code_name:
        raise UnknownName("task", task, fix="go back to your tasks")
    return history


def task_shown(site: Site, member: Member, task: Id) -> TaskShown:
    history = history_for(site, member, task)
    desk = desk_of(site)
    standing = standing_of(history)
    newest = history.newest
    return TaskShown(
        history=history,
        standing=standing,
        newest=draft_shown(site, newest, history.threads()),
        screenings=[one for one in history.screenings if one.draft == newest.key],
        general=[thread for thread in history.threads() if thread.comment.anchor is None],
        hold=desk.holds.of(task, now=site.clock()),
        rights=_rights(desk, member, history, standing),
    )


def draft_shown(site: Site, draft: Draft, threads: list[Thread]) -> DraftShown:
    if not is_ready(site.store, draft.task):
        return DraftShown(draft, (), (), ready=False)
    subject = f"{DRAFT}{draft.key}"
    view = site.view(subject)
    return DraftShown(
        draft,
        _files("reference", shown_files(site, subject, "R", view.reference_files), view.reference_files, threads),
        _files("expert", shown_files(site, subject, "A", view.sides[0].files), view.sides[0].files, threads),
        ready=True,
    )


def _files(
    kind: str, files: tuple[FileShown, ...], sources: tuple[BlindedFile, ...], threads: list[Thread]
) -> tuple[DraftFile, ...]:
    made = []
    for file, source in zip(files, sources, strict=True):
        anchor, pinned = f"{kind}/{file.name}", dict[int, list[Thread]]()
        for thread in threads:
            place = thread.comment.anchor
            if place is not None and place.file == anchor:
                page = place.page or 0
                pinned.setdefault(page if page <= len(file.pages) else 0, []).append(thread)
        made.append(DraftFile(anchor, file, tuple(page.image for page in source.pages), pinned))
    return tuple(made)


def _rights(desk: ReviewDesk, member: Member, history: TaskHistory, standing: Standing) -> Rights:
    author = history.author == member.code_name
    waits = standing.state is ReviewState.IN_REVIEW and standing.stage is not None
    refusal = why_not_review(member, history, standing.stage, desk.people) if waits and standing.stage else None
    reviews = member.role is Role.REVIEWER and waits and refusal is None
    return Rights(
        author=author,
        review=reviews,
        why_not=str(refusal) if refusal and member.role is Role.REVIEWER else None,
        comment=not author and member.role in {Role.REVIEWER, Role.MANAGER} and standing.lane not in _SETTLED,
        decide=may_decide(member, history, desk.people),
    )


_SETTLED = frozenset({"Accepted", "Rejected"})


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
