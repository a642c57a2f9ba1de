"""What an author is still writing: a copy on the desk, saved as often as they like, and its way to a draft."""

from __future__ import annotations

from typing import Any

from pydantic import Field, ValidationError
from sqlalchemy import delete, select, update

from guildhall.domain.reviews import Draft
from guildhall.domain.tasks import FileRef, OnetTags, Provenance, ReviewState, Rubric, Task
from guildhall.domain.values import Id, Value
from guildhall.errors import Conflict, InputError, UnknownName
from guildhall.store.records import Store
from guildhall.store.reviewing import desk_copies
from guildhall.taskbank.onet import faults_of


class DeskCopy(Value):
    """A task half written: anything may still be empty."""

    task: Id
    author: Id
    title: str = Field(default="", max_length=300)
    sector: str = Field(default="", max_length=300)
    occupation: str = Field(default="", max_length=300)
    brief: str = Field(default="", max_length=200_000)
    expert_text: str = Field(default="", max_length=200_000)
    expert_hours: float | None = Field(default=None, gt=0)
    hourly_wage_usd: float | None = Field(default=None, gt=0)
    onet: OnetTags = OnetTags()
    languages: tuple[str, ...] = ("en",)
    sensitive: tuple[str, ...] = ()
    third_party: tuple[str, ...] = ()
    permission: tuple[str, ...] = ()
    reference_files: tuple[FileRef, ...] = ()
    expert_files: tuple[FileRef, ...] = ()
    rubric: Rubric | None = None
    provenance: Provenance | None = None
    note: str = Field(default="", max_length=20_000)
    saved: int = 0
    saved_at: float = 0.0

    def faults(self) -> list[str]:
        """What must be filled in before it can be submitted."""
        wanted = {
            "a title": self.title,
            "a sector": self.sector,
            "an occupation": self.occupation,
            "a brief": self.brief,
            "the hours it takes an expert": self.expert_hours,
            "your own deliverable": self.expert_files or self.expert_text.strip(),
        }
        needed = [f"It needs {what}." for what, given in wanted.items() if not given]
        return needed + [f"{words}." for _, words in faults_of(self.onet)]

    def as_task(self, *, version: int = 1) -> Task:
        """The task as it would be submitted, or `InputError` naming what is missing or wrong."""
        if faults := self.faults():
            raise InputError(f"{self.task!r} is not finished: {' '.join(faults)}")
        fields: dict[str, Any] = self.model_dump(
            exclude={"task", "author", "note", "saved", "saved_at", "third_party", "permission", "expert_text"}
        )
        try:
            return Task(
                id=self.task,
                version=version,
                review=ReviewState.DRAFT,
                expert_text=self.expert_text.strip() or None,
                **fields,
            )
        except ValidationError as error:
            fault = error.errors()[0]
            raise InputError(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}; correct it and try again") from error


def copy_of(draft: Draft) -> DeskCopy:
    """The newest version on the author's desk again, to be revised."""
    task = draft.task
    shared = task.model_dump(include=set(DeskCopy.model_fields) & set(Task.model_fields))
    told: dict[str, Any] = {"title": task.title or "", "expert_text": task.expert_text or ""}
    told |= {"third_party": draft.third_party, "permission": draft.permission}
    return DeskCopy(task=task.id, author=draft.author, **shared | told)


def put_on_desk(store: Store, copy: DeskCopy, *, now: float) -> DeskCopy:
    """Start a copy; the one that is there already stays and is returned."""
    made = copy.but(saved=1, saved_at=now)
    with store.transaction() as connection:
        if connection.execute(select(desk_copies.c.task).where(desk_copies.c.task == copy.task)).first():
            return desk_copy(store, copy.task)
        connection.execute(desk_copies.insert().values(**_row(made)))
    return made


def save(store: Store, copy: DeskCopy, *, now: float) -> DeskCopy:
    """Keep a newer state of a copy. `Conflict` when it was saved elsewhere since `copy.saved`."""
    made = copy.but(saved=copy.saved + 1, saved_at=now)
    here = (desk_copies.c.task == copy.task, desk_copies.c.saved == copy.saved)
    with store.transaction() as connection:
        changed = connection.execute(update(desk_copies).where(*here).values(**_row(made))).rowcount
    if not changed:
        raise Conflict("draft", copy.task)
    return made


def desk_copy(store: Store, task: Id) -> DeskCopy:
    with store.reading() as connection:
        body = connection.execute(select(desk_copies.c.body).where(desk_copies.c.task == task)).scalar()
    if body is None:
        raise UnknownName("draft on the desk", task, fix="open the task and choose to revise it")
    return DeskCopy.model_validate_json(body)


def desk_copies_of(store: Store, author: Id | None = None) -> list[DeskCopy]:
    """What one author (or anybody) has on the desk, oldest first."""
    query = select(desk_copies.c.body).order_by(desk_copies.c.saved_at)
    if author is not None:
        query = query.where(desk_copies.c.author == author)
    with store.reading() as connection:
        return [DeskCopy.model_validate_json(body) for body in connection.execute(query).scalars()]


def clear_desk(store: Store, task: Id) -> None:
    with store.transaction() as connection:
        connection.execute(delete(desk_copies).where(desk_copies.c.task == task))


def _row(copy: DeskCopy) -> dict[str, object]:
    return {
        "task": copy.task,
        "author": copy.author,
        "body": copy.canonical().decode(),
        "saved": copy.saved,
        "saved_at": copy.saved_at,
    }
