"""Sittings as they happen, and a browser that tells of them as our page does: at any phase, and at every change."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from guildhall.grading.clock import Beat, Tally


@dataclass(frozen=True)
class Part:
    """A stretch of a sitting: how long, and what the browser could see of it."""

    seconds: float
    visible: bool = True
    touching: bool = True
    """Whether the grader touches anything; otherwise nothing is touched from the stretch's start on."""
    media: bool = False
    outside: bool = False
    words: int = 0
    asleep: bool = False
    """The lid is closed: no beat is sent."""


Parts = tuple[Part, ...]
SITTINGS: dict[str, tuple[Parts, float]] = {
    "steady work for an hour": ((Part(3600),), 3600),
    "reading eight minutes of dense text": ((Part(100), Part(480, touching=False, words=1700), Part(60)), 640),
    "an empty chair for twenty minutes": ((Part(200), Part(1200, touching=False), Part(100)), 600),
    "a hidden tab": ((Part(333), Part(777, visible=False), Part(444)), 777),
    "a recording, watched": ((Part(50), Part(1500, touching=False, media=True), Part(50)), 1600),
    "half an hour in a spreadsheet program": ((Part(70), Part(1800, visible=False, outside=True), Part(30)), 1900),
    "two hours in another program, one of which counts": ((Part(7200, visible=False, outside=True),), 3600),
    "a closed lid over lunch": ((Part(600), Part(2700, asleep=True), Part(600)), 1200),
    "many short looks elsewhere": (tuple(Part(41, visible=turn % 2 == 0) for turn in range(20)), 410),
    "all of it": (
        (
            Part(301),
            Part(200, visible=False),
            Part(700, touching=False),
            Part(250, touching=False, media=True),
            Part(99),
        ),
        301 + 300 + 250 + 99,
    ),
}
"""Name -> what happened, and the active seconds that are true of it."""


def counted(parts: Parts, rng: Random) -> float:
    """Active seconds the server counts, with the timer's phase, the clock's drift and the network's delay at random."""
    tally, now, touched = Tally(), 1e9, 1e9
    next_beat = now + rng.uniform(0, 15)
    tally = tally.after(Beat(visible=True), now)
    for part in parts:
        end = now + part.seconds
        if part.asleep:
            now, touched, next_beat = end, end, end + rng.uniform(0, 1)
            tally = tally.after(Beat(visible=True), now)
            continue
        while next_beat < end:
            now, next_beat = next_beat, next_beat + 15 + rng.uniform(-0.5, 0.5)
            touched = now if part.touching else touched
            tally = tally.after(_beat(part, now - touched), now)
        now = end
        touched = now if part.touching else touched
        # The change that ends the stretch sends a beat of its own: hiding, playing, or touching again.
        tally = tally.after(_beat(part, now - touched), now)
        touched = now
    return tally.active_s


def _beat(part: Part, idle_s: float) -> Beat:
    return Beat(
        visible=part.visible, media=part.media, outside=part.outside, words_in_view=part.words, idle_s=round(idle_s)
    )
