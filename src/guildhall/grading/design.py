"""Laying out a study for people: sets of submissions, their gradings, and the orders in which sides are shown.

Which sets there are, and which is offered first, follows from the study's seed, which everybody may know. The orders
are drawn from a key that nobody sees: each set for itself, balanced over its own gradings. So a grader, who judges a
set once, meets fair coins: nothing they have seen tells what stands where in the next one.
"""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

from guildhall.domain.authors import Expert, ModelRun
from guildhall.domain.draws import Draw, Planned
from guildhall.domain.halls import HallDesign, Slot
from guildhall.domain.judgments import Comparison
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.domain.values import Digest, Id, canonical_json, sha256
from guildhall.errors import NotEnoughData


@dataclass(frozen=True)
class OrderKey:
    """What the orders of sides are drawn from. A rehearsal's follows from its seed, so that it can be repeated."""

    secret: bytes = field(repr=False)
    rehearsal: bool = False

    @classmethod
    def of_rehearsal(cls, seed: int) -> OrderKey:
        return cls(canonical_json(["orders of a rehearsal", seed]), rehearsal=True)

    def orders(self, size: int, count: int, *about: object) -> list[tuple[int, ...]]:
        """The orders of `count` gradings of one set; of more gradings, the first ones are the same."""
        return drawn_orders(size, count, rng=Random(hmac.digest(self.secret, canonical_json(about), "sha256")))


@dataclass(frozen=True)
class Layout:
    """Everything planned: the comparisons, their slots, and the tasks that could take no part."""

    comparisons: tuple[Comparison, ...]
    slots: tuple[Slot, ...]
    without_expert: tuple[Id, ...]


def lay_out(
    *,
    study: Id,
    tasks: Sequence[Task],
    submissions: Iterable[Submission],
    design: HallDesign,
    seed: int,
    order_key: OrderKey,
    earlier: Id | None = None,
    baseline: str = "expert",
    as_kept: Callable[[Comparison], Comparison] = lambda comparison: comparison.but(task_version=None),
    draw: Draw | None = None,
) -> Layout:
    """Plan every grading of a study. The baseline's work stands first in each comparison.

    `as_kept` gives a comparison the form its study keeps it in. `earlier` names the study this one is a later wave of:
    its graders are not asked about the same set twice. With a `draw` only drawn pairs are laid out.

    A task without the baseline's work takes no part (a model would win against nothing); it is listed instead.
    """
    made: dict[Id, list[Submission]] = {}
    for submission in submissions:
        made.setdefault(submission.task, []).append(submission)
    comparisons: list[Comparison] = []
    slots: list[Slot] = []
    without: list[Id] = []
    alike: Counter[tuple[Id, tuple[str, ...]]] = Counter()
    for task in sorted(tasks, key=lambda task: task.id):
        bases = _by_baseline(made.get(task.id, []), baseline)
        if not bases:
            without.append(task.id)
            continue
        by_key = {one.key: one for one in made[task.id]}
        for group in _sets(bases, made[task.id], design.set_size):
            chance = 1.0 if draw is None else _chance(draw, task.id, by_key[group[-1]])
            if chance is None:
                continue
            stated = Comparison(study=study, task=task.id, task_version=task.version, submissions=group)
            comparison = as_kept(stated)
            comparisons.append(comparison)
            twins = (as_kept(stated.but(study=earlier)).key,) if earlier else ()
            shown = tuple(by_key[key].author.key for key in group)
            # Whose work a set shows, so that work made again is laid out as before: the works' own digests say when
            # each was made. The number tells apart the sets that show other work of the same authors.
            name = [study, task.id, [*shown], alike[task.id, shown]]
            alike[task.id, shown] += 1
            rng = Random(sha256(canonical_json([seed, *name])))
            about = name if order_key.rehearsal else [*name, comparison.key]
            orders = order_key.orders(len(group), design.graders_per_set, *about)
            made_slots = _slots(comparison, task, orders=orders, rng=rng, authors=_code_names(bases[:1]))
            beside = {"twins": twins, "probability": chance} if twins or chance < 1.0 else {}
            slots += [slot.but(**beside) for slot in made_slots] if beside else made_slots
    return Layout(tuple(comparisons), tuple(slots), tuple(without))


def _chance(draw: Draw, task: Id, made: Submission) -> float | None:
    """With what chance a model's work was drawn for people; None where it was not."""
    author = made.author
    return draw.chance(Planned(task, author.name, author.sample)) if isinstance(author, ModelRun) else 1.0


def expert_name(task: Id) -> Id:
    """The code name under which a task's own expert work is compared; its author is known to the roster by it."""
    return f"expert-of-{task}"[:200]


def expert_submission(task: Task) -> Submission | None:
    """The expert's own work as a submission; None when the bank has none."""
    if not task.expert_files and not task.expert_text:
        return None
    return Submission(
        task=task.id,
        task_version=task.version,
        author=Expert(code_name=expert_name(task.id)),
        text=task.expert_text or "",
        files=task.expert_files,
        seconds=task.expert_hours * 3600 if task.expert_hours else None,
        origin="task bank",
    )


def _by_baseline(made: Iterable[Submission], baseline: str) -> list[Submission]:
    """The baseline's work on one task, in the order of its samples."""
    if baseline == "expert":
        return [one for one in made if isinstance(one.author, Expert)]
    runs = [
        (one.author.sample, one) for one in made if isinstance(one.author, ModelRun) and one.author.name == baseline
    ]
    return [one for _, one in sorted(runs, key=lambda run: run[0])]


