"""What the review commands share: the desk with its roster, and the person who acts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from guildhall.domain.halls import Member
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
