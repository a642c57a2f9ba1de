"""Receipts: what relays wrote down of answers, and how those nobody used come into the ledger.

A call that ends well is in the ledger already, and its receipt only confirms it. An answer that came after its caller
was killed, or had given up waiting and asked again, was paid for all the same: it gets a row of its own, under the
receipt's own number, so that it is booked once however often it is looked at.

receipts/<relay>/relay.json      whose relay it is, and which process; removed with its folder when both are gone
receipts/<relay>/<run>.jsonl     a line for each answer
"""

from __future__ import annotations

import json
import logging
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from pydantic import ValidationError

from guildhall.domain.prices import Price
from guildhall.domain.submissions import Usage
from guildhall.domain.values import Value
from guildhall.engine.prices import Prices
from guildhall.engine.relay import HEAD
from guildhall.store.ledger import LATE, CallState, LateAnswer, Ledger, Sent
from guildhall.store.work import LEASE_S, has_died
from guildhall.store.workspace import Workspace

logger = logging.getLogger(__name__)

ENDED, GAVE_UP = f"{LATE} ended, and was not used", f"{LATE} given it up, and was not used"


class Slip(Value):
    """Whose call a request belongs to, as it travels with the request.

    `number` counts the requests of one call, and `given_up` are those before this one that the caller no longer waits
    for: what they are answered is not used.
    """

    call: str
    item: str
    run: str
    model: str
    begun_at: float
    elsewhere: bool
    price: Price | None
    number: int
    given_up: tuple[int, ...]


class Receipt(Value):
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


def new_book(workspace: Workspace) -> Path:
    """Where the receipts of one run go."""
    return workspace.receipts / f"{uuid4().hex}.jsonl"


@contextmanager
def booking(workspace: Workspace, book: Path, *, now: Callable[[], float]) -> Iterator[None]:
    """Book before a run what earlier ones left, and after it what it gave up itself, as its own `book` tells."""
    book_receipts(workspace, now=now())
    try:
        yield
    finally:
        book_receipts(workspace, now=now(), own=book.name)


def book_receipts(workspace: Workspace, *, now: float, own: str | None = None) -> int:
    """Book every answer that arrived and was not used; the number that are new in the ledger.

    Of callers that still live only the book named `own` is looked at, and in it only calls that have ended.
    """
    booked = 0
    for head in sorted(workspace.receipts.glob(f"*/{HEAD}")):
        # Gone: another process has just booked it. Forbidden: it is another user's, who will.
        with suppress(FileNotFoundError, PermissionError):
            booked += _book_folder(head, Ledger(workspace.store), now=now, own=own)
    return booked


def _book_folder(head: Path, ledger: Ledger, *, now: float, own: str | None) -> int:
    # Both are asked before the lines are read: what a living relay may still write must not be removed unread.
    relay_ended, caller_ended = _have_ended(head, now)
    books = head.parent.glob("*.jsonl") if caller_ended else [head.parent / own] if own else []
    booked, unreadable = 0, 0
    for book in books:
        found, broken = _read(book)
        booked += ledger.book(_late(found, ledger, caller_ended=caller_ended))
        unreadable += broken
    if relay_ended and caller_ended:
        _put_away(head.parent, unreadable)
    return booked


def _have_ended(head: Path, now: float) -> tuple[bool, bool]:
    """Whether a relay and its caller have ended.

    On this machine that can be seen. Elsewhere, or where the file cannot be read, a relay that gives no sign of life
    has ended, and so has its caller.
    """
    silent = now - head.stat().st_mtime > LEASE_S
    try:
        who = json.loads(head.read_bytes())
        relay, caller = has_died(who["relay"]), has_died(who["caller"])
    except (ValueError, KeyError, TypeError):
        return silent, silent
    return silent if relay is None else relay, silent if caller is None else caller


def _late(receipts: Sequence[Receipt], ledger: Ledger, *, caller_ended: bool) -> list[LateAnswer]:
    """Which of the answers nobody used: all of a call that nothing is counted for, else those its caller gave up."""
    calls: dict[str, list[Receipt]] = defaultdict(list)
    for receipt in receipts:
        calls[receipt.slip.call].append(receipt)
    states = ledger.states(list(calls))
    late: list[LateAnswer] = []
    for call, answers in calls.items():
        state = states.get(call)
        if state is CallState.COUNTED:
            given_up = max(answers, key=lambda one: one.slip.number).slip.given_up
            late += [one.late(GAVE_UP) for one in answers if one.slip.number in given_up]
        elif state is CallState.FAILED:
            late += [one.late(GAVE_UP) for one in answers]
        elif caller_ended:
            late += [one.late(ENDED) for one in answers]
    return late


def _read(book: Path) -> tuple[list[Receipt], int]:
    """The receipts of a file, and how many of its lines cannot be read."""
    lines = book.read_bytes().splitlines() if book.exists() else []
    found: list[Receipt] = []
    for line in lines:
        try:
            found.append(Receipt.model_validate_json(line))
        except ValidationError:
            continue
    return found, len(lines) - len(found)


def _put_away(folder: Path, unreadable: int) -> None:
    """Everything in it is booked; what could not be read is kept, and told once."""
    if not unreadable:
        shutil.rmtree(folder, ignore_errors=True)
        return
    kept = folder / f"{HEAD}.unreadable"
    (folder / HEAD).rename(kept)
    logger.warning(
        "%d receipts in %s cannot be read; what those answers cost stays unknown, and `status` counts their calls as "
        "unanswered",
        unreadable,
        folder,
    )
