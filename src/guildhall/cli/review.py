"""`guildhall review`: from an author's draft, through three stages of review, into the bank."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from guildhall.cli.review_acts import (
    TaskId,
    accept,
    answer,
    at_desk,
    audit,
    comment,
    give_back,
    reject,
    revise,
    submit,
    take,
    write_review,
)
from guildhall.cli.show import as_json, done, note, share, table
from guildhall.cli.workspace import JsonOption, WorkspaceOption

if TYPE_CHECKING:
    from guildhall.domain.reviews import Anchor


CodeName = Annotated[str, typer.Argument(help="The person's code name.")]
ByManager = Annotated[str, typer.Option("--by", help="Your code name: a manager's, or for promotions a lead's.")]
CheckOption = Annotated[Optional[str], typer.Option(help="open, passed or failed.")]  # noqa: UP045


def roster(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Show authors and reviewers: requirements, acceptance rates, reviews per task; warn of short occupations."""
    from guildhall.taskbank.review.eligibility import LEAST_EXPERTS
    from guildhall.taskbank.review.histories import all_histories
    from guildhall.taskbank.review.roster import roster_report

    with at_desk(workspace) as desk:
        report = roster_report(desk.roster.everyone(), all_histories(desk.workspace.store))
    if json:
        as_json({"experts": report.experts, "short_of_experts": report.short, "mean_years": report.mean_years})
        return
    rows = [
        (
            one.code_name,
            "lead reviewer" if one.lead else one.role,
            one.tasks,
            share(one.acceptance_rate),
            "none" if one.reviews_per_task is None else f"{one.reviews_per_task:.1f}",
            one.reviews_made,
            ", ".join(one.unmet),
        )
        for one in report.experts
    ]
    columns = ["code name", "role", "tasks", "accepted", "reviews a task", "reviews made", "still lacks"]
    table(f"{len(rows)} experts", columns, rows, numeric=[2, 3, 4, 5])
    if report.mean_years is not None:
        note(f"qualified experts have {report.mean_years:.1f} years of experience on average")
    for occupation, qualified in report.short.items():
        note(f"{occupation}: {qualified} qualified experts; {LEAST_EXPERTS} are wanted")


