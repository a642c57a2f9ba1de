"""How a plan of samples stands: what is done, running, failed; how it ended; what it has cost."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from guildhall.domain.submissions import Submission
from guildhall.domain.values import Value
from guildhall.engine.old_receipts import book_old_receipts
from guildhall.sampling.plan import SampleItem
from guildhall.store.ledger import Ledger
from guildhall.store.work import Work, WorkState
from guildhall.store.workspace import Workspace


class SamplingStatus(Value):
    """Counts of items by state, of submissions by how they ended and by problem, and the ledger's sums.

    `unanswered_calls` were sent, and whether and what they were answered is unknown; those still on their way are not
    among them. `late_answers` are those of the calls that were answered when nobody waited any more: not used, but
    paid for. `cost_usd` is absent where some call's cost is unknown; `known_usd` is the part that is known.
    """

    items: int
    planned: int
    running: int
    done: int
    failed: int
    ended: dict[str, int]
    problems: dict[str, int]
    why_failed: dict[str, int] = {}
    """What failed items failed with, in the provider's or the sandbox's own words, and how often."""
    looked_at_pages: int
    calls: int
    unanswered_calls: int
    late_answers: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    known_usd: float


def sampling_status(items: Sequence[SampleItem], *, workspace: Workspace, run: str) -> SamplingStatus:
    """How the items stand now; cheap enough to be asked twice a second."""
    now = time.time()
    book_old_receipts(workspace, now=now)
    work, ledger = Work(workspace.store), Ledger(workspace.store)
    states = work.items([item.key for item in items])
    held = work.at_work(states, now=now)
    running = len(ledger.begun(sorted(held)))
    counts = Counter(state.state for state in states.values())
    submissions = _submissions([state.result for state in states.values() if state.result], workspace)
    spent = ledger.spent(run=run)
    on_their_way = ledger.spent(run=run, items=sorted(held)).unanswered if held else 0
    unknown = spent.unanswered - on_their_way
    return SamplingStatus(
        items=len(items),
        planned=len(items) - running - counts[WorkState.DONE] - counts[WorkState.FAILED],
        running=running,
        done=counts[WorkState.DONE],
        failed=counts[WorkState.FAILED],
        ended=dict(Counter(submission.stop.value for submission in submissions)),
        problems=dict(Counter(problem.rule for submission in submissions for problem in submission.problems)),
        why_failed=dict(Counter(state.error for state in states.values() if state.error)),
        looked_at_pages=sum(bool(submission.looked_at_pages) for submission in submissions),
        calls=spent.usage.calls,
        unanswered_calls=unknown,
        late_answers=spent.late,
        input_tokens=spent.usage.input_tokens,
        output_tokens=spent.usage.output_tokens,
        cost_usd=None if unknown or spent.unpriced else spent.known_usd,
        known_usd=spent.known_usd,
    )


def _submissions(keys: Sequence[str], workspace: Workspace) -> list[Submission]:
    return [workspace.store.get(Submission, key) for key in keys]
