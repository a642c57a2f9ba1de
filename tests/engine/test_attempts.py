"""The ledger against real servers, with refusals, broken lines, kills and stops: answered, or sent, answer unknown."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from guildhall.engine.attempts import costs_nothing
from guildhall.store.ledger import Ledger, model_calls
from guildhall.store.workspace import Workspace
from tests.engine.caller import KEY, PRICED, RUN, ask, start
from tests.engine.model_server import CACHED, READ, TEXT, WRITTEN, ModelServer
from tests.waiting import until
from tests.warm import Forked

pytestmark = pytest.mark.usefixtures("asks_again_at_once")
UNPRICED = "openai-api/own/any"
COST_USD = (READ * 10.0 + WRITTEN * 100.0) / 1e6


@pytest.fixture
def server() -> Iterator[ModelServer]:
    opened = ModelServer()
    yield opened
    opened.close()


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    for provider in ("OWN", "OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{provider}_API_KEY", KEY)
    with Workspace.create(tmp_path / "ws") as opened:
        yield opened


def rows(workspace: Workspace) -> list[Any]:
    with workspace.store.reading() as connection:
        return list(connection.execute(select(model_calls)).mappings())


DIALECTS = {
    "chat": (UNPRICED, "/v1", {}),
    "chat streamed": (UNPRICED, "/v1", {"stream": True}),
    "responses": (UNPRICED, "/v1", {"responses_api": True}),
    "responses streamed": (UNPRICED, "/v1", {"responses_api": True, "stream": True}),
    "messages": ("anthropic/claude-opus-4-1", "", {"streaming": False}),
    "messages streamed": ("anthropic/claude-opus-4-1", "", {"streaming": True}),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_answer_is_counted_as_its_server_counts_it(server, workspace, dialect):
    model, path, arguments = DIALECTS[dialect]
    settings = {"base_url": server.address + path, "max_tokens": 500, "model_args": arguments}
    assert ask(workspace, model, settings) == [TEXT]
    (row,) = rows(workspace)
    assert (row["input_tokens"], row["output_tokens"], row["cached_input_tokens"]) == (READ, WRITTEN, CACHED)
    assert (row["model"], row["error"]) == (model, None) and row["ended_at"] is not None


def test_refusals_are_asked_again_and_cost_nothing(server, workspace):
    server.refusals = [429, 500, 500, 429]
    assert ask(workspace, PRICED, {"base_url": server.address + "/v1"}) == [TEXT]
    assert len(server.asked) == 5 and len(rows(workspace)) == 1
    spent = Ledger(workspace.store).spent(run=RUN)
    assert (spent.usage.calls, spent.usage.input_tokens, spent.unanswered, spent.late) == (1, READ, 0, 0)
    assert spent.usage.cost_usd == pytest.approx(COST_USD)


@pytest.mark.parametrize("reached", [True, False], ids=["refused", "out of reach"])
def test_a_call_that_never_gets_past_refusals_has_one_row_with_the_reason(server, workspace, reached):
    server.refusals = [500] * 3
    address = server.address if reached else "http://127.0.0.1:9"
    (said,) = ask(workspace, PRICED, {"base_url": address + "/v1"}, retries=2)
    (row,) = rows(workspace)
    assert row["error"] == said and row["ended_at"] is not None
    spent = Ledger(workspace.store).spent(run=RUN)
    assert (spent.usage.calls, spent.unanswered, spent.usage.cost_usd) == (1, 0, 0.0)


def test_an_attempt_that_is_given_up_is_sent_answer_unknown(server, workspace):
    server.seconds = [2.5]
    assert ask(workspace, PRICED, {"base_url": server.address + "/v1"}, attempt_seconds=1) == [TEXT]
    spent = Ledger(workspace.store).spent(run=RUN)
    assert len(server.asked) == 2
    assert (spent.usage.calls, spent.unanswered, spent.usage.input_tokens) == (1, 1, READ)
    assert spent.usage.cost_usd is None and spent.known_usd == pytest.approx(COST_USD)


def test_every_line_that_breaks_is_a_request_whose_answer_is_unknown(server, workspace):
    server.breaks = 3
    assert ask(workspace, PRICED, {"base_url": server.address + "/v1"}) == [TEXT]
    spent = Ledger(workspace.store).spent(run=RUN)
    assert len(server.asked) == 4
    assert (spent.usage.calls, spent.unanswered, spent.usage.cost_usd) == (1, 3, None)


def test_a_call_that_fails_with_its_answer_unknown_is_not_booked_as_free(server, workspace):
    server.breaks = 1
    (said,) = ask(workspace, PRICED, {"base_url": server.address + "/v1"}, retries=0)
    assert "APIConnectionError" in said
    spent = Ledger(workspace.store).spent(run=RUN)
    assert (spent.usage.calls, spent.unanswered, spent.usage.cost_usd) == (0, 1, None)


def test_an_answer_that_does_not_tell_its_usage_has_no_price(server, workspace):
    server.tells_usage = False
    assert ask(workspace, PRICED, {"base_url": server.address + "/v1"}) == [TEXT]
    spent = Ledger(workspace.store).spent(run=RUN)
    assert (spent.usage.calls, spent.unanswered, spent.unpriced, spent.usage.cost_usd) == (1, 0, 1, None)


def test_the_question_inspect_asks_first_is_in_the_ledger_too(server, workspace):
    model, settings = "openai/gpt-5", {"base_url": server.address + "/v1", "model_args": {"responses_api": True}}
    assert ask(workspace, model, settings, questions=3) == [TEXT] * 3
    assert len(server.asked) == 4, "one of Inspect's own before the three"
    found = rows(workspace)
    assert len(found) == 4 and all(row["ended_at"] is not None for row in found)
    assert sorted(row["input_tokens"] for row in found) == [0, READ, READ, READ]
    assert Ledger(workspace.store).spent(run=RUN).usage.cost_usd is None


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_call_in_flight_at_a_kill_is_sent_answer_unknown_for_good(server, workspace, streamed):
    server.seconds = [1.5]
    settings = {"base_url": server.address + "/v1", "model_args": {"stream": streamed}}
    process = start(workspace.path, PRICED, settings)
    until(lambda: bool(server.asked))
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    ledger = Ledger(workspace.store)
    spent = ledger.spent(run=RUN)
    assert (spent.usage.calls, spent.unanswered, spent.usage.cost_usd) == (0, 1, None)
    assert ask(workspace, PRICED, settings) == [TEXT]
    spent = ledger.spent(run=RUN)
    assert (spent.usage.calls, spent.unanswered, spent.usage.cost_usd) == (1, 1, None)
    assert len(server.asked) == 2 and spent.known_usd == pytest.approx(COST_USD)


def stop(process: Forked) -> str:
    """Ctrl-C, as a terminal sends it."""
    os.kill(process.pid, signal.SIGINT)
    said, words = process.communicate()
    assert process.returncode != 0, "it ended before it was stopped"
    assert b"never awaited" not in words
    return said.decode()


@pytest.mark.parametrize("answers", [11, 60])
def test_ctrl_c_loses_no_answer_and_names_every_call_it_cut_off(server, workspace, answers):
    server.seconds = [0.05 * (number % 7) for number in range(150)]
    settings = {"base_url": server.address + "/v1"}
    process = start(workspace.path, PRICED, settings, questions=150, pace={"connections": 10})
    until(lambda: server.answered >= answers)
    heard = stop(process).count(TEXT)
    spent = Ledger(workspace.store).spent(run=RUN)
    half_sent = spent.usage.calls + spent.unanswered - len(server.asked)
    assert len(server.asked) < 150 and 0 <= half_sent <= spent.unanswered <= 10, "no more than were on their way"
    assert 0 < heard <= spent.usage.calls <= server.answered
    assert spent.usage.input_tokens == spent.usage.calls * READ
    server.seconds.clear()
    assert ask(workspace, PRICED, settings, questions=150) == [TEXT] * 150
    after = Ledger(workspace.store).spent(run=RUN)
    assert after.usage.calls + after.unanswered == len(server.asked) + half_sent
    assert after.unanswered == spent.unanswered


class Refused(Exception):
    def __init__(self, **facts: object) -> None:
        vars(self).update(facts)


class ConnectError(Exception):
    """As providers' clients call it."""


def test_only_a_refusal_in_so_many_words_or_a_line_never_opened_costs_nothing():
    never_open = Refused()
    never_open.__cause__ = ConnectError()
    for free in (Refused(status_code=429), Refused(code=400), Refused(status=503), never_open, ConnectError()):
        assert costs_nothing(free)
    for unknown in (
        Refused(status_code=504),
        Refused(code="rate_limit"),
        Refused(status=True),
        TimeoutError(),
        KeyError(),
    ):
        assert not costs_nothing(unknown)
