"""Receipts that an earlier version left behind: booked once, with their price, and never while they may still grow."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from guildhall.domain.submissions import Usage
from guildhall.engine.calls import Call
from guildhall.engine.old_receipts import ENDED, GAVE_UP, book_old_receipts
from guildhall.engine.oneshot import run_calls
from guildhall.engine.terms import Terms
from guildhall.sampling.running import sampling_status
from guildhall.store.ledger import Answered, Ledger, Sent
from guildhall.store.work import this_worker, worker_at
from guildhall.store.workspace import Workspace

NOW = 1_790_000_000.0
MODEL = "openai-api/own/priced"
PRICE = {"input_usd": 10.0, "output_usd": 100.0, "cached_input_usd": None, "as_of": "2026-01-01"}
USAGE = {
    "input_tokens": 1200,
    "output_tokens": 345,
    "cached_input_tokens": 200,
    "cache_written_tokens": 0,
    "reasoning_tokens": 5,
}
COST_USD = (1200 * 10.0 + 345 * 100.0) / 1e6
DEAD = this_worker().rsplit(":", 2)[0] + ":999999999:1"


def receipt(own: str, call: str, **facts: Any) -> dict[str, Any]:
    """A line as the earlier version wrote it; `facts` go to the slip, or to the receipt where it has them."""
    slip = {
        "call": call,
        "item": "item",
        "run": "r",
        "model": MODEL,
        "begun_at": NOW - 60,
        "elsewhere": True,
        "price": PRICE,
        "number": 1,
        "given_up": [],
    }
    whole = {"id": own, "slip": slip, "at": NOW - 30, "usage": USAGE, "served_by": "priced"}
    for name, value in facts.items():
        (slip if name in slip else whole)[name] = value
    return whole


def leave(workspace: Workspace, *receipts: dict[str, Any], relay: str = DEAD, caller: str = DEAD) -> Path:
    folder = workspace.receipts / "d3b0"
    folder.mkdir(parents=True)
    (folder / "relay.json").write_text(json.dumps({"caller": caller, "relay": relay}))
    (folder / "run.jsonl").write_text("".join(json.dumps(one) + "\n" for one in receipts))
    os.utime(folder / "relay.json", (NOW - 100, NOW - 100))
    return folder


def begin(workspace: Workspace, *calls: str) -> Ledger:
    ledger = Ledger(workspace.store)
    ledger.begin([Sent(call, "item", "r", MODEL, NOW - 60) for call in calls])
    return ledger


def test_an_answer_left_by_a_killed_run_is_booked_once_with_the_price_of_its_day(workspace):
    ledger = begin(workspace, "cut-off", "lost")
    folder = leave(workspace, receipt("one", "cut-off"))
    assert ledger.spent(run="r").unanswered == 2
    assert book_old_receipts(workspace, now=NOW) == 1
    assert not folder.exists()
    leave(workspace, receipt("one", "cut-off"))
    assert book_old_receipts(workspace, now=NOW) == 0
    spent = ledger.spent(run="r")
    assert (spent.usage.calls, spent.late, spent.unanswered) == (1, 1, 1)
    assert (spent.usage.input_tokens, spent.usage.output_tokens) == (1200, 345)
    assert spent.known_usd == pytest.approx(COST_USD) and spent.usage.cost_usd is None


def test_what_its_caller_had_given_up_is_booked_beside_the_answer_that_was_used(workspace):
    ledger = begin(workspace, "asked-twice", "failed")
    ledger.end([Answered("asked-twice", Usage(input_tokens=1, output_tokens=1, calls=1, cost_usd=1.0), NOW - 20)])
    ledger.end([Answered("failed", Usage(calls=1), NOW - 20, error="timed out")])
    leave(
        workspace,
        receipt("first", "asked-twice"),
        receipt("second", "asked-twice", number=2, given_up=[1]),
        receipt("third", "failed"),
    )
    assert book_old_receipts(workspace, now=NOW) == 2
    spent = ledger.spent(run="r")
    assert spent.late == 2 and spent.known_usd == pytest.approx(1.0 + 2 * COST_USD)
    assert GAVE_UP != ENDED


def test_what_an_old_receipt_does_not_tell_stays_unknown(workspace):
    ledger = begin(workspace, "no-usage", "no-price")
    leave(workspace, receipt("a", "no-usage", usage=None), receipt("b", "no-price", price=None))
    assert book_old_receipts(workspace, now=NOW) == 2
    spent = ledger.spent(run="r")
    assert (spent.unpriced, spent.usage.cost_usd, spent.usage.input_tokens) == (2, None, 1200)


def test_a_process_that_may_still_write_is_left_alone(workspace):
    begin(workspace, "cut-off")
    folder = leave(workspace, receipt("one", "cut-off"), relay=worker_at(os.getpid()))
    assert book_old_receipts(workspace, now=NOW + 10_000) == 0
    assert folder.exists()


@pytest.mark.parametrize("head", ['{"caller": "there/1:1:1", "relay": "there/1:2:1"}', "half a li"])
def test_receipts_of_a_machine_out_of_sight_are_booked_once_it_has_fallen_silent(workspace, head):
    begin(workspace, "cut-off")
    folder = leave(workspace, receipt("one", "cut-off"))
    (folder / "relay.json").write_text(head)
    os.utime(folder / "relay.json", (NOW, NOW))
    assert book_old_receipts(workspace, now=NOW + 200) == 0
    assert book_old_receipts(workspace, now=NOW + 400) == 1
    assert not folder.exists()


def test_a_broken_line_is_kept_and_told_once(workspace, caplog):
    begin(workspace, "cut-off")
    folder = leave(workspace, receipt("one", "cut-off"))
    with (folder / "run.jsonl").open("a") as out:
        out.write('{"id": "half a li')
    assert book_old_receipts(workspace, now=NOW) == 1
    assert "1 receipts" in caplog.text and str(folder) in caplog.text
    caplog.clear()
    assert book_old_receipts(workspace, now=NOW) == 0
    assert not caplog.text and (folder / "run.jsonl").exists()


@pytest.mark.parametrize("by", ["a run", "a status"])
def test_the_next_run_or_status_books_what_an_older_version_left(workspace, by):
    ledger = begin(workspace, "cut-off")
    leave(workspace, receipt("one", "cut-off"))
    if by == "a run":
        run_calls([Call.ask("scripted/echo", "x")], workspace=workspace, terms=Terms(run="next"))
    else:
        assert sampling_status([], workspace=workspace, run="r").late_answers == 1
    assert (ledger.spent(run="r").late, ledger.spent(run="r").unanswered) == (1, 0)
