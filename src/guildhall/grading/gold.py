"""Gold items: sets of which the better side is known. Training before real work, and checks mixed into it.

A grader's gold slot is made when they are due for it, so the share holds for each grader and no planned slot is spent.
Judgments of gold sets are kept like all others, under a study name of their own, and never enter primary estimates.
What a grader gets next is decided here: training until it is passed, a check when one is due, else an open set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

from guildhall.domain.authors import Expert
from guildhall.domain.halls import GoldItem, HallDesign, Member, SeatState, Slot, SlotKind
from guildhall.domain.judgments import Comparison, Judgment, Outcome
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.domain.values import Id, canonical_json, sha256
from guildhall.grading.people import Roster
from guildhall.grading.queue import Queue, Seat
from guildhall.store.records import Store

RATING = (SlotKind.SEVERITY,)
_DONE = frozenset({SeatState.SUBMITTED, SeatState.SURPLUS})


def gold_study(study: Id) -> Id:
    """The name under which checks of a study are kept."""
    return f"{study}/gold"[:200]


def gold_comparison(study: Id, item: GoldItem) -> Comparison:
    """The set of a gold item; its study is named apart, so that no count of the real study holds it."""
    return Comparison(study=gold_study(study), task=item.task, submissions=(item.better, item.worse))


def judged_right(judgment: Judgment, item: GoldItem) -> bool:
    return judgment.outcome(item.better, item.worse) is Outcome.WIN


class GoldDesk:
    """Gives gold slots to graders who are due for one, and decides whether training is passed."""

    def __init__(self, queue: Queue, roster: Roster, *, study: Id, design: HallDesign) -> None:
        self.queue, self.roster, self.study, self.design = queue, roster, study, design
        self._store: Store = queue.store

    def in_training(self, member: Member) -> bool:
        return self.design.quiz_required and not member.quiz_passed

    def next_slot(self, member: Member) -> Slot | None:
        """The gold slot a grader should get now: training until it is passed, later a check when one is due."""
        if not self.design.gold:
            return None
        if self.in_training(member):
            return self._training_slot(member, self.queue.seats_of(member.id))
        taken = self.queue.taken(member.id, self.study)
        real, checks = taken[SlotKind.PLANNED], taken[SlotKind.GOLD]
        # A start of one's own, so that graders who compare notes do not find the checks at the same places.
        start = Random(f"{self.study}:{member.id}").random()
        due = int(self.design.gold_share * (real + checks + 1) + start)
        return self._unmet(member) if checks < due else None

    def attempts(self, member: Member, mine: Sequence[Seat] | None = None) -> int:
        """Finished rounds of training."""
        seats = self._trained(mine if mine is not None else self.queue.seats_of(member.id))
        rounds = [sum(seat.slot.comparison == key for seat in seats) for key in self._training_keys(member)]
        return min(rounds, default=0)

    def note_result(self, member: Member) -> bool | None:
        """After a training set: True when the round is passed (and noted), False when not, None while it goes on."""
        seats = self._trained(self.queue.seats_of(member.id))
        keys = self._training_keys(member)
        done = [[seat for seat in seats if seat.slot.comparison == key] for key in keys]
        if not done or min(map(len, done)) < max(map(len, done)):
            return None
        items = self._by_key()
        latest = [max(tries, key=lambda seat: seat.claimed_at) for tries in done]
        passed = all(
            judged_right(self._store.get(Judgment, seat.judgment), items[seat.slot.comparison])
            for seat in latest
            if seat.judgment
        )
        if passed:
            self.roster.change(member.but(quiz_passed=True))
        return passed

    def item_of(self, seat: Seat) -> GoldItem | None:
        return self._by_key().get(seat.slot.comparison)

    def _training_slot(self, member: Member, mine: Sequence[Seat]) -> Slot | None:
        attempt = self.attempts(member, mine)
        if attempt >= self.design.quiz_attempts:
            return None
        seats = self._trained(mine)
        for item in self._items(member, training=True):
            if sum(seat.slot.comparison == gold_comparison(self.study, item).key for seat in seats) == attempt:
                return self._slot(item, member, SlotKind.TRAINING, attempt)
        return None

    def _unmet(self, member: Member) -> Slot | None:
        met = {seat.slot.comparison for seat in self.queue.seats_of(member.id)}
        for item in self._items(member, training=False):
            slot = self._slot(item, member, SlotKind.GOLD, 0)
            if slot.comparison not in met and self.queue.refusal(member, slot, self.design) is None:
                return slot
        return None

    def _slot(self, item: GoldItem, member: Member, kind: SlotKind, attempt: int) -> Slot:
        comparison = gold_comparison(self.study, item)
        identity = sha256(canonical_json([comparison.key, member.id, kind, attempt]))[:32]
        [drawn] = self.queue.order_key.orders(2, 1, identity)
        made = [self._store.get(Submission, key) for key in comparison.submissions]
        return Slot(
            id=identity,
            study=self.study,
            kind=kind,
            comparison=comparison.key,
            task=item.task,
            occupation=self._occupation(item),
            order=tuple(comparison.submissions[index] for index in drawn),
            turn=drawn.index(0),
            rank=0,
            authors=tuple(one.author.code_name for one in made if isinstance(one.author, Expert)),
        )

    def _items(self, member: Member, *, training: bool) -> Iterable[GoldItem]:
        for item in self.design.gold:
            fits = not self.design.match_occupation or self._occupation(item) in member.occupations
            if item.training is training and fits:
                yield item

    def _training_keys(self, member: Member) -> list[str]:
        return [gold_comparison(self.study, item).key for item in self._items(member, training=True)]

    def _trained(self, mine: Sequence[Seat]) -> list[Seat]:
        return [seat for seat in mine if seat.slot.kind is SlotKind.TRAINING and seat.state in _DONE]

    def _by_key(self) -> dict[str, GoldItem]:
        return {gold_comparison(self.study, item).key: item for item in self.design.gold}

    def _occupation(self, item: GoldItem) -> str:
        return self._store.get(Task, self._store.get(Submission, item.better).task_key).occupation


def next_set(queue: Queue, roster: Roster, member: Member, *, study: Id, design: HallDesign, now: float) -> Seat | None:
    """A set to compare, or None when there is none for this grader."""
    desk = GoldDesk(queue, roster, study=study, design=design)
    slot = desk.next_slot(member)
    if slot is not None:
        return queue.sit(member, slot, design=design, now=now)
    return queue.claim(member, study=study, design=design, now=now)


def next_rating(queue: Queue, member: Member, *, study: Id, design: HallDesign, now: float) -> Seat | None:
    """A deliverable whose severity is asked for, judged before by others only."""
    return queue.claim(member, study=study, design=design, now=now, kinds=RATING)


def ratings_wait(queue: Queue, member: Member, *, study: Id, design: HallDesign) -> bool:
    return queue.waiting(member, study=study, design=design, kinds=RATING)
