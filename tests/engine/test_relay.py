"""The relay against real servers, with real kills: what providers count is what the ledger holds."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from guildhall.engine import relays
from guildhall.engine.bubblewrap_authority import Authority
from guildhall.engine.metering import told
from guildhall.engine.receipts import ENDED, GAVE_UP, book_receipts
from guildhall.store.ledger import Ledger, model_calls
from guildhall.store.work import has_died
from guildhall.store.workspace import Workspace
from tests.engine.caller import KEY, PRICED, QUESTION, RUN, ask, start
from tests.engine.model_server import CACHED, READ, TEXT, WRITTEN, ModelServer

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


def receipts(workspace: Workspace) -> list[dict[str, Any]]:
    lines = [line for book in workspace.receipts.glob("*/*.jsonl") for line in book.read_text().splitlines()]
    return [json.loads(line) for line in lines]


def wait_until(true: Callable[[], bool], *, seconds: float = 20.0) -> None:
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.02)


def kill_while_answering(process: subprocess.Popen[bytes], server: ModelServer, *, group: bool = False) -> None:
    """SIGKILL a caller whose question is with the server, before any answer."""
    wait_until(lambda: bool(server.asked))
    time.sleep(0.3)
    (os.killpg if group else os.kill)(process.pid, signal.SIGKILL)
    process.communicate()
    assert server.answered == 0


DIALECTS = {
    "chat": (UNPRICED, "/v1", {}),
    "chat streamed": (UNPRICED, "/v1", {"stream": True}),
    "responses": (UNPRICED, "/v1", {"responses_api": True}),
    "responses streamed": (UNPRICED, "/v1", {"responses_api": True, "stream": True}),
    "messages": ("anthropic/claude-opus-4-1", "", {"streaming": False}),
    "messages streamed": ("anthropic/claude-opus-4-1", "", {"streaming": True}),
}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_answer_passes_unchanged_and_its_receipt_agrees_with_the_ledger(server, workspace, dialect, packed):
    model, path, arguments = DIALECTS[dialect]
    server.packed = packed
    settings = {"base_url": server.address + path, "max_tokens": 500, "model_args": arguments}
    said = ask(workspace, model, settings)
    assert said == [TEXT]
    (row,) = rows(workspace)
    assert (row["input_tokens"], row["output_tokens"], row["cached_input_tokens"]) == (READ, WRITTEN, CACHED)
    wait_until(lambda: len(receipts(workspace)) == 1)
    (receipt,) = receipts(workspace)
    assert receipt["slip"]["call"] == row["id"]
    assert {name: row[name] for name in receipt["usage"]} == receipt["usage"]
    assert receipt["served_by"] == model.rpartition("/")[2]


def test_a_provider_sees_what_it_would_see_without_a_relay(server, workspace):
    settings = {"base_url": server.address + "/v1"}
    ask(workspace, UNPRICED, settings)
    ask(workspace, UNPRICED, {**settings, "temperature": 0.5}, relay=False)
    of_one_connection = {"x-irid", "connection"}
    relayed, direct = ({name: one[name] for name in one.keys() - of_one_connection} for one in server.asked)
    assert KEY in relayed["authorization"]
    assert relayed.keys() == direct.keys()
    differ = {name for name in direct if relayed[name] != direct[name]}
    assert differ <= {"content-length", "idempotency-key"}, differ


def test_refusals_are_asked_again_and_cost_nothing(server, workspace):
    server.refusals = [429, 500, 500, 429]
    assert ask(workspace, UNPRICED, {"base_url": server.address + "/v1"}) == [TEXT]
    assert len(server.asked) == 5
    spent = Ledger(workspace.store).spent(run=RUN)
    assert (spent.usage.calls, spent.usage.input_tokens, spent.unanswered, spent.late) == (1, READ, 0, 0)


def test_a_provider_out_of_reach_fails_as_it_would_without_a_relay(workspace):
    settings = {"base_url": "http://127.0.0.1:9/v1"}
    (relayed,) = ask(workspace, UNPRICED, settings, retries=0)
    (direct,) = ask(workspace, UNPRICED, {**settings, "temperature": 0.5}, retries=0, relay=False)
    assert "APIConnectionError" in relayed
    assert "APIConnectionError" in direct


def test_a_proxy_of_the_environment_is_used_for_the_provider_and_for_nothing_else(server, workspace):
    settings = {"base_url": "http://provider.invalid/v1"}
    variables = {"HTTP_PROXY": server.address, "http_proxy": server.address, "NO_PROXY": "", "no_proxy": ""}
    said, _ = start(workspace.path, UNPRICED, settings, variables=variables).communicate(timeout=60)
    assert said.decode().strip() == TEXT
    assert [asked["host"] for asked in server.asked] == ["provider.invalid"]
    assert len(receipts(workspace)) == 1


@pytest.mark.parametrize("trusted", [True, False])
def test_certificates_of_the_environment_decide_whom_a_relay_trusts(workspace, tmp_path, trusted):
    authority = Authority(now=datetime.now(UTC))
    (tmp_path / "ca.pem").write_bytes(authority.certificate_pem)
    variables = {"SSL_CERT_FILE": str(tmp_path / "ca.pem")} if trusted else {}
    server = ModelServer(certified=authority.context_for("localhost"))
    settings = {"base_url": server.address + "/v1"}
    pace = {"retries": 0}
    said, _ = start(workspace.path, UNPRICED, settings, variables=variables, pace=pace).communicate(timeout=60)
    server.close()
    assert (said.decode().strip() == TEXT) is trusted
    assert len(receipts(workspace)) == trusted


@pytest.mark.parametrize("group", [False, True], ids=["the process", "its whole group"])
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_an_answer_to_a_killed_caller_is_booked_once_with_its_price(server, workspace, streamed, group):
    server.seconds = [1.5]
    settings = {"base_url": server.address + "/v1", "model_args": {"stream": streamed}}
    kill_while_answering(start(workspace.path, PRICED, settings), server, group=group)
    ledger = Ledger(workspace.store)
    assert book_receipts(workspace, now=time.time()) == 0
    assert ledger.spent(run=RUN).unanswered == 1
    wait_until(lambda: bool(receipts(workspace)))
    assert ask(workspace, PRICED, settings) == [TEXT]
    for _ in range(2):
        book_receipts(workspace, now=time.time())
        spent = ledger.spent(run=RUN)
        assert (spent.usage.calls, spent.late, spent.unanswered) == (2, 1, 0)
        assert (spent.usage.input_tokens, spent.usage.output_tokens) == (2 * READ, 2 * WRITTEN)
        assert spent.usage.cost_usd == pytest.approx(2 * COST_USD)
    (late,) = [row for row in rows(workspace) if row["error"]]
    assert late["error"] == ENDED
    assert late["seconds"] > 1
    assert server.answered == 2


def test_a_relay_ends_by_itself_and_leaves_nothing_behind(server, workspace):
    server.seconds = [1.0]
    kill_while_answering(start(workspace.path, UNPRICED, {"base_url": server.address + "/v1"}), server)
    wait_until(lambda: bool(receipts(workspace)))
    (head,) = workspace.receipts.glob("*/relay.json")
    who = json.loads(head.read_text())
    assert has_died(who["caller"])
    wait_until(lambda: bool(has_died(who["relay"])))
    assert book_receipts(workspace, now=time.time()) == 1
    assert not any(workspace.receipts.iterdir())


def test_receipts_hold_no_key_no_question_and_no_answer(server, workspace):
    ask(workspace, UNPRICED, {"base_url": server.address + "/v1"})
    wait_until(lambda: bool(receipts(workspace)))
    files = [file for file in workspace.receipts.rglob("*") if file.is_file()]
    kept = b"".join(file.read_bytes() for file in files)
    assert b"input_tokens" in kept
    for secret in (KEY, QUESTION, TEXT, server.address, *(one.token for one in relays._relays.values() if one)):
        assert secret.encode() not in kept
    assert all(file.stat().st_mode & 0o077 == 0 for file in files if file.suffix == ".jsonl")


@pytest.mark.parametrize("tells_usage", [True, False], ids=["no price", "no usage"])
def test_what_is_unknown_of_a_late_answer_stays_unknown(server, workspace, tells_usage):
    server.seconds, server.tells_usage = [1.0], tells_usage
    settings = {"base_url": server.address + "/v1"}
    kill_while_answering(start(workspace.path, UNPRICED if tells_usage else PRICED, settings), server)
    wait_until(lambda: bool(receipts(workspace)))
    book_receipts(workspace, now=time.time())
    spent = Ledger(workspace.store).spent(run=RUN)
    assert spent.usage.input_tokens == (READ if tells_usage else 0)
    assert spent.usage.cost_usd is None
    assert (spent.unpriced, spent.late, spent.unanswered) == (1, 1, 0)
    assert ("did not tell" in rows(workspace)[0]["error"]) is not tells_usage


def test_an_answer_that_its_caller_gave_up_is_paid_for_too(server, workspace):
    server.seconds = [2.5]
    settings = {"base_url": server.address + "/v1"}
    start(workspace.path, PRICED, settings, pace={"attempt_seconds": 1}).communicate(timeout=60)
    ledger = Ledger(workspace.store)
    wait_until(lambda: book_receipts(workspace, now=time.time()) + ledger.spent(run=RUN).late > 0)
    spent = ledger.spent(run=RUN)
    assert server.answered == 2
    assert (spent.usage.input_tokens, spent.late, spent.unanswered) == (2 * READ, 1, 0)
    assert sorted(row["error"] or "" for row in rows(workspace)) == ["", GAVE_UP]


def test_a_broken_line_is_told_once_and_stops_nothing(server, workspace, caplog):
    server.seconds = [1.0]
    kill_while_answering(start(workspace.path, UNPRICED, {"base_url": server.address + "/v1"}), server)
    wait_until(lambda: bool(receipts(workspace)))
    (head,) = workspace.receipts.glob("*/relay.json")
    wait_until(lambda: bool(has_died(json.loads(head.read_text())["relay"])))
    (book,) = workspace.receipts.glob("*/*.jsonl")
    with book.open("ab") as out:
        out.write(b'{"id": "half a li')
    assert book_receipts(workspace, now=time.time()) == 1
    assert "1 receipts" in caplog.text and str(head.parent) in caplog.text
    caplog.clear()
    assert book_receipts(workspace, now=time.time()) == 0
    assert not caplog.text
    assert book.exists()


@pytest.mark.parametrize("head", ['{"caller": "there/1:1:1", "relay": "there/1:2:1"}', "half a li"])
def test_receipts_of_a_machine_out_of_sight_are_booked_once_it_has_fallen_silent(server, workspace, head):
    server.seconds = [1.0]
    kill_while_answering(start(workspace.path, UNPRICED, {"base_url": server.address + "/v1"}), server)
    wait_until(lambda: bool(receipts(workspace)))
    (file,) = workspace.receipts.glob("*/relay.json")
    file.write_text(head)
    spoke_at = file.stat().st_mtime
    assert book_receipts(workspace, now=spoke_at + 200) == 0
    assert book_receipts(workspace, now=spoke_at + 400) == 1
    assert not file.exists()


def test_without_a_relay_a_run_goes_on_and_says_so(server, workspace, monkeypatch, caplog):
    monkeypatch.setattr(relays, "_relays", {})
    monkeypatch.setattr("sys.executable", "/nonexistent/python")
    with caplog.at_level(logging.WARNING):
        assert ask(workspace, UNPRICED, {"base_url": server.address + "/v1"}, questions=3) == [TEXT] * 3
    assert caplog.text.count("there is no relay") == 1


def test_a_relay_that_dies_is_done_without(server, workspace, monkeypatch, caplog):
    monkeypatch.setattr(relays, "_relays", {})
    settings = {"base_url": server.address + "/v1"}
    assert ask(workspace, UNPRICED, settings) == [TEXT]
    (relay,) = relays._relays.values()
    assert relay is not None
    relay._process.kill()
    relay._process.wait()
    with caplog.at_level(logging.WARNING):
        assert ask(workspace, UNPRICED, {**settings, "temperature": 0.5}, questions=2) == [TEXT] * 2
    assert caplog.text.count("there is no relay") == 1


def test_no_relay_is_started_for_nothing(server, workspace, monkeypatch):
    monkeypatch.setattr(relays, "_relays", {})
    ask(workspace, UNPRICED, {"base_url": server.address + "/v1"}, relay=False)
    ask(workspace, "scripted/echo", {})
    assert not relays._relays
    assert not workspace.receipts.exists()


def test_a_stranger_gets_nothing_from_a_relay(server, workspace):
    import httpx

    ask(workspace, UNPRICED, {"base_url": server.address + "/v1"})
    relay = relays.relay_for("httpx2")
    assert relay is not None
    for order in ({}, {"token": "guess", "upstream": server.address}):
        answer = httpx.post(relay.url, headers={"x-guildhall-order": json.dumps(order)}, trust_env=False)
        assert answer.status_code == 403
    assert len(server.asked) == 1


def test_half_a_count_is_no_count():
    assert told(b'{"usage": {"prompt_tokens": 3}}').usage is None
    assert told(b'{"usage": null}').usage is None
    assert told(b"not JSON at all").usage is None
    assert told(b"").usage is None
    zero = told(b'{"usage": {"prompt_tokens": 0, "completion_tokens": 0}}').usage
    assert zero is not None and set(zero.values()) == {0}
