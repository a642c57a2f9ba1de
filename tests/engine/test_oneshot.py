"""One-shot calls: asked once, recorded, resumed, limited, and honest about money."""

from __future__ import annotations

import os
import signal
from datetime import date
from pathlib import Path

import pytest

from guildhall.domain.prices import Price
from guildhall.domain.submissions import StopReason
from guildhall.engine import terms
from guildhall.engine.calls import Call, FilePart
from guildhall.engine.models import parsed
from guildhall.engine.oneshot import run_calls
from guildhall.engine.prices import Prices
from guildhall.engine.scripted import Answer, ScriptedFailure, Turn, scripted
from guildhall.engine.terms import Limits, Pace, Terms
from guildhall.errors import InputError, PriceUnknown
from guildhall.store.ledger import Ledger
from guildhall.store.work import Work, WorkState
from guildhall.store.workspace import Workspace
from tests.waiting import until
from tests.warm import FORKS

ASKED: list[str] = []
_ANSWERED_BEFORE_THE_KILL = [10_000]


@scripted("test-listener")
def listener(turn: Turn) -> Answer:
    ASKED.append(turn.prompt)
    return Answer(text=turn.prompt.upper(), input_tokens=100, output_tokens=10)


@scripted("test-json")
def says_json(turn: Turn) -> Answer:
    return Answer(text='```json\n{"winner": "A"}\n```')


@scripted("test-leaky")
def leaky(turn: Turn) -> Answer:
    raise ScriptedFailure("Incorrect API key provided: sk-abcdefgh12345678", status=401)


@scripted("test-slow")
def slow(turn: Turn) -> Answer:
    """At once; in a run that is to be killed, only so many of them."""
    ASKED.append(turn.prompt)
    return Answer(text=turn.prompt, seconds=3600 if len(ASKED) > _ANSWERED_BEFORE_THE_KILL[0] else 0.0)


@pytest.fixture
def workspace(tmp_path):
    ASKED.clear()
    with Workspace.create(tmp_path / "ws") as opened:
        yield opened


def questions(count: int, model: str = "scripted/test-listener") -> list[Call]:
    return [Call.ask(model, f"question {number}") for number in range(count)]


def test_every_call_gets_its_own_reply_with_usage_and_time(workspace):
    calls = questions(25)
    answers = run_calls(calls, workspace=workspace, terms=Terms(run="r"))
    for number, call in enumerate(calls):
        reply = answers.of(call)
        assert reply is not None and reply.text == f"QUESTION {number}"
        assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.calls) == (100, 10, 1)
        assert reply.seconds is not None and not reply.cached
    spent = Ledger(workspace.store).spent(run="r")
    assert (spent.usage.calls, spent.usage.input_tokens, spent.unanswered) == (25, 2500, 0)


def test_the_same_run_again_asks_nothing_and_returns_the_same_replies(workspace):
    first = run_calls(questions(10), workspace=workspace, terms=Terms(run="r"))
    again = run_calls(questions(10), workspace=workspace, terms=Terms(run="r"))
    assert again.replies == first.replies
    assert len(ASKED) == 10


def test_another_run_reuses_answers_without_time_or_money(workspace):
    run_calls(questions(3), workspace=workspace, terms=Terms(run="first"))
    reused = run_calls(questions(3), workspace=workspace, terms=Terms(run="second"))
    assert all(reply.cached and reply.seconds is None and reply.usage.calls == 0 for reply in reused.replies.values())
    assert Ledger(workspace.store).spent(run="second").usage.calls == 0


def test_a_run_without_reuse_asks_afresh(workspace):
    run_calls(questions(3), workspace=workspace, terms=Terms(run="first"))
    fresh = run_calls(questions(3), workspace=workspace, terms=Terms(run="second"), reuse=False)
    assert len(ASKED) == 6
    assert not any(reply.cached for reply in fresh.replies.values())


def test_samples_of_one_question_are_different_calls(workspace):
    calls = [Call.ask("scripted/test-listener", "same", sample=sample) for sample in (1, 2, 3)]
    run_calls(calls, workspace=workspace, terms=Terms(run="r"))
    assert len(ASKED) == 3


def test_the_purpose_of_a_call_is_no_part_of_its_key():
    assert Call.ask("m/x", "q", purpose="mark").key == Call.ask("m/x", "q", purpose="verdict").key
    assert Call.ask("m/x", "q").key != Call.ask("m/x", "q", settings={"temperature": 0.5}).key


@pytest.mark.parametrize(
    ("model", "stop"), [("scripted/refuses", StopReason.REFUSED), ("scripted/truncated", StopReason.TRUNCATED)]
)
def test_refusals_and_truncation_are_told_apart(workspace, model, stop):
    (reply,) = run_calls([Call.ask(model, "a" * 40)], workspace=workspace, terms=Terms(run="r")).replies.values()
    assert reply.stop is stop and not reply.failed


def test_a_failure_is_a_reply_that_is_kept_and_asked_again_only_on_request(workspace):
    call = Call.ask("scripted/fails", "anything")
    (reply,) = run_calls([call], workspace=workspace, terms=Terms(run="r")).replies.values()
    assert reply.failed and reply.stop is StopReason.PROVIDER_FAILED and reply.usage.cost_usd is None
    assert Work(workspace.store).counts(run="r") == {WorkState.FAILED: 1}
    run_calls([call], workspace=workspace, terms=Terms(run="r"))
    assert Ledger(workspace.store).spent(run="r").usage.calls == 1
    run_calls([call], workspace=workspace, terms=Terms(run="r"), retry_failed=True)
    assert Ledger(workspace.store).spent(run="r").usage.calls == 2


