"""Where review meets the other parts: files made visible for reviewers, folders submitted, tasks accepted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import JsonValue
from sqlalchemy import select

from guildhall.documents.looking import Documents, documents
from guildhall.domain.halls import Check, Member, Role
from guildhall.domain.judgments import BlindedSide, BlindedView
from guildhall.domain.prepared import VERSION, Prepared
from guildhall.domain.reviews import Decision, DecisionKind, Draft, Screening
from guildhall.domain.tasks import Task
from guildhall.domain.values import Id, Value
from guildhall.engine.terms import Limits, Terms
from guildhall.errors import InputError, UnknownName
from guildhall.grading.design import expert_name
from guildhall.grading.people import Roster
from guildhall.judging.preparing import Preparer, expert_subject, shown_file
from guildhall.store.audit import record
from guildhall.store.blobs import Blobs
from guildhall.store.records import Store
from guildhall.store.settings import read_section
from guildhall.store.shelves import shelf_of
from guildhall.store.workspace import Workspace
from guildhall.taskbank.importing import read_source, with_digests
from guildhall.taskbank.review.desk import ReviewDesk
from guildhall.taskbank.review.histories import history_of, version_of
from guildhall.taskbank.review.roster import promoted
from guildhall.taskbank.review.screening import RULE, screen_by_model, screen_by_rule


def record_checks(roster: Roster, member: Member, checks: Mapping[str, str], *, by: Member, now: float) -> Member:
    """Keep how an expert's interview, background check, training and quiz stand; a manager's act."""
    if by.role is not Role.MANAGER:
        raise InputError(f"{by.code_name} is not a manager; managers record checks")
    for name, state in checks.items():
        if state not in {str(one) for one in Check}:
            raise UnknownName(f"state of the {name.replace('_', ' ')}", state, known=[str(one) for one in Check])
    changed = member.but(vetting=member.vetting.but(**checks))
    _keep(roster, changed, "checks recorded", by=by, now=now, facts=dict(checks))
    return changed


def promote(roster: Roster, member: Member, *, by: Member, now: float) -> Member:
    """One step up, by a manager; a lead reviewer may make authors reviewers."""
    lead = by.role is Role.REVIEWER and by.lead and member.role is Role.AUTHOR
    if by.role is not Role.MANAGER and not lead:
        raise InputError(f"{by.code_name} may not promote {member.code_name}; ask a manager")
    changed = promoted(member)
    new = "lead reviewer" if changed.lead else str(changed.role)
    _keep(roster, changed, "promoted", by=by, now=now, facts={"to": new})
    return changed


def _keep(roster: Roster, member: Member, action: str, *, by: Member, now: float, facts: Mapping[str, str]) -> None:
    with roster.store.transaction():
        roster.change(member)
        record(roster.store, at=now, actor=by.code_name, action=action, subject=member.code_name, facts=facts)


def make_ready(workspace: Workspace, draft: Draft, looking: Documents, *, made_at: datetime) -> Screening:
    """Prepare a draft's files and screen it by rule; what was made before is found, not made again."""
    preparer = Preparer(workspace, looking)
    prepared = (preparer.references(draft.task), preparer.expert_files(draft.task))
    key = f"{draft.key}:{RULE}"
    if workspace.store.has(Screening, key):
        return workspace.store.get(Screening, key)
    screening = screen_by_rule(draft, texts=_texts(workspace.blobs, prepared), made_at=made_at)
    workspace.store.add(screening)
    return screening


def is_ready(store: Store, task: Task) -> bool:
    return all(store.has(Prepared, key) for key in _keys(task))


def draft_texts(workspace: Workspace, draft: Draft) -> dict[str, str]:
    """The words of a draft's files by file name, as far as they could be read."""
    return _texts(workspace.blobs, _found(workspace.store, draft.task))


def draft_view(store: Store, task: Task) -> BlindedView:
    """A draft as its reviewers see it: references as `R`, the author's own files as side `A`, all under their names."""
    references, expert = _found(store, task)
    return BlindedView(
        brief=task.brief,
        reference_files=tuple(shown_file(file, file.public_name or "file") for file in references.files),
        sides=(
            BlindedSide(
                place="A",
                files=tuple(shown_file(file, file.public_name or "file") for file in expert.files),
                text=task.expert_text,
            ),
        ),
    )


