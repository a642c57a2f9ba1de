"""Late answers in the ledger: each has one row, whatever happened to the call it answers, on both databases."""

from __future__ import annotations

from guildhall.domain.submissions import Usage
from guildhall.store.figures import figures
from guildhall.store.ledger import LATE, Answered, CallState, LateAnswer, Ledger, Sent
from guildhall.store.records import Store

CALLS = {name: Sent(name, "item", "r", "maker/m", 1.0) for name in ("open", "failed", "counted", "refused")}
PRICED = Usage(calls=1, input_tokens=10, output_tokens=5, cost_usd=0.25)


def late(number: str, call: str, usage: Usage = PRICED) -> LateAnswer:
    return LateAnswer(number, CALLS[call], usage, at=4.0, error=f"{LATE} ended")


def ledger_of(store: Store) -> Ledger:
    ledger = Ledger(store)
    ledger.begin(list(CALLS.values()))
    ledger.end(
        [
            Answered("counted", PRICED, 2.0),
            Answered("failed", Usage(calls=1), 2.0, error="timed out"),
            Answered("refused", PRICED, 2.0, error="an answer without content"),
        ]
    )
    return ledger


def test_the_state_of_a_call_says_whether_something_is_counted_for_it(store: Store) -> None:
    states = ledger_of(store).states([*CALLS, "never heard of"])
    assert states == {
        "open": CallState.OPEN,
        "failed": CallState.FAILED,
        "counted": CallState.COUNTED,
        "refused": CallState.COUNTED,
    }


def test_late_answers_are_booked_once_and_take_the_place_of_a_call_nobody_ended(store: Store) -> None:
    ledger = ledger_of(store)
    answers = [late("x", "open"), late("y", "open"), late("z", "failed")]
    assert ledger.book(answers[:1]) == 1
    assert ledger.book(answers) == 2
    assert ledger.book(answers) == 0
    spent = ledger.spent(run="r")
    assert (spent.usage.calls, spent.late, spent.unanswered, spent.unpriced) == (6, 3, 0, 0)
    assert spent.usage.input_tokens == 50
    assert spent.usage.cost_usd == 1.25
    assert set(ledger.states([*CALLS])) == {"failed", "counted", "refused"}


def test_a_late_answer_without_a_price_makes_the_sum_unknown(store: Store) -> None:
    ledger = ledger_of(store)
    ledger.book([late("x", "open", Usage(calls=1, input_tokens=7))])
    spent = ledger.spent(run="r")
    assert (spent.usage.cost_usd, spent.known_usd, spent.unpriced) == (None, 0.5, 1)
    told = [(one.name, one.labels.get("outcome"), one.value) for one in figures(store, now=5.0)]
    assert ("model_calls", "late", 1) in told
    assert sum(value for name, _, value in told if name == "model_calls_unpriced") == 1
