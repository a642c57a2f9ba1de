"""Receipts that an earlier version left in a workspace: answers that arrived when their caller was gone.

That version led requests through a process of its own, which wrote down what was answered to a run that had been
killed. An answer nobody used was paid for all the same: it gets a row of the ledger, under the receipt's own number, so
that it is booked once however often it is looked at.

receipts/<process>/relay.json      which process wrote and which one asked; removed with its folder once all is booked
receipts/<process>/<run>.jsonl     a line for each answer
"""

from __future__ import annotations

import json
import logging
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from guildhall.domain.prices import Price
from guildhall.domain.submissions import Usage
from guildhall.domain.values import Value
from guildhall.engine.prices import Prices
from guildhall.store.ledger import LATE, CallState, LateAnswer, Ledger, Sent
from guildhall.store.work import LEASE_S, has_died
from guildhall.store.workspace import Workspace

logger = logging.getLogger(__name__)

HEAD = "relay.json"
ENDED, GAVE_UP = f"{LATE} ended, and was not used", f"{LATE} given it up, and was not used"


class Slip(Value):
    """Whose call an answer belongs to. `number` counts the requests of one call; nobody waited for those `given_up`."""

    call: str
    item: str
    run: str
    model: str
    begun_at: float
    elsewhere: bool
    price: Price | None
    number: int
    given_up: tuple[int, ...]


class OldReceipt(Value):
    """One answer of a provider: its call, its time, and its tokens where it told them."""

    id: str
    slip: Slip
    at: float
    usage: Usage | None
    served_by: str | None

    def late(self, error: str) -> LateAnswer:
        """As a row of the ledger, at the price of its day; unknown usage has no price."""
        slip = self.slip
        sent = Sent(slip.call, slip.item, slip.run, slip.model, slip.begun_at)
        if self.usage is None:
            return LateAnswer(self.id, sent, Usage(calls=1), self.at, f"{error}; it did not tell its usage")
        prices, day = Prices({slip.model: slip.price} if slip.price else {}), datetime.fromtimestamp(self.at, UTC)
        usage = prices.price(slip.model, self.usage.but(calls=1), at=day, elsewhere=slip.elsewhere)
        return LateAnswer(self.id, sent, usage, self.at, error)


def book_old_receipts(workspace: Workspace, *, now: float) -> int:
    """Book every answer that arrived and was not used; the number that are new in the ledger.

    A process of the earlier version that may still be writing is left alone until it has ended.
    """
    booked = 0
    for head in sorted(workspace.receipts.glob(f"*/{HEAD}")):
        # Gone: another process has just booked it. Forbidden: it is another user's, who will.
        with suppress(FileNotFoundError, PermissionError):
            if _have_ended(head, now):
                booked += _book_folder(head, Ledger(workspace.store))
    return booked


def _have_ended(head: Path, now: float) -> bool:
    """Whether who wrote and who asked have ended: seen on this machine, elsewhere taken from their silence."""
    silent = now - head.stat().st_mtime > LEASE_S
    try:
        who = json.loads(head.read_bytes())
        ended = [has_died(who["relay"]), has_died(who["caller"])]
    except (ValueError, KeyError, TypeError):
        return silent
    return all(silent if one is None else one for one in ended)


def _book_folder(head: Path, ledger: Ledger) -> int:
    found: list[OldReceipt] = []
    unreadable = 0
    for book in sorted(head.parent.glob("*.jsonl")):
        for line in book.read_bytes().splitlines():
            try:
                found.append(OldReceipt.model_validate_json(line))
            except ValidationError:
                unreadable += 1
    booked = ledger.book(list(_unused(found, ledger)))
    _put_away(head, unreadable)
    return booked


def _unused(receipts: Sequence[OldReceipt], ledger: Ledger) -> Iterator[LateAnswer]:
    """Which of the answers nobody used: all of a call that nothing is counted for, else those its caller gave up."""
    calls: dict[str, list[OldReceipt]] = defaultdict(list)
    for receipt in receipts:
        calls[receipt.slip.call].append(receipt)
    states = ledger.states(list(calls))
    for call, answers in calls.items():
        state = states.get(call)
        if state is CallState.COUNTED:
            given_up = max(answers, key=lambda one: one.slip.number).slip.given_up
            yield from (one.late(GAVE_UP) for one in answers if one.slip.number in given_up)
        else:
            yield from (one.late(GAVE_UP if state is CallState.FAILED else ENDED) for one in answers)


def _put_away(head: Path, unreadable: int) -> None:
    """Everything in the folder is booked; what could not be read is kept, and told once."""
    if not unreadable:
        shutil.rmtree(head.parent, ignore_errors=True)
        return
    head.rename(head.parent / f"{HEAD}.unreadable")
    logger.warning(
        "%d receipts in %s cannot be read; what those answers cost stays unknown, and `status` counts their calls as "
        "sent with an unknown answer",
        unreadable,
        head.parent,
    )
