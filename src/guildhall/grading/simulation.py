"""A hall of simulated graders: they claim, look and submit through the same queue as people, under code names.

Simulated graders for demos and tests: they see a `BlindedView` and nothing else, and are named as simulated. Such a
grader reads what a hurried person would: are the files there, are they named as asked, can they be opened, how much
is in them. Noise of its own, drawn from its seed, makes it disagree with its colleagues now and then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log2
from random import Random

from guildhall.domain.authors import Expert, GraderKind
from guildhall.domain.halls import HallDesign, Member, Role, Slot, Verdict
from guildhall.domain.judgments import BlindedSide, BlindedView, BlindGuess, Comparison, Judgment
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.domain.values import canonical_json, sha256
from guildhall.errors import UnknownName
from guildhall.grading.opening import order_key
from guildhall.grading.people import Roster
from guildhall.grading.queue import Queue
from guildhall.grading.submitting import submit
from guildhall.grading.viewing import view_of
from guildhall.store.records import Store
from guildhall.store.workspace import Workspace

NOISE = 0.6
TIE_BELOW = 0.15


def judge_simulated(view: BlindedView, *, rng: Random) -> Verdict:
    """A verdict on a pair of deliverables from their looks alone."""
    scores = [_looks(side) + rng.gauss(0, NOISE) for side in view.sides]
    gap = abs(max(scores) - min(scores))
    if gap < TIE_BELOW:
        ranks: tuple[int, ...] = (1,) * len(scores)
    else:
        ordered = sorted(scores, reverse=True)
        ranks = tuple(ordered.index(score) + 1 for score in scores)
    tied = len(set(ranks)) == 1
    return Verdict(
        ranks=ranks,
        tie_kind="both good" if tied else None,
        strength=None if tied else 1 + min(2, int(gap)),
        confidence=float(round(50 + 50 * min(1.0, gap / 2))),
        reason=_reason(view, ranks),
        guess=rng.choice([BlindGuess.A, BlindGuess.B, BlindGuess.CANNOT_TELL]) if len(scores) == 2 else None,
    )


def _looks(side: BlindedSide) -> float:
    """More of what was asked for, under the names that were asked for, with pages one can see."""
    whole = sum(1.0 + (0.5 if file.named_as_asked else 0.0) for file in side.files if file.digest or file.pages)
    pages = min(1.0, sum(len(file.pages) for file in side.files) / 6)
    content = log2(1 + sum(file.words for file in side.files) / 100) / 2
    return whole + pages + content - 0.5 * sum(bool(file.omitted) for file in side.files)


def _reason(view: BlindedView, ranks: tuple[int, ...]) -> str:
    told = [
        f"{side.place} holds {len(side.files)} files with {sum(len(file.pages) for file in side.files)} pages"
        for side in view.sides
    ]
    best = " and ".join(side.place for side, rank in zip(view.sides, ranks, strict=True) if rank == 1)
    return f"Simulated grader, judging by looks alone: {'; '.join(told)}. Preferred: {best}."


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
    return Simulated(made, *_against_planted(workspace, study))


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


def _against_planted(workspace: Workspace, study: Study) -> tuple[int, int]:
    """How often the expert's work, the better by design, was found best in this study, and how often no one was."""
    preferred = tied = 0
    sets = {one.key for one in workspace.store.find(Comparison, study=study.id)}
    for judgment in workspace.store.each(Judgment):
        if (
            judgment.comparison in sets
            and judgment.ranks is not None
            and judgment.grader.key.startswith("person:simulated-")
        ):
            best = judgment.order[judgment.ranks.index(min(judgment.ranks))]
            if judgment.ranks.count(min(judgment.ranks)) > 1:
                tied += 1
            else:
                preferred += isinstance(workspace.store.get(Submission, best).author, Expert)
    return preferred, tied
