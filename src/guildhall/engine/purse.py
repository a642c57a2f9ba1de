"""The purse of a run: counts what is spent, and says when nothing more may be started."""

from __future__ import annotations

from collections.abc import Callable

from guildhall.domain.submissions import Usage
from guildhall.engine.terms import Limits
from guildhall.store.ledger import Spending


class Purse:
    """Counts what a run has spent, and says when nothing more may be started.

    `recount` reads the ledger, so that money spent before a crash and by sister processes is counted too. Calls in
    flight, and those whose answer will never be known, are reckoned at the mean price so far: parallel calls cannot
    overrun the limit by their number, and what is unknown does not count as nothing.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        recount: Callable[[], Spending],
        clock: Callable[[], float],
        recount_every_s: float = 1.0,
    ) -> None:
        self.limits = limits
        self._recount, self._clock, self._every_s = recount, clock, recount_every_s
        self._started_at = clock()
        self._in_flight = 0
        self._count()

    def start(self) -> str | None:
        """None, and a call counts as in flight; or the reason why no further call may start."""
        why = self.exhausted()
        if why is None:
            self._in_flight += 1
        return why

    def end(self, usage: Usage) -> None:
        """A call that was in flight has ended and used this much."""
        self._in_flight -= 1
        self._calls += usage.calls
        self._usd += usage.cost_usd or 0.0
        self._tokens += usage.input_tokens + usage.output_tokens

    def _count(self) -> None:
        found = self._recount()
        self._counted_at = self._clock()
        self._calls, self._usd, self._open = found.usage.calls, found.known_usd, found.unanswered
        self._tokens = found.usage.input_tokens + found.usage.output_tokens

    def exhausted(self) -> str | None:
        """Why nothing more may be started, or None."""
        limits, now = self.limits, self._clock()
        if now - self._counted_at >= self._every_s and (limits.run_usd or limits.run_tokens):
            self._count()
        with_flying = 1 + max(self._in_flight, self._open) / max(1, self._calls)
        if limits.run_usd is not None and self._usd * with_flying >= limits.run_usd:
            return f"the run's limit of ${limits.run_usd:g} is reached (${self._usd:.4f} spent)"
        if limits.run_tokens is not None and self._tokens * with_flying >= limits.run_tokens:
            return f"the run's limit of {limits.run_tokens:,} tokens is reached ({self._tokens:,} used)"
        if limits.run_seconds is not None and now - self._started_at >= limits.run_seconds:
            return f"the run's limit of {limits.run_seconds:g} s is reached"
        return None
