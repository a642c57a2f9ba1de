"""Who judged what in a planted store: people with second thoughts, judges with failures, constants, checks."""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from random import Random

from sqlalchemy import insert, update

from guildhall.domain.authors import Expert, Grader, GraderKind, ModelRun, Person
from guildhall.domain.halls import SeatState, Slot
from guildhall.domain.judges import JudgePlan
from guildhall.domain.judgments import (
    CRITERIA,
    Acceptance,
    BlindGuess,
    Comparison,
    Judgment,
    Severity,
    SeverityRating,
    TimeCorrection,
    Usability,
)
from guildhall.domain.submissions import Usage
from guildhall.domain.tasks import Specification
from guildhall.grading.design import latin_orders
from guildhall.grading.judges.baselines import baseline_grader
from guildhall.judging.comparing import judge_of
from guildhall.store.hall import seats, slots
from guildhall.store.workspace import Workspace
from tests.planted.ledger import CONSTANTS, Planted, PlantedStudy

BEGAN = datetime(2026, 2, 1, tzinfo=UTC)
EXPERTS = [f"expert-{number}" for number in range(4)]
OTHERS = [("student-0", "student"), ("student-1", "student"), ("simulated-0", "simulated")]
FAILURES = ("unreadable: no verdict on the last line", "refused: it said so", "provider failed: 529")


def judge_by_people(
    workspace: Workspace,
    planted: Planted,
    study: PlantedStudy,
    planned: Sequence[Slot],
    stray: Iterable[Comparison],
    rng: Random,
) -> None:
    """Of four gradings of a set three are by experts, or two; some stay open, some are amended, some come too late."""
    rows, done, open_pairs = [], [], set()
    graders: dict[str, list[Person]] = {}
    for number, slot in enumerate(planned):
        who = graders.setdefault(slot.comparison, _four_graders(rng)).pop()
        authors = [planted.submissions[key].author for key in slot.order]
        models = {author.name for author in authors if isinstance(author, ModelRun)}
        if rng.random() < 0.04:
            open_pairs |= {(slot.task, model) for model in models}
            continue
        study.completed |= {(slot.task, model) for model in models}
        at = BEGAN + timedelta(minutes=number)
        given = list(_amended(_judgment(slot.comparison, who, slot.order, at, rng), rng))
        if rng.random() < 0.05:
            given.append(_too_late(given[0], graders[slot.comparison], rng))
        study.judgments += given
        last = next(one for one in reversed(given) if one.planned)
        rows.append(_seat(slot, who, last, at))
        done.append({"id": slot.id, "seat": rows[-1]["id"]})
    study.completed -= open_pairs
    for comparison in stray:
        for name in EXPERTS[:2]:
            said = _judgment(comparison.key, Person(code_name=name), comparison.submissions, BEGAN, rng)
            study.judgments.append(said)
    with workspace.store.transaction() as connection:
        connection.execute(insert(seats), rows)
        for one in done:
            connection.execute(update(slots).where(slots.c.id == one["id"]).values(done=True, holder=one["seat"]))
    workspace.store.add_all(_severities(planted, study, rng))


def _is_expert(planted: Planted, key: str) -> bool:
    return isinstance(planted.submissions[key].author, Expert)


def _four_graders(rng: Random) -> list[Person]:
    """Two or three experts and others, no one twice."""
    experts = rng.sample(EXPERTS, rng.choice((2, 3)))
    others = rng.sample(OTHERS, 4 - len(experts))
    people = [Person(code_name=name) for name in experts]
    people += [Person(code_name=name, grader_kind=GraderKind(kind)) for name, kind in others]
    return rng.sample(people, 4)


def _judgment(comparison: str, who: Grader, order: Sequence[str], at: datetime, rng: Random) -> Judgment:
    places = string.ascii_uppercase[: len(order)]
    return Judgment(
        comparison=comparison,
        grader=who,
        order=tuple(order),
        ranks=tuple(rng.randint(1, 2 if len(order) == 2 else 3) for _ in order),
        reason=f"{places} were read.",
        strength=rng.choice((None, 1, 2, 3)),
        confidence=rng.choice((None, 50.0, 90.0)),
        criteria={name: rng.choice((None, -2, 0, 1)) for name in rng.sample(CRITERIA, 3)},
        usability=tuple(_usability(place, rng) for place in places if rng.random() < 0.6),
        specification=rng.choice((None, Specification.WELL)),
        guess=rng.choice((None, *BlindGuess)),
        exposure=rng.choice((1, 1, 1, 2)),
        active_s=rng.choice((None, 60.0, 240.0)),
        correction=TimeCorrection(active_s=120.0, reason="I was away.") if rng.random() < 0.1 else None,
        made_at=at,
    )


def _usability(place: str, rng: Random) -> Usability:
    said = rng.choice(list(Acceptance))
    return Usability(place=place, acceptance=said, edit_minutes=5.0 if said is Acceptance.AFTER_EDITS else None)