def _keys(task: Task) -> tuple[str, str]:
    return f"{task.content_digest()}:{VERSION}", f"{expert_subject(task)}:{VERSION}"


def _found(store: Store, task: Task) -> tuple[Prepared, Prepared]:
    references, expert = (store.get(Prepared, key) for key in _keys(task))
    return references, expert


def _texts(blobs: Blobs, prepared: tuple[Prepared, ...]) -> dict[str, str]:
    return {
        file.public_name or "file": blobs.read(file.text).decode(errors="replace")
        for one in prepared
        for file in one.files
        if file.text
    }


def submit_folder(
    workspace: Workspace, desk: ReviewDesk, folder: Path, author: Member, *, now: float, **about: Any
) -> Draft:
    """Keep a task folder's files and submit it as the next version of its draft; `about` goes to the desk."""
    incoming = read_source(folder)
    if len(incoming.tasks) != 1:
        raise InputError(f"{folder} holds {len(incoming.tasks)} tasks; submit one task folder at a time")
    task = with_digests(incoming.tasks[0], incoming, workspace.blobs, lambda _name: None)
    return desk.submit(task, author, now=now, **about)


def accept(desk: ReviewDesk, roster: Roster, task: Id, by: Member, *, now: float, words: str = "") -> Decision:
    """Accept a task into the bank; its author is remembered as the maker of its expert work, and so never judges it."""
    author = desk.people.get(history_of(desk.store, task).author)
    with desk.store.transaction():
        decision = desk.decide(task, DecisionKind.ACCEPTED, by, now=now, words=words)
        if author is not None and expert_name(task) not in author.author_names:
            roster.change(author.but(author_names=(*author.author_names, expert_name(task))))
    return decision


RUN = "screening"


class ScreeningSettings(Value):
    """`[screening]` of a workspace's settings: the model that looks drafts over, and what it may cost."""

    model: str
    settings: dict[str, JsonValue] = {}
    limits: Limits = Limits()


def unscreened(workspace: Workspace, screener: str) -> list[Draft]:
    """The newest version of each draft that a screener has not seen. It is asked often, so only keys are read."""
    drafts, screenings = shelf_of(Draft).table, shelf_of(Screening).table
    with workspace.store.reading() as connection:
        versions = connection.execute(select(drafts.c.task, drafts.c.key)).all()
        seen = set(connection.execute(select(screenings.c.key)).scalars())
    newest: dict[Id, Id] = {}
    for task, key in versions:
        newest[task] = max(newest.get(task, key), key, key=version_of)
    return [workspace.store.get(Draft, key) for key in newest.values() if f"{key}:{screener}" not in seen]


def screen_next(workspace: Workspace, *, clock: Callable[[], float]) -> bool:
    """Make the next draft ready and screen it; False when none waits."""
    if waiting := unscreened(workspace, RULE):
        ready_all(workspace, waiting[:1], clock=clock)
        return True
    wanted = read_section(workspace.path, "screening", ScreeningSettings)
    if wanted is None:
        return False
    return bool(screen_all(workspace, unscreened(workspace, wanted.model)[:1], wanted, clock=clock))


def ready_all(workspace: Workspace, drafts: Sequence[Draft], *, clock: Callable[[], float]) -> list[Screening]:
    """Make drafts visible and screen them by rule."""
    with documents(workspace.path / "cache") as looking:
        return [make_ready(workspace, draft, looking, made_at=datetime.fromtimestamp(clock(), UTC)) for draft in drafts]


def screen_all(
    workspace: Workspace, drafts: Sequence[Draft], wanted: ScreeningSettings, *, clock: Callable[[], float]
) -> list[Screening]:
    """Ask a model about drafts that were made visible before, and keep what it says.

    A draft that it was not asked about, because a limit was reached, has no screening and waits.
    """
    made = screen_by_model(
        drafts,
        texts={draft.key: draft_texts(workspace, draft) for draft in drafts},
        model=wanted.model,
        settings=wanted.settings,
        workspace=workspace,
        terms=Terms(run=RUN, limits=wanted.limits, now=clock),
    )
    workspace.store.add_all(made)
    return made
