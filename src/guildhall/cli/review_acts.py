"""What authors, reviewers and the team do to a task, each one command."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from guildhall.cli.show import as_json, done, note, table
from guildhall.cli.workspace import JsonOption, WorkspaceOption

if TYPE_CHECKING:
    from guildhall.domain.halls import Member
    from guildhall.domain.reviews import Draft
    from guildhall.domain.values import Id
    from guildhall.grading.people import Roster
    from guildhall.store.workspace import Workspace
    from guildhall.taskbank.review.desk import ReviewDesk


TaskId = Annotated[str, typer.Argument(help="The task's id.")]
By = Annotated[str, typer.Option("--by", help="Your code name on the roster.")]
Words = Annotated[str, typer.Option("--words", help="What you have to say.")]


class AtDesk:
    """An open workspace with its review desk, and the time of the act."""

    def __init__(self, workspace: Workspace, roster: Roster, desk: ReviewDesk) -> None:
        self.workspace, self.roster, self.desk, self.now = workspace, roster, desk, time.time()

    def person(self, code_name: Id) -> Member:
        return self.roster.by_code_name(code_name)


@contextmanager
def at_desk(path: Path | None) -> Iterator[AtDesk]:
    from guildhall.store.workspace import Workspace
    from guildhall.taskbank.review.desk import ReviewDesk
    from guildhall.web.site import Addresses, Site

    with Workspace.find(path) as opened:
        site = Site(opened, Addresses("http://localhost:8460", "http://files.localhost:8461"))
        people = {member.code_name: member for member in site.roster.everyone()}
        yield AtDesk(opened, site.roster, ReviewDesk(opened.store, people))


Folder = Annotated[Path, typer.Argument(help="A task folder; `guildhall tasks new` starts one.")]
Note = Annotated[str, typer.Option("--note", help="What is new in this version.")]
ThirdParty = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(help="A brand, firm or work of others it refers to; repeat it."),
]
Permission = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(help="A real person whom a file shows or lets hear, and when and how they agreed; repeat it."),
]
Score = Annotated[int, typer.Option(min=1, max=5)]


def submit(
    folder: Folder,
    by: By,
    note: Note = "",
    third_party: ThirdParty = None,
    permission: Permission = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Submit a task folder for review: its files are made visible, and it is screened by rule."""
    with at_desk(workspace) as desk:
        draft = _submitted(desk, folder, by, note, third_party, permission)
        _show_submitted(desk, draft, json=json)


def revise(
    folder: Folder,
    by: By,
    note: Note,
    third_party: ThirdParty = None,
    permission: Permission = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Submit the next version of a draft, saying what is new."""
    from guildhall.taskbank.folder import read_folder
    from guildhall.taskbank.review.histories import history_of

    with at_desk(workspace) as desk:
        found = read_folder(folder).task
        if found is not None:
            history_of(desk.workspace.store, found.id)
        draft = _submitted(desk, folder, by, note, third_party, permission)
        _show_submitted(desk, draft, json=json)


def _submitted(
    desk: AtDesk, folder: Path, by: str, note_: str, third_party: list[str] | None, permission: list[str] | None
) -> Draft:
    from guildhall.study.reviewing import submit_folder

    declared = {"note": note_, "third_party": tuple(third_party or ()), "permission": tuple(permission or ())}
    author = desk.person(by)
    return submit_folder(desk.workspace, desk.desk, folder, author, now=desk.now, **declared)


def _show_submitted(desk: AtDesk, draft: Draft, *, json: bool) -> None:
    from guildhall.documents.looking import documents
    from guildhall.study.reviewing import make_ready

    with documents(desk.workspace.path / "cache") as looking:
        screening = make_ready(desk.workspace, draft, looking, made_at=datetime.now(UTC))
    if json:
        as_json({"task": draft.task.id, "version": draft.task.version, "screening": screening.advice})
        return
    done(f"{draft.key} is submitted for review")
    for advice in screening.advice:
        if advice.words:
            note(f"screening suggests: {advice.criterion}? {advice.words}")


def take(task: TaskId, by: By, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Take the next review of a task, for three days."""
    with at_desk(workspace) as desk:
        hold = desk.desk.take(task, desk.person(by), now=desk.now)
    if json:
        as_json(hold)
    else:
        done(f"{by} holds {hold.draft} at the stage {hold.stage}")


def give_back(task: TaskId, by: By, workspace: WorkspaceOption = None) -> None:
    """Give a task back without a review."""
    with at_desk(workspace) as desk:
        desk.desk.give_back(task, desk.person(by), now=desk.now)
    done(f"{task} waits for another reviewer")


def write_review(
    task: TaskId,
    by: By,
    words: Words,
    difficulty: Score,
    representativeness: Score,
    quality: Score,
    time: Annotated[int, typer.Option(min=1, max=5, help="How well the stated hours fit: 5 is exactly.")],
    changes: Annotated[bool, typer.Option("--changes", help="Request changes instead of passing it.")] = False,
    hours: Annotated[Optional[float], typer.Option(help="Hours you expect an expert to take.")] = None,  # noqa: UP045
    specification: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="under-specified, well-specified or over-specified."),
    ] = None,
    yes: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="A question of the stage answered with yes: requirements; representative, doable; good."),
    ] = None,
    no: Annotated[Optional[list[str]], typer.Option(help="A question of the stage answered with no.")] = None,  # noqa: UP045
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Review the newest version at the stage it waits for: ratings 1 to 5, the stage's questions, and reasons."""
    from guildhall.domain.reviews import ReviewOutcome
    from guildhall.domain.tasks import Specification
    from guildhall.errors import UnknownName

    if specification is not None and specification not in {str(one) for one in Specification}:
        raise UnknownName("label of a brief", specification, known=[str(one) for one in Specification])
    with at_desk(workspace) as desk:
        review = desk.desk.review(
            task,
            desk.person(by),
            now=desk.now,
            outcome=ReviewOutcome.CHANGES if changes else ReviewOutcome.PASS,
            difficulty=difficulty,
            representativeness=representativeness,
            quality=quality,
            time=time,
            hours=hours,
            specification=specification,
            words=words,
            answers=dict.fromkeys(yes or (), True) | dict.fromkeys(no or (), False),
        )
    if json:
        as_json(review)
    else:
        done(f"{review.draft}, {review.stage}: {review.outcome}")