def _sets(bases: Sequence[Submission], made: Sequence[Submission], size: int) -> list[tuple[Digest, ...]]:
    """The baseline with one model (pairs), or with as many models of one sample number as fit (larger sets).

    A baseline with several samples meets each model's sample of the same number.
    """
    by_sample: dict[int, list[Submission]] = {}
    for one in made:
        if isinstance(one.author, ModelRun) and one not in bases:
            by_sample.setdefault(one.author.sample, []).append(one)
    groups = []
    for sample in sorted(by_sample):
        models = sorted(by_sample[sample], key=lambda one: one.author.key)
        for start in range(0, len(models), size - 1):
            chunk = models[start : start + size - 1]
            base = bases[sample - 1] if sample <= len(bases) else bases[0]
            groups.append((base.key, *(one.key for one in chunk)))
    return groups


def _code_names(made: Iterable[Submission]) -> tuple[Id, ...]:
    return tuple(one.author.code_name for one in made if isinstance(one.author, Expert))


def _slots(
    comparison: Comparison, task: Task, *, orders: Sequence[tuple[int, ...]], rng: Random, authors: tuple[Id, ...]
) -> list[Slot]:
    return [
        Slot(
            id=slot_id(comparison.key, number),
            study=comparison.study,
            comparison=comparison.key,
            task=task.id,
            occupation=task.occupation,
            order=tuple(comparison.submissions[index] for index in order),
            turn=order.index(0),
            rank=rng.randrange(2**31),
            authors=authors,
        )
        for number, order in enumerate(orders)
    ]


def slot_id(*parts: object) -> Id:
    """The id of a slot, made from what it is about, so that nothing is planned twice."""
    return sha256(canonical_json(list(parts)))[:32]


def latin_orders(size: int) -> list[tuple[int, ...]]:
    """A balanced Latin square (Williams design): its rows are the orders in which `size` sides are shown."""
    zigzag = [0, *((step + 1) // 2 if step % 2 else size - step // 2 for step in range(1, size))]
    rows = [tuple((place + shift) % size for place in zigzag) for shift in range(size)]
    # With an odd number of sides one square is balanced only together with its mirror image.
    return rows if size % 2 == 0 else rows + [tuple(reversed(row)) for row in rows]


def drawn_orders(size: int, count: int, *, rng: Random) -> list[tuple[int, ...]]:
    """Orders of one set: random Latin squares, row by row, so that every `size` of them show each side once a place."""
    made: list[tuple[int, ...]] = []
    while len(made) < count:
        sides, rows = rng.sample(range(size), size), latin_orders(size)
        squares = [rows[start : start + size] for start in range(0, len(rows), size)]
        for square in rng.sample(squares, len(squares)):
            made += [tuple(sides[index] for index in row) for row in rng.sample(square, size)]
    return made[:count]


@dataclass(frozen=True)
class Staffing:
    """What a layout asks of people: gradings, hours, money, and graders an occupation."""

    gradings: int
    hours: float
    cost_usd: float | None
    graders_needed: dict[str, int]
    words: tuple[str, ...]


def staffing(layout: Layout, design: HallDesign, *, pool: dict[str, int] | None = None) -> Staffing:
    """Gradings x minutes x wage, and how many graders each occupation needs under the exposure limit.

    With `pool` (occupation -> graders at hand) it says in words where the pool falls short, and what would relax it.
    """
    per_task: dict[tuple[str, str], int] = {}
    for slot in layout.slots:
        per_task[slot.occupation, slot.task] = per_task.get((slot.occupation, slot.task), 0) + 1
    needed: dict[str, int] = {}
    for (occupation, _), gradings in per_task.items():
        graders = max(design.graders_per_set, -(-gradings // design.exposure_limit))
        needed[occupation] = max(needed.get(occupation, 0), graders)
    hours = len(layout.slots) * design.minutes_per_set / 60
    wage = design.hourly_wage_usd
    words = [_shortfall(name, count, pool, design) for name, count in sorted(needed.items()) if pool is not None]
    return Staffing(
        gradings=len(layout.slots),
        hours=hours,
        cost_usd=None if wage is None else hours * wage,
        graders_needed=needed,
        words=tuple(word for word in words if word),
    )


def _shortfall(occupation: str, needed: int, pool: dict[str, int] | None, design: HallDesign) -> str:
    at_hand = (pool or {}).get(occupation, 0)
    if at_hand >= needed:
        return ""
    if at_hand < design.graders_per_set:
        return (
            f"{occupation}: {at_hand} graders at hand, {design.graders_per_set} are needed to judge a set "
            f"independently; invite {design.graders_per_set - at_hand} more"
        )
    limit = -(-needed * design.exposure_limit // at_hand)
    return (
        f"{occupation}: {at_hand} graders at hand, {needed} needed for at most {design.exposure_limit} sitting(s) a "
        f"task; invite {needed - at_hand} more, show larger sets, or allow exposure_limit = {limit} "
        "(later sittings are marked)"
    )


def require_staff(plan: Staffing) -> None:
    """Refuse, in words, a plan that its pool cannot carry."""
    if plan.words:
        raise NotEnoughData("this plan needs more graders: " + "; ".join(plan.words))
