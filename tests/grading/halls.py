"""A small hall for tests: made-up tasks, submissions and graders."""

from __future__ import annotations

from typing import Any

from guildhall.domain.authors import Expert, ModelRun
from guildhall.domain.halls import HallDesign, Member, Role, Verdict
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.grading.design import Layout, OrderKey, lay_out
from guildhall.grading.people import Roster
from guildhall.grading.queue import Queue, Seat
from guildhall.store.records import Store

DESIGN = HallDesign(minimum_reason_words=3)
MANY = DESIGN.but(held_at_once=50)
VERDICT = Verdict(ranks=(1, 2), reason="A adds up and B does not.", strength=2)
OCCUPATION = "Editors"


def task(number: int) -> Task:
    return Task(id=f"t-{number}", sector="Information", occupation=OCCUPATION, brief="Edit.", expert_text="Edited.")


def submissions(number: int, *, models: int = 1, samples: int = 1) -> list[Submission]:
    made = [Submission(task=f"t-{number}", author=Expert(code_name="x"), text="by hand")]
    for model in range(models):
        for sample in range(1, samples + 1):
            author = ModelRun(name=f"m-{model}", model="scripted/x", sample=sample)
            made.append(Submission(task=f"t-{number}", author=author, text=f"by {model} {sample}"))
    return made


def layout(tasks: int, *, design: HallDesign = DESIGN, models: int = 1, samples: int = 1, seed: int = 0) -> Layout:
    key = OrderKey(b"secret %d" % seed)
    return relaid(tasks, design=design, models=models, samples=samples, seed=seed, key=key)


def relaid(
    tasks: int, *, key: OrderKey, design: HallDesign, models: int = 1, samples: int = 1, seed: int = 0
) -> Layout:
    """The same study under a secret of one's own."""
    everything = [one for number in range(tasks) for one in submissions(number, models=models, samples=samples)]
    return lay_out(
        study="s",
        tasks=[task(number) for number in range(tasks)],
        submissions=everything,
        design=design,
        seed=seed,
        order_key=key,
    )


class AtOnce(Queue):
    """The queue of graders who open the brief of a set as soon as they are given it."""

    def claim(self, *about: Any, now: float, **more: Any) -> Seat | None:
        return self._opened(super().claim(*about, now=now, **more), now)

    def sit(self, *about: Any, now: float, **more: Any) -> Seat | None:
        return self._opened(super().sit(*about, now=now, **more), now)

    def _opened(self, seat: Seat | None, now: float) -> Seat | None:
        if seat is None:
            return None
        self.mark_brief_read(seat.id, now=now)
        return self.seat(seat.id)


def hall(
    store: Store, *, graders: int, tasks: int, design: HallDesign = DESIGN, **more: int
) -> tuple[Queue, list[Member]]:
    roster = Roster(store, pepper=b"test")
    people = [
        Member(id=f"p-{number}", code_name=f"grader-{number}", role=Role.GRADER, occupations=(OCCUPATION,))
        for number in range(graders)
    ]
    for person in people:
        roster.invite(person, personal={"name": f"Name {person.id}", "email": f"{person.id}@example.org"})
    queue = AtOnce(store, order_key=OrderKey(b"secret"))
    planned = layout(tasks, design=design, **more)
    store.add_all(planned.comparisons)
    queue.plan(planned.slots)
    return queue, people