def comment(
    task: TaskId,
    by: By,
    words: Words,
    file: Annotated[Optional[str], typer.Option(help="reference/NAME or expert/NAME.")] = None,  # noqa: UP045
    page: Annotated[Optional[int], typer.Option(min=1, help="A page of that file.")] = None,  # noqa: UP045
    box: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="A part of that page, as shares of it: left,top,right,bottom, e.g. 0,0.5,1,1."),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Comment on the newest version: on the whole, a file, a page, or a part of a page."""
    from guildhall.taskbank.review.desk import anchor_at

    with at_desk(workspace) as desk:
        anchor = anchor_at(file, page=page, box=box)
        made = desk.desk.comment(task, desk.person(by), words, now=desk.now, anchor=anchor)
    if json:
        as_json({"comment": made.key, **made.model_dump(mode="json")})
    else:
        done(f"comment {made.key[:12]} is kept")


def answer(
    task: TaskId,
    comment: Annotated[str, typer.Argument(help="The comment's id, or its beginning.")],
    by: By,
    words: Words,
    resolve: Annotated[bool, typer.Option("--resolve", help="Settle it.")] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Answer a comment, or settle it."""
    from guildhall.taskbank.review.histories import history_of

    with at_desk(workspace) as desk:
        threads = history_of(desk.workspace.store, task).threads()
        full = next((one.comment.key for one in threads if one.comment.key.startswith(comment)), comment)
        desk.desk.answer(task, full, desk.person(by), words, now=desk.now, resolves=resolve)
    done(f"comment {comment[:12]} is {'resolved' if resolve else 'answered'}")


def accept(
    task: TaskId,
    by: By,
    words: Annotated[str, typer.Option("--words", help="Anything to add.")] = "",
    workspace: WorkspaceOption = None,
) -> None:
    """Accept a task whose review is complete: it enters the bank with its ratings."""
    from guildhall.study.reviewing import accept as accept_into_bank

    with at_desk(workspace) as desk:
        made = accept_into_bank(desk.desk, desk.roster, task, desk.person(by), now=desk.now, words=words)
    done(f"{made.draft} is accepted into the bank")


def reject(task: TaskId, by: By, words: Words, workspace: WorkspaceOption = None) -> None:
    """Reject a task, with the reason; it is not revised any more."""
    from guildhall.domain.reviews import DecisionKind

    with at_desk(workspace) as desk:
        desk.desk.decide(task, DecisionKind.REJECTED, desk.person(by), now=desk.now, words=words)
    done(f"{task} is rejected")


def audit(
    task: Annotated[Optional[str], typer.Argument(help="The task that was looked at.")] = None,  # noqa: UP045
    by: Annotated[Optional[str], typer.Option("--by", help="Your code name.")] = None,  # noqa: UP045
    words: Annotated[str, typer.Option("--words", help="What the audit found.")] = "",
    failed: Annotated[bool, typer.Option("--failed", help="It does not hold: back to its author.")] = False,
    share: Annotated[float, typer.Option(min=0, max=1, help="Share of accepted tasks to look at.")] = 0.1,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 1,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List the accepted tasks drawn for the team's audit, or record what an audit found."""
    from guildhall.domain.reviews import DecisionKind
    from guildhall.errors import InputError
    from guildhall.taskbank.review.board import board

    with at_desk(workspace) as desk:
        if task is not None:
            if by is None:
                raise InputError("say who looked at it with --by")
            kind = DecisionKind.AUDIT_FAILED if failed else DecisionKind.AUDIT_HELD
            made = desk.desk.decide(task, kind, desk.person(by), now=desk.now, words=words)
            as_json(made) if json else done(f"{made.draft}: {made.kind}")
            return
        cards = board(desk.workspace.store, now=desk.now, audit_share=share, audit_seed=seed)
    due = [card for card in cards if card.audit_due]
    if json:
        as_json([{"task": card.task, "version": card.version, "occupation": card.occupation} for card in due])
    else:
        rows = [(card.task, card.version, card.occupation) for card in due]
        table(f"{len(due)} tasks to audit (share {share:g}, seed {seed})", ["task", "version", "occupation"], rows)
