"""What a grader might do to guess where the baseline's work stands without opening a page: many rules, the best counts.

The grader is given more than any grader has: the truth of all their earlier sets, and a machine that was fitted on the
truth of half of all graders.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from random import Random

import numpy as np
from numpy.typing import NDArray

from guildhall.domain.halls import HallDesign, Member, Slot
from guildhall.grading.queue import Queue
from guildhall.grading.submitting import submit
from tests.grading.halls import VERDICT

Places = NDArray[np.int64]
"""Where the baseline stood: a row a grader, a column a set of theirs."""


@dataclass(frozen=True)
class Sittings:
    """Which slots each grader was given, in their order, and when."""

    slots: tuple[tuple[Slot, ...], ...]
    at: NDArray[np.float64]

    @property
    def size(self) -> int:
        return len(self.slots[0][0].order)

    @property
    def places(self) -> Places:
        return np.array([[slot.turn for slot in row] for row in self.slots])


def sittings(queue: Queue, people: list[Member], *, design: HallDesign, each: int, rng: Random) -> Sittings:
    """Graders come in a random order of time until each has judged so many sets; every set is opened and judged."""
    given: dict[str, list[Slot]] = {person.id: [] for person in people}
    at: dict[str, list[float]] = {person.id: [] for person in people}
    coming, now = [person for person in people for _ in range(each)], 0.0
    rng.shuffle(coming)
    for person in coming:
        now += rng.expovariate(1 / 600)
        seat = queue.claim(person, study="s", design=design, now=now)
        assert seat is not None, "there is work for everybody"
        queue.mark_brief_read(seat.id, now=now)
        said = VERDICT.but(ranks=tuple(range(1, len(seat.slot.order) + 1)))
        submit(queue, seat, person, said, design=design, submit_key=seat.id, now=now)
        given[person.id].append(seat.slot)
        at[person.id].append(now)
    return Sittings(tuple(map(tuple, given.values())), np.array([*at.values()]))


def best_guess(places: Places, known: NDArray[np.float64], size: int) -> float:
    """The share of right guesses of the best rule, on the half of graders that nothing was fitted on."""
    fitted, asked = slice(0, None, 2), slice(1, None, 2)
    shares = [float(np.mean(guess[asked] == places[asked])) for guess in _by_rule(places, size)]
    facts = np.concatenate([known, _history(places, size)], axis=2)
    learned = _learned(facts[fitted], places[fitted], facts[asked], size)
    return max(*shares, float(np.mean(learned == places[asked])))


def facts_of(about: Sittings) -> NDArray[np.float64]:
    """What a grader knows of a set before opening it: its number, the task, the time, how much is shown."""
    graders, each = about.places.shape
    number = np.tile(np.arange(each), (graders, 1))
    columns = [number / each, *(number % cycle == rest for cycle in (2, 3, 4) for rest in range(cycle - 1))]
    tasks = sorted({slot.task for row in about.slots for slot in row})
    task = np.array([[tasks.index(slot.task) for slot in row] for row in about.slots])
    gap = np.diff(about.at, axis=1, prepend=0)
    columns += [task / len(tasks), task % 2, task % 3 == 0, about.at % 86400 / 86400, gap / gap.max()]
    rank = np.array([[slot.rank for slot in row] for row in about.slots])
    columns += [
        rank / 2**31,
        np.array([[len(slot.task) + len(slot.occupation) for slot in row] for row in about.slots]),
    ]
    return np.stack(columns, axis=2).astype(float)


def _by_rule(places: Places, size: int) -> Iterator[Places]:
    """Constant, by cycle and phase, the place `back` sets ago moved on, the place that is behind, the one ahead."""
    graders, each = places.shape
    number = np.tile(np.arange(each), (graders, 1))
    yield from (np.full_like(places, place) for place in range(size))
    for block, step, phase in product((1, 2, 3, 4, 6), (1, size - 1), range(size)):
        yield (number // block * step + phase) % size
    for back, moved in product(range(1, 5), range(size)):
        earlier = np.zeros_like(places)
        earlier[:, back:] = places[:, :-back]
        yield (earlier + moved) % size
    for length, ahead in product((2, 3, 4, 8, each), (False, True)):
        counts = _counts(places, size, length=length)
        yield counts.argmax(axis=2) if ahead else counts.argmin(axis=2)


def _counts(places: Places, size: int, *, length: int) -> NDArray[np.int64]:
    """How often each place came up so far within the block of so many sets that a set is in."""
    seen = places[:, :, None] == np.arange(size)
    made = np.zeros(seen.shape, dtype=np.int64)
    for column in range(1, places.shape[1]):
        start = column // length * length
        made[:, column] = seen[:, start:column].sum(axis=1)
    return made


def _history(places: Places, size: int) -> NDArray[np.float64]:
    """The last four places, one column a place, and the counts of all so far and of the block of four."""
    seen = (places[:, :, None] == np.arange(size)).astype(float)
    made = [_counts(places, size, length=length).astype(float) for length in (4, places.shape[1])]
    for back in range(1, 5):
        earlier = np.zeros_like(seen)
        earlier[:, back:] = seen[:, :-back]
        made.append(earlier)
    return np.concatenate(made, axis=2)


def _learned(facts: NDArray[np.float64], places: Places, asked: NDArray[np.float64], size: int) -> Places:
    """Logistic regression, one place against the rest, a little ridge; fitted by Newton's method."""
    width = facts.shape[2]
    known, wanted = facts.reshape(-1, width), asked.reshape(-1, width)
    middle, spread = known.mean(axis=0), known.std(axis=0) + 1e-9
    known, wanted = (np.c_[np.ones(len(rows)), (rows - middle) / spread] for rows in (known, wanted))
    scores = []
    for place in range(size):
        is_it, weights = (places.ravel() == place).astype(float), np.zeros(width + 1)
        for _ in range(6):
            chance = 1 / (1 + np.exp(-np.clip(known @ weights, -30, 30)))
            slope = known.T @ (is_it - chance) - weights
            bend = (known * (chance * (1 - chance))[:, None]).T @ known + np.eye(width + 1)
            weights = weights + np.linalg.solve(bend, slope)
        scores.append(wanted @ weights)
    found: Places = np.stack(scores).argmax(axis=0).reshape(asked.shape[:2])
    return found


def under_fair_coins(about: Sittings, *, times: int, seed: int) -> NDArray[np.float64]:
    """The same best guess where every place is drawn by a fair coin."""
    rng, known = np.random.default_rng(seed), facts_of(about)
    return np.array(
        [best_guess(rng.integers(about.size, size=about.places.shape), known, about.size) for _ in range(times)]
    )
