"""People and drafts for the tests of review."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from guildhall.domain.halls import Check, Member, Role, Vetting
from guildhall.domain.reviews import QUESTIONS
from guildhall.domain.tasks import FileRef, OnetTags, Task
from guildhall.store.records import Store
from guildhall.store.workspace import Workspace
from guildhall.taskbank.review.desk import ReviewDesk
from guildhall.taskbank.review.histories import history_of
from guildhall.taskbank.review.standing import standing_of

VETTED = Vetting(interview=Check.PASSED, background_check=Check.PASSED, training=Check.PASSED, quiz=Check.PASSED)
BRIEF = (
    "You are the accountant of a small shop. Use ledger.csv to prepare a one-page memo for the owner that sets out the "
    "totals by month, explains the largest change, and recommends what to do about it before the end of the quarter. "
    "Deliver memo.docx with a table of the totals and a short reason for each recommendation."
)
ANSWERS: dict[str, Any] = {
    "outcome": "pass",
    "difficulty": 3,
    "representativeness": 4,
    "quality": 5,
    "time": 4,
    "words": "A fair piece of work that people of this trade do every month.",
}


def expert(name: str, role: Role = Role.REVIEWER, **more: Any) -> Member:
    fields = {"occupations": ("Accountants and Auditors",), "years": 9.0, "vetting": VETTED} | more
    return Member(id=f"id-{name}", code_name=name, role=role, **fields)


def draft_task(name: str = "memo", **more: Any) -> Task:
    fields: dict[str, Any] = {
        "title": "A memo on the ledger",
        "sector": "Professional, Scientific, and Technical Services",
        "occupation": "Accountants and Auditors",
        "brief": BRIEF,
        "reference_files": (FileRef(name="ledger.csv", digest="a" * 64, size=9),),
        "expert_files": (FileRef(name="memo.docx", digest="b" * 64, size=9),),
        "expert_hours": 2.0,
        "onet": OnetTags(tasks=("Prepare detailed reports on audit findings.",)),
    }
    return Task(id=name, **fields | more)


def yes_to_all(store: Store, task: str) -> dict[str, bool]:
    """Yes to every question of the stage that the task waits for."""
    stage = standing_of(history_of(store, task)).stage
    return {} if stage is None else dict.fromkeys(QUESTIONS[stage], True)


class Hall:
    """A workspace with an author, three reviewers, a fourth one, a lead and a manager; every act one second later."""

    def __init__(self, path: Path, *, database: str | None = None) -> None:
        self.workspace = Workspace.create(path, database=database)
        self.store = self.workspace.store
        self.author = expert("author", Role.AUTHOR, employer_mark="1" * 64)
        self.generalist = expert("generalist", occupations=("Editors",))
        self.specialist, self.third, self.fourth = expert("specialist"), expert("third"), expert("fourth")
        self.lead = expert("lead", lead=True)
        self.manager = expert("manager", Role.MANAGER)
        everyone = (
            self.author,
            self.generalist,
            self.specialist,
            self.third,
            self.fourth,
            self.lead,
            self.manager,
        )
        self.people = {member.code_name: member for member in everyone}
        self.desk = ReviewDesk(self.store, self.people)
        self._now = 1_700_000_000.0

    @property
    def now(self) -> float:
        self._now += 1
        return self._now

    def submit(self, **more: Any) -> None:
        self.desk.submit(draft_task(**more), self.author, now=self.now)

    def review(self, reviewer: Member, outcome: str = "pass", **more: Any) -> None:
        more = {"outcome": outcome, "answers": yes_to_all(self.store, "memo")} | more
        self.desk.review("memo", reviewer, now=self.now, **ANSWERS | more)

    def pass_all(self) -> None:
        for reviewer in (self.generalist, self.specialist, self.third):
            self.review(reviewer)