def vet(
    code_name: CodeName,
    by: ByManager,
    interview: CheckOption = None,
    background_check: CheckOption = None,
    training: CheckOption = None,
    quiz: CheckOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record how an expert's checks stand; all four passed, with 4 years, let them contribute."""
    from guildhall.study.reviewing import record_checks
    from guildhall.taskbank.review.eligibility import unmet_requirements

    given = {"interview": interview, "background_check": background_check, "training": training, "quiz": quiz}
    with at_desk(workspace) as desk:
        checks = {name: state for name, state in given.items() if state is not None}
        member = record_checks(desk.roster, desk.person(code_name), checks, by=desk.person(by), now=desk.now)
    unmet = unmet_requirements(member)
    if json:
        as_json({"code_name": code_name, "vetting": member.vetting, "unmet": list(unmet)})
    else:
        done(f"{code_name} may contribute" if not unmet else f"{code_name} still lacks {', '.join(unmet)}")


def promote(code_name: CodeName, by: ByManager, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Promote an author to reviewer, or a reviewer to lead."""
    from guildhall.study.reviewing import promote as promote_member

    with at_desk(workspace) as desk:
        member = promote_member(desk.roster, desk.person(code_name), by=desk.person(by), now=desk.now)
    if json:
        as_json({"code_name": code_name, "role": member.role, "lead": member.lead})
    else:
        done(f"{code_name} is now {'a lead reviewer' if member.lead else 'a reviewer'}")


def list_(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Show the board: every task in its lane, who holds it and for how long."""
    from dataclasses import asdict

    from guildhall.store.workspace import Workspace
    from guildhall.taskbank.review.board import board

    now = time.time()
    with Workspace.find(workspace) as opened:
        cards = board(opened.store, now=now)
    if json:
        as_json([asdict(card) | {"held_s": now - card.since} for card in cards])
        return
    rows = [(card.task, card.version, card.lane, card.holder, _age(now - card.since), card.reviews) for card in cards]
    columns = ["task", "version", "lane", "held by", "for", "reviews"]
    table(f"{len(cards)} tasks under review", columns, rows, numeric=[1, 5])


def _age(seconds: float) -> str:
    return f"{seconds / 86400:.0f} d" if seconds >= 2 * 86400 else f"{seconds / 3600:.1f} h"


def show(task: TaskId, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Show where a task stands: what it still needs, the advice on it, its reviews and comments."""
    from guildhall.store.workspace import Workspace
    from guildhall.taskbank.review.histories import history_of
    from guildhall.taskbank.review.standing import standing_of

    with Workspace.find(workspace) as opened:
        found = history_of(opened.store, task)
    standing, newest = standing_of(found), found.newest
    screenings = [one for one in found.screenings if one.draft == newest.key]
    if json:
        as_json(
            {
                "task": task,
                "version": newest.task.version,
                "author": found.author,
                "state": standing.state,
                "lane": standing.lane,
                "stage": standing.stage,
                "missing": list(standing.missing),
                "screenings": screenings,
                "reviews": found.reviews,
                "comments": [
                    {"comment": one.comment.key, "resolved": one.resolved, "words": one.comment.words}
                    | {"by": one.comment.by, "anchor": one.comment.anchor}
                    for one in found.threads()
                ],
            }
        )
        return
    typer.secho(f"{newest.task.title or task}  ({newest.key}, by {found.author})", bold=True)
    typer.echo(f"{standing.lane}. It needs: {'; '.join(standing.missing) or 'nothing more'}\n")
    advice = [(one.screener, part.criterion, part.opinion, part.words) for one in screenings for part in one.advice]
    table("Screening (advice only)", ["by", "point", "opinion", "words"], advice)
    rows = [(one.draft, one.stage, one.reviewer, one.outcome, one.words) for one in found.reviews]
    table("Reviews", ["version", "stage", "reviewer", "outcome", "words"], rows)
    remarks = [
        (
            one.comment.key[:12],
            one.comment.by,
            _place(one.comment.anchor),
            "resolved" if one.resolved else "open",
            one.comment.words,
        )
        for one in found.threads()
    ]
    table("Comments", ["comment", "by", "place", "state", "words"], remarks)


def _place(anchor: Anchor | None) -> str:
    if anchor is None:
        return "the whole"
    return anchor.file + (f", page {anchor.page}" if anchor.page else "")


def history(task: TaskId, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Tell everything that happened to a task, oldest first."""
    from dataclasses import asdict

    from guildhall.store.workspace import Workspace
    from guildhall.taskbank.review.histories import events, history_of

    with Workspace.find(workspace) as opened:
        told = events(history_of(opened.store, task))
    if json:
        as_json([asdict(event) | {"at": event.at.isoformat()} for event in told])
        return
    rows = [(f"{event.at:%Y-%m-%d %H:%M}", event.who, event.what, event.words) for event in told]
    table(f"History of {task}", ["when (UTC)", "who", "what", "words"], rows)


def differences(
    task: TaskId,
    before: Annotated[Optional[int], typer.Option("--from", help="The older version.")] = None,  # noqa: UP045
    after: Annotated[Optional[int], typer.Option("--to", help="The newer version; the newest by default.")] = None,  # noqa: UP045
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Show what changed between two versions of a draft: facts, the brief line by line, files."""
    from dataclasses import asdict

    from guildhall.store.workspace import Workspace
    from guildhall.taskbank.review.differences import Change, changed_facts, file_changes, line_differences
    from guildhall.taskbank.review.histories import history_of

    with Workspace.find(workspace) as opened:
        found = history_of(opened.store, task)
    new = found.draft(after) if after else found.newest
    old = found.draft(before or max(1, new.task.version - 1))
    facts, files = changed_facts(old, new), file_changes(old.task, new.task)
    lines = line_differences(old.task.brief, new.task.brief)
    if json:
        as_json(
            {
                "from": old.task.version,
                "to": new.task.version,
                "facts": [asdict(fact) for fact in facts],
                "brief": [asdict(line) for line in lines],
                "files": [{"name": file.name, "change": file.change} for file in files],
            }
        )
        return
    for fact in facts:
        typer.echo(f"{fact.name}: {fact.before or 'nothing'} -> {fact.after or 'nothing'}")
    for file in files:
        typer.echo(f"{file.change:>8}  {file.name}")
    marks = {Change.ADDED: "+", Change.REMOVED: "-"}
    for line in lines:
        typer.echo(f"... {line.text}" if line.gap else f"{marks.get(line.change, ' ')} {line.text}")


app = typer.Typer(
    no_args_is_help=True, help="Drafts, staged review and acceptance of tasks; their authors and reviewers."
)

app.command("submit")(submit)
app.command("list")(list_)
app.command("show")(show)
app.command("take")(take)
app.command("give-back")(give_back)
app.command("review")(write_review)
app.command("comment")(comment)
app.command("answer")(answer)
app.command("revise")(revise)
app.command("accept")(accept)
app.command("reject")(reject)
app.command("audit")(audit)
app.command("history")(history)
app.command("differences")(differences)
app.command("roster")(roster)
app.command("vet")(vet)
app.command("promote")(promote)