def test_secrets_in_provider_errors_are_hidden(workspace):
    (reply,) = run_calls(
        [Call.ask("scripted/test-leaky", "q")], workspace=workspace, terms=Terms(run="r")
    ).replies.values()
    assert "sk-abcdefgh" not in (reply.error or "") and "[hidden]" in (reply.error or "")


def test_a_dollar_limit_stops_the_run_within_one_call_of_it(workspace):
    prices = Prices({"scripted/test-listener": Price(input_usd=1000, output_usd=0, as_of=date(2026, 1, 1))})
    terms = Terms(run="r", limits=Limits(run_usd=1.0), pace=Pace(connections=4), prices=prices)
    answers = run_calls(questions(50), workspace=workspace, terms=terms)
    spent = Ledger(workspace.store).spent(run="r")
    assert 0.7 <= spent.known_usd <= 1.1
    assert len(answers.left) == 50 - len(answers.replies) and "$1 is reached" in (answers.why_left or "")
    again = run_calls(questions(50), workspace=workspace, terms=terms)
    assert Ledger(workspace.store).spent(run="r").known_usd <= 1.1 and again.left


def test_a_dollar_limit_for_a_model_without_a_price_is_refused(workspace):
    call = Call.ask("openai/gpt-5", "q", settings={"base_url": "http://localhost:1/v1"})
    with pytest.raises(PriceUnknown, match="unknown"):
        run_calls([call], workspace=workspace, terms=Terms(run="r", limits=Limits(run_usd=1)))


def test_structured_answers_are_parsed_and_others_stay_unknown(workspace):
    schema = {"type": "object", "properties": {"winner": {"type": "string"}}, "required": ["winner"]}
    good = Call.ask("scripted/test-json", "q", answer_schema=schema)
    bad = Call.ask("scripted/echo", "not json", answer_schema=schema)
    answers = run_calls([good, bad], workspace=workspace, terms=Terms(run="r"))
    assert answers.replies[good.key].data == {"winner": "A"}
    assert answers.replies[bad.key].data is None


def test_files_are_shown_to_the_model(workspace):
    digest = workspace.blobs.put(b"\x89PNG\r\n\x1a\n" + b"0" * 40)
    call = Call.ask("scripted/echo", "look", FilePart(name="page.png", digest=digest, media_type="image/png"))
    (reply,) = run_calls([call], workspace=workspace, terms=Terms(run="r")).replies.values()
    assert reply.usage.input_tokens > 1000


@pytest.mark.parametrize(
    "settings", [{"temprature": 1}, {"max_connections": 3}, {"model_args": {"api_key": "x"}}, {"temperature": "warm"}]
)
def test_settings_nobody_knows_pacing_and_secrets_are_refused(workspace, settings):
    with pytest.raises(InputError):
        run_calls([Call.ask("scripted/echo", "q", settings=settings)], workspace=workspace, terms=Terms(run="r"))


def _ask_slowly(folder: str) -> None:
    _ANSWERED_BEFORE_THE_KILL[0] = 8
    with Workspace.open(Path(folder)) as opened:
        run_calls(questions(60, "scripted/tests.engine.test_oneshot:slow"), workspace=opened, terms=_TWO_AT_A_TIME)


_TWO_AT_A_TIME = Terms(run="r", pace=Pace(connections=2))


def test_a_killed_run_goes_on_without_repeating_an_answer(tmp_path):
    folder = tmp_path / "ws"
    Workspace.create(folder).close()
    process = FORKS.Process(target=_ask_slowly, args=(str(folder),))
    process.start()
    assert process.pid is not None
    with Workspace.open(folder) as workspace:
        work, ledger = Work(workspace.store), Ledger(workspace.store)
        until(lambda: ledger.spent(run="r").usage.calls >= 4, over=lambda: process.exitcode)
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        before = work.counts(run="r")
        assert 4 <= before[WorkState.DONE] < 60
        answers = run_calls(
            questions(60, "scripted/tests.engine.test_oneshot:slow"), workspace=workspace, terms=_TWO_AT_A_TIME
        )
        spent = ledger.spent(run="r")
        assert len(answers.replies) == 60 and work.counts(run="r") == {WorkState.DONE: 60}
        assert spent.usage.calls == 60, "every answered call once"
        assert spent.unanswered <= 2, "only what was in flight at the kill was sent in vain"


def test_a_setting_of_earlier_versions_is_read_and_told_once_to_do_nothing(caplog: pytest.LogCaptureFixture) -> None:
    terms._tell_that_there_is_no_relay.cache_clear()
    for relay in (True, False):
        assert Pace.model_validate({"relay": relay, "retries": 3}) == Pace(retries=3)
    assert caplog.text.count("`relay` under `pace` does nothing any more") == 1
    assert "relay" not in Pace.model_validate({"relay": True}).model_dump()


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ('{"a": "half \\ud83d a letter"}', {"a": "half \ufffd a letter"}),
        ('{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}),
        ('{"a": NaN}', None),
        ('{"a": ' + "9" * 5000 + "}", None),
        ("[" * 200_000, None),
        ("```json\n[1]\n```", [1]),
        ("I prefer A.", None),
    ],
)
def test_a_reply_is_json_that_can_be_kept_or_none_at_all(said, found):
    assert parsed(said) == found
