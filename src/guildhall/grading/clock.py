"""The active-time clock: fair to readers, deaf to sleeping machines, and never counted twice.

A grader's browser sends a beat every 15 seconds, and one whenever something changes (the tab is hidden, a recording
starts, the grader comes back), each telling how the time since the last beat was spent. The server adds at most `CAP_S`
for the gap since the last beat, so a closed lid, a jump of the clock or a second tab cannot add time. Reading without
touching anything counts for five minutes, longer where many words are in view; a playing medium always counts; so does
work in Word or Excel for up to an hour, when the grader says so. Time without beats (no JavaScript) stays unknown.
"""

from __future__ import annotations

from pydantic import Field

from guildhall.domain.values import Value

POLICY = "beats-1"
"""Stored with every time, so that times under different rules are never mixed unawares."""
BEAT_S, CAP_S = 15.0, 20.0
IDLE_S, WORDS_PER_S, LONGEST_IDLE_S = 300.0, 3.3, 1200.0
OUTSIDE_S = 3600.0


class Beat(Value):
    """What a browser tells: it is looked at, how long nothing was touched, what is in view."""

    visible: bool
    focused: bool = True
    idle_s: float = Field(ge=0, default=0)
    media: bool = False
    outside: bool = False
    words_in_view: int = Field(ge=0, default=0)


class Tally(Value):
    """Time so far. `started` is None until the first beat."""

    started: float | None = None
    last: float | None = None
    wall_s: float = 0.0
    visible_s: float = 0.0
    active_s: float = 0.0
    outside_s: float = 0.0
    policy: str = POLICY

    def after(self, beat: Beat, now: float) -> Tally:
        """The tally once a beat has come in at `now` (the server's clock)."""
        if self.started is None or self.last is None:
            return self.but(started=now, last=now)
        gap = now - self.last
        if gap <= 0:  # a second tab's beat, or a clock that went back: the time is counted already
            return self
        counted = gap if gap <= CAP_S else 0.0 if gap > 2 * CAP_S else CAP_S
        active = counted if beat.visible and beat.media else 0.0
        if beat.visible and not beat.media:
            # Only what lies beyond the limit is lost, wherever in the gap the limit fell.
            active = max(0.0, counted - max(0.0, beat.idle_s - idle_limit_s(beat.words_in_view)))
        outside = min(counted, max(0.0, OUTSIDE_S - self.outside_s)) if beat.outside else 0.0
        return self.but(
            last=now,
            wall_s=self.wall_s + counted,
            visible_s=self.visible_s + (counted if beat.visible else 0.0),
            active_s=self.active_s + max(active, outside),
            outside_s=self.outside_s + counted if beat.outside else 0.0,
        )


def idle_limit_s(words_in_view: int) -> float:
    """How long one may read without touching anything before the clock asks."""
    return min(LONGEST_IDLE_S, max(IDLE_S, words_in_view / WORDS_PER_S))
