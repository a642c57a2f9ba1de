"""A hall of simulated graders: they claim, look and submit through the same queue as people, under code names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from guildhall.domain.authors import Expert, GraderKind
from guildhall.domain.halls import HallDesign, Member, Role, Slot
from guildhall.domain.judgments import Judgment
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.domain.values import canonical_json, sha256
from guildhall.errors import UnknownName
from guildhall.grading.opening import order_key
from guildhall.grading.people import Roster
from guildhall.grading.queue import Queue
from guildhall.grading.simulated import judge_simulated
from guildhall.grading.submitting import submit
from guildhall.grading.viewing import view_of
from guildhall.store.records import Store
from guildhall.store.workspace import Workspace


@dataclass(frozen=True)
class Simulated:
    """What the simulated graders did, and how often they preferred the expert's work, which is the better by design."""

    judgments: int
    preferred_expert: int
    tied: int
    """How often no one side was best."""


def simulate_hall(workspace: Workspace, study: Study, design: HallDesign, *, clock: Callable[[], float]) -> Simulated:
    """Let simulated graders judge every open slot. Running it again goes on where it stopped."""
    queue = Queue(workspace.store, order_key=order_key(workspace, study))
    graders = _graders(workspace, study, design)
    made = 0
    waiting = list(graders)
    while waiting:
        member = waiting.pop(0)
        seat = queue.claim(member, study=study.id, design=design, now=clock())
        if seat is None:
            continue
        queue.mark_brief_read(seat.id, now=clock())
        rng = _draw(workspace.store, study, member, seat.slot)
        verdict = judge_simulated(view_of(workspace.store, seat.slot), rng=rng)
        submit(queue, seat, member, verdict, design=design, submit_key=seat.id, now=clock())
        made += 1
        waiting.append(member)
    return Simulated(made, *_against_planted(workspace))


def _draw(store: Store, study: Study, member: Member, slot: Slot) -> Random:
    """A grader's own draw for one set, whatever was judged before: it follows from whose work the set shows.

    Not from the works' digests, which hold when each was made.
    """
    shown = [store.get(Submission, key).author.key for key in slot.order]
    return Random(sha256(canonical_json([study.seed, study.id, member.code_name, slot.task, shown])))


def _graders(workspace: Workspace, study: Study, design: HallDesign) -> list[Member]:
    """The roster's simulated graders; each may judge every occupation of the study."""
    roster = Roster(workspace.store, pepper=b"simulated graders have no secrets")
    occupations = tuple(sorted({workspace.store.get(Task, key).occupation for key in study.tasks}))
    members = []
    for number in range(1, design.simulated_graders + 1):
        name = f"simulated-{number}"
        member = Member(
            id=name,
            code_name=name,
            role=Role.GRADER,
            grader_kind=GraderKind.SIMULATED,
            occupations=occupations,
            quiz_passed=True,
        )
        try:
            roster.get(name)
            roster.change(member)
        except UnknownName:
            roster.invite(member, personal={})
        members.append(member)
    return members


def _against_planted(workspace: Workspace) -> tuple[int, int]:
    """How often the expert's work, the better by design, was found best, and how often there was no one best."""
    preferred = tied = 0
    for judgment in workspace.store.each(Judgment):
        if judgment.ranks is not None and judgment.grader.key.startswith("person:simulated-"):
            best = judgment.order[judgment.ranks.index(min(judgment.ranks))]
            if judgment.ranks.count(min(judgment.ranks)) > 1:
                tied += 1
            else:
                preferred += isinstance(workspace.store.get(Submission, best).author, Expert)
    return preferred, tied
