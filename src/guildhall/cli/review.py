"""`guildhall review`: from an author's draft, through three stages of review, into the bank."""

from __future__ import annotations

import typer

from guildhall.cli.review_acts import (
    accept,
    answer,
    audit,
    comment,
    give_back,
    reject,
    revise,
    submit,
    take,
    write_review,
)
from guildhall.cli.review_looking import differences, history, list_, show
from guildhall.cli.review_people import promote, roster, vet

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