def _amended(first: Judgment, rng: Random) -> Iterator[Judgment]:
    """A judgment, and now and then a second thought, and a third: each replaces the one before and stays planned."""
    yield first
    for _ in range(rng.choice((0, 0, 0, 0, 0, 0, 1, 2))):
        turned = first.ranks[::-1] if first.ranks else None
        first = first.but(ranks=turned, replaces=first.key, made_at=first.made_at + timedelta(days=1))
        yield first


def _too_late(one: Judgment, not_asked: Sequence[Person], rng: Random) -> Judgment:
    """Somebody's judgment of the same set after it was filled: kept, and marked as beyond the plan."""
    who = not_asked[0] if not_asked else Person(code_name="expert-late")
    ranks = tuple(rng.sample(one.ranks or (), len(one.order)))
    return one.but(grader=who, ranks=ranks, planned=False, made_at=one.made_at + timedelta(days=2))


def _seat(slot: Slot, who: Person, judgment: Judgment, at: datetime) -> dict[str, object]:
    ended = at.timestamp()
    return {
        "id": f"seat-{slot.id[:40]}",
        "slot": slot.id,
        "study": slot.study,
        "comparison": slot.comparison,
        "task": slot.task,
        "member": who.code_name,
        "state": SeatState.SUBMITTED,
        "turn": slot.turn,
        "exposure": judgment.exposure,
        "claimed_at": ended - 60,
        "expires_at": ended + 3600,
        "ended_at": ended,
        "draft_version": 0,
        "judgment": judgment.key,
    }


def _severities(planted: Planted, study: PlantedStudy, rng: Random) -> Iterator[SeverityRating]:
    for comparison in study.comparisons.values():
        for key in comparison.submissions:
            if not _is_expert(planted, key) and rng.random() < 0.1:
                yield SeverityRating(
                    study=study.id,
                    submission=key,
                    grader=Person(code_name="expert-3"),
                    severity=rng.choice(list(Severity)),
                    reason="It is so.",
                    control=rng.random() < 0.3,
                    comparison=comparison.key,
                    made_at=BEGAN,
                )


def judge_by_programs(
    planted: Planted,
    study: PlantedStudy,
    comparisons: Sequence[Comparison],
    *,
    plans: Sequence[JudgePlan],
    sweeps: int,
    rng: Random,
) -> None:
    """Two judges, each under its frozen settings and, on some sets, under earlier ones too; and the constants."""
    for plan in plans:
        earlier = plan.but(settings={"temperature": 0.5})
        for comparison in comparisons:
            if rng.random() < 0.3:
                study.judgments += _asked(earlier, comparison, 1, BEGAN - timedelta(days=9), rng)
            if rng.random() < 0.9:
                study.judgments += _asked(plan, comparison, sweeps, BEGAN, rng)
    for name in CONSTANTS:
        for comparison in comparisons:
            study.judgments += [_constant(planted, name, comparison, order) for order in _orders(comparison)]


def _asked(plan: JudgePlan, comparison: Comparison, sweeps: int, at: datetime, rng: Random) -> Iterator[Judgment]:
    """Every order of every sweep: some fail, some of those are asked again, and now and then it stopped half-way."""
    grader = judge_of(plan, places=len(comparison.submissions))
    better = dict(zip(comparison.submissions, rng.sample(range(9), len(comparison.submissions)), strict=True))
    for sweep in range(1, sweeps + 1):
        for order in _orders(comparison):
            if rng.random() < 0.03:
                continue
            said = Judgment(
                comparison=comparison.key,
                grader=grader,
                order=order,
                ranks=_ranks(better, order, rng),
                sweep=sweep,
                usage=Usage(cost_usd=0.01),
                omissions={"A": 1} if rng.random() < 0.1 else {},
                made_at=at,
            )
            if rng.random() < 0.08:
                failed = said.but(ranks=None, failure=rng.choice(FAILURES))
                yield failed
                if rng.random() < 0.6:
                    continue
                said = said.but(replaces=failed.key, made_at=at + timedelta(hours=1))
            yield said


def _orders(comparison: Comparison) -> list[tuple[str, ...]]:
    shown = comparison.submissions
    return [tuple(shown[index] for index in row) for row in latin_orders(len(shown))]


def _ranks(better: dict[str, int], order: Sequence[str], rng: Random) -> tuple[int, ...]:
    """What it holds of each side, with a liking of the side shown first."""
    merits = [better[key] + rng.choice((-2, 0, 0, 2)) + (at == 0) for at, key in enumerate(order)]
    return tuple(1 + sum(other > own for other in merits) for own in merits)


def _constant(planted: Planted, name: str, comparison: Comparison, order: Sequence[str]) -> Judgment:
    ranks = tuple(1 if name == "always-tie" or _is_expert(planted, key) else 2 for key in order)
    return Judgment(
        comparison=comparison.key,
        grader=baseline_grader(name),
        order=tuple(order),
        ranks=ranks,
        reason=name,
        usage=Usage(cost_usd=0.0),
        made_at=BEGAN,
    )


def judge_gold(gold: Sequence[Comparison], rng: Random) -> list[Judgment]:
    """What people said of training sets and checks: never planned, and under another study's name."""
    return [
        _judgment(one.key, Person(code_name=name), one.submissions, BEGAN, rng).but(planned=False)
        for one in gold
        for name in EXPERTS[:3]
    ]
