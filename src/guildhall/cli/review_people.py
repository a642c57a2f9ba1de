"""Authors and reviewers: what they still have to pass, what became of their work, and how they move up."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from guildhall.cli.review_desk import at_desk
from guildhall.cli.show import as_json, done, note, share, table
from guildhall.cli.workspace import JsonOption, WorkspaceOption

CodeName = Annotated[str, typer.Argument(help="The person's code name.")]
By = Annotated[str, typer.Option("--by", help="Your code name: a manager's, or for promotions a lead's.")]
CheckOption = Annotated[Optional[str], typer.Option(help="open, passed or failed.")]  # noqa: UP045


def roster(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Show authors and reviewers: requirements, acceptance rates, reviews per task; warn of short occupations."""
    from guildhall.taskbank.review.eligibility import LEAST_EXPERTS
    from guildhall.taskbank.review.histories import all_histories
    from guildhall.taskbank.review.roster import roster_report

    with at_desk(workspace) as desk:
        report = roster_report(desk.roster.everyone(), all_histories(desk.workspace.store))
    if json:
        as_json({"experts": report.experts, "short_of_experts": report.short})
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
    for occupation, qualified in report.short.items():
        note(f"{occupation}: {qualified} qualified experts; {LEAST_EXPERTS} are wanted")


def vet(
    code_name: CodeName,
    by: By,
    interview: CheckOption = None,
    background_check: CheckOption = None,
    training: CheckOption = None,
    quiz: CheckOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record how an expert's checks stand; all four passed, with 4 years, let them contribute."""
    from guildhall.study.experts import record_checks
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


def promote(code_name: CodeName, by: By, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Promote an author to reviewer, or a reviewer to lead."""
    from guildhall.study.experts import promote as promote_member

    with at_desk(workspace) as desk:
        member = promote_member(desk.roster, desk.person(code_name), by=desk.person(by), now=desk.now)
    if json:
        as_json({"code_name": code_name, "role": member.role, "lead": member.lead})
    else:
        done(f"{code_name} is now {'a lead reviewer' if member.lead else 'a reviewer'}")
