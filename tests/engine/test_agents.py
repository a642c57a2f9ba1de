"""Agents as Inspect evals: limits, failures, money, resumption and logs."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from guildhall.domain.prices import Price
from guildhall.domain.submissions import FREE, StopReason
from guildhall.domain.values import sha256
from guildhall.engine.agents import (
    BARE_HOST,
    SHELL_TOOLS,
    AgentEnd,
    AgentJob,
    AgentRoom,
    HostTool,
    Made,
    PlacedFile,
    Shown,
)
from guildhall.engine.desk import Desk, Office
from guildhall.engine.evals import run_agents
from guildhall.engine.prices import Prices
from guildhall.engine.sandboxes import Sandbox
from guildhall.engine.scripted import Answer, ScriptedFailure, ToolUse, Turn, scripted
from guildhall.engine.solver import _run_command
from guildhall.engine.terms import Limits, Pace, Terms
from guildhall.errors import InputError, SandboxError
from guildhall.store.ledger import Ledger
from guildhall.store.work import Work, WorkState
from guildhall.store.workspace import Workspace
from tests.waiting import until
from tests.warm import FORKS

HERE = "scripted/tests.engine.test_agents:"


@scripted("test-worker")
def worker(turn: Turn) -> Answer:
    """Works in three steps: looks, uses the stage's own tool, submits what it saw."""
    if turn.number == 0:
        return Answer(text="", tools=(ToolUse("bash", {"command": "cat given/note.txt; echo made > made.txt"}),))
    if turn.number == 1:
        return Answer(text="", tools=(ToolUse("shout", {"words": turn.messages[-1].text}),))
    return Answer(text="", tools=(ToolUse("submit", {"text": turn.messages[-1].text, "files": ["made.txt"]}),))


@scripted("test-endless")
def endless(turn: Turn) -> Answer:
    return Answer(text="", tools=(ToolUse("bash", {"command": "true"}),), input_tokens=1000, output_tokens=100)


@scripted("test-silent")
def silent(turn: Turn) -> Answer:
    return Answer(text=f"words {turn.number}")


@scripted("test-failing")
def failing(turn: Turn) -> Answer:
    raise ScriptedFailure("no such model", status=404)


@scripted("test-thinker")
def thinker(turn: Turn) -> Answer:
    return Answer(text=f"thought about {turn.prompt}", seconds=0.3, input_tokens=10, output_tokens=5)


class Found:
    def __init__(self, made: bytes | None) -> None:
        self.made = made

    def note(self) -> dict[str, Any]:
        return {"delivered": self.made is not None}


class NotingStage:
    """Remembers how each job ended, and reads the one file the workers make."""

    def __init__(self) -> None:
        self.ends: dict[str, AgentEnd] = {}
        self.made: dict[str, bytes | None] = {}
        self.tools = (HostTool("shout", "Says it louder.", {"words": (str, "what to say")}, self._shout),)

    @staticmethod
    async def _shout(room: AgentRoom, arguments: Mapping[str, Any]) -> Shown:
        return Shown(str(arguments["words"]).upper())

    async def collect(self, job: AgentJob, room: AgentRoom | None, end: AgentEnd) -> Found:
        try:
            return Found(await room.read("made.txt") if room else None)
        except FileNotFoundError:
            return Found(None)

    def keep(self, job: AgentJob, end: AgentEnd, collected: Any) -> Made:
        self.ends[job.label], self.made[job.label] = end, collected.made if collected else None
        return Made((), result=job.label, error=end.error)


def job(label: str, behaviour: str, **fields: Any) -> AgentJob:
    fields = {"tools": (), **fields}
    return AgentJob(key=sha256(label.encode()), label=label, model=HERE + behaviour, prompt=label, **fields)


def test_an_agent_works_in_its_sandbox_with_shell_and_host_tools(workspace):
    digest = workspace.blobs.put(b"hello")
    given = (PlacedFile("given/note.txt", digest),)
    stage = NotingStage()
    jobs = [
        job("works", "worker", tools=(*SHELL_TOOLS, "shout"), files=given),
        job("never ends", "endless", tools=("bash",)),
        job("only talks", "silent", tools=("bash",)),
    ]
    run = run_agents(jobs, stage=stage, workspace=workspace, terms=Terms(run="r", limits=Limits(item_turns=6)))
    works, never, talks = (stage.ends[name] for name in ("works", "never ends", "only talks"))
    assert len(run.finished) == 3 and not run.left
    assert (works.stop, works.text.strip(), works.named) == (StopReason.FINISHED, "HELLO", ("made.txt",))
    assert stage.made["works"] == b"made\n" and works.tools_used == {"bash": 1, "shout": 1, "submit": 1}
    assert works.usage.calls == 3 and works.seconds is not None and (workspace.logs / (works.log or "")).is_file()
    assert never.stop is StopReason.TURN_LIMIT and never.usage.calls == 6
    assert talks.stop is StopReason.FINISHED and talks.named is None and talks.text == "words 2"
    assert Work(workspace.store).counts(run="r") == {WorkState.DONE: 3}


def test_limits_failures_and_refusals_each_end_by_their_own_name(workspace):
    stage = NotingStage()
    prices = Prices({HERE + "endless": Price(input_usd=10.0, output_usd=0.0, as_of=date(2026, 1, 1))})
    jobs = [
        job("costs", "endless", tools=("bash",)),
        job("fails", "failing"),
        AgentJob(key=sha256(b"refuses"), label="refuses", model="scripted/refuses", prompt="x", tools=()),
    ]
    prices.own[HERE + "failing"] = Price(input_usd=1.0, output_usd=1.0, as_of=date(2026, 1, 1))
    terms = Terms(run="r", limits=Limits(item_usd=0.025), prices=prices, pace=Pace(retries=0))
    run_agents(jobs, stage=stage, workspace=workspace, terms=terms)
    assert stage.ends["costs"].stop is StopReason.COST_LIMIT
    assert stage.ends["costs"].usage.cost_usd == pytest.approx(0.03)
    assert stage.ends["fails"].stop is StopReason.PROVIDER_FAILED and "no such model" in (
        stage.ends["fails"].error or ""
    )
    assert stage.ends["refuses"].stop is StopReason.REFUSED
    assert Work(workspace.store).counts(run="r") == {WorkState.DONE: 2, WorkState.FAILED: 1}
    spent = Ledger(workspace.store).spent(run="r")
    assert spent.unanswered == 0 and spent.known_usd == pytest.approx(0.03)


def test_a_run_that_may_spend_no_more_leaves_the_rest_for_another_time(workspace):
    stage = NotingStage()
    prices = Prices({HERE + "thinker": Price(input_usd=100_000.0, output_usd=0.0, as_of=date(2026, 1, 1))})
    jobs = [job(f"question {number}", "thinker") for number in range(6)]
    terms = Terms(run="r", limits=Limits(run_usd=2.5), prices=prices)
    run = run_agents(jobs, stage=stage, workspace=workspace, terms=terms, at_once=1)
    assert len(run.finished) in (2, 3) and len(run.left) == 6 - len(run.finished)
    assert "$2.5 is reached" in (run.why_left or "")
    assert Work(workspace.store).counts(run="r")[WorkState.PLANNED] == len(run.left)
    rest = run_agents(jobs, stage=stage, workspace=workspace, terms=Terms(run="r", prices=prices))
    assert len(rest.finished) == 6 - len(run.finished)
    assert Ledger(workspace.store).spent(run="r").known_usd == pytest.approx(6.0)


def test_the_bare_host_has_no_short_name():
    for name in ("local", "none", "host", ""):
        with pytest.raises(InputError, match="unconfined"):
            Sandbox(kind=name).spec()
    assert Sandbox(kind=BARE_HOST).spec().type == "local"
    assert Sandbox().spec().type == "bubblewrap"


def _think(folder: str) -> None:
    with Workspace.open(Path(folder)) as opened:
        jobs = [job(f"question {number}", "thinker") for number in range(12)]
        run_agents(jobs, stage=NotingStage(), workspace=opened, terms=Terms(run="r"), at_once=2)


def test_a_killed_run_repeats_no_finished_job_and_forgets_no_money(tmp_path):
    folder = tmp_path / "ws"
    Workspace.create(folder).close()
    process = FORKS.Process(target=_think, args=(str(folder),))
    process.start()
    assert process.pid is not None
    with Workspace.open(folder) as workspace:
        work, ledger = Work(workspace.store), Ledger(workspace.store)
        until(lambda: work.counts(run="r").get(WorkState.DONE, 0) >= 3, over=lambda: process.exitcode)
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        done = work.counts(run="r")[WorkState.DONE]
        stage = NotingStage()
        jobs = [job(f"question {number}", "thinker") for number in range(12)]
        run = run_agents(jobs, stage=stage, workspace=workspace, terms=Terms(run="r"))
        spent = ledger.spent(run="r")
        assert len(run.finished) == 12 - done and work.counts(run="r") == {WorkState.DONE: 12}
        assert 12 <= spent.usage.calls <= 14 and spent.usage.input_tokens == 10 * spent.usage.calls
        assert spent.unanswered <= 2


@pytest.fixture
def at_a_terminal():
    """Ctrl-C interrupts, as it does for a person; tests that run in the background inherit it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("at_a_terminal")
def test_an_interrupted_run_says_so_and_gives_its_items_back(workspace):
    jobs = [job(f"question {number}", "thinker") for number in range(20)]
    interrupts = iter([signal.SIGINT])

    def interrupt_once(_job: AgentJob, _end: AgentEnd) -> None:
        for number in interrupts:
            os.kill(os.getpid(), number)

    stage = NotingStage()
    with pytest.raises(KeyboardInterrupt):
        run_agents(jobs, stage=stage, workspace=workspace, terms=Terms(run="r"), at_once=2, on_end=interrupt_once)
    counts = Work(workspace.store).counts(run="r")
    assert counts[WorkState.DONE] >= 1 and counts[WorkState.DONE] + counts[WorkState.PLANNED] == 20
    assert {end.text for end in stage.ends.values()} == {f"thought about {label}" for label in stage.ends}
    spent = Ledger(workspace.store).spent(run="r")
    assert spent.unanswered <= 2 and spent.usage.calls >= counts[WorkState.DONE] == len(stage.ends)
    assert spent.usage.input_tokens == 10 * spent.usage.calls


def test_work_that_cannot_be_fetched_is_not_taken_for_nothing_delivered(workspace):
    class Failing(NotingStage):
        async def collect(self, job: AgentJob, room: AgentRoom | None, end: AgentEnd) -> Found:
            raise OSError("the object store does not answer")

    stage = Failing()
    run = run_agents([job("one", "thinker")], stage=stage, workspace=workspace, terms=Terms(run="r"))
    (end,) = run.finished.values()
    assert (end.stop, run.left) == (StopReason.SANDBOX_FAILED, ()) and "does not answer" in (end.error or "")
    assert stage.made == {"one": None} and Work(workspace.store).counts(run="r") == {WorkState.FAILED: 1}
    assert Ledger(workspace.store).spent(run="r").usage.calls == 1, "what it cost is counted all the same"


@scripted("test-asker")
def asker(turn: Turn) -> Answer:
    return Answer(text="", tools=(ToolUse("note", {"words": str(turn.number)}),), input_tokens=100, output_tokens=20)


@pytest.mark.usefixtures("at_a_terminal")
def test_ctrl_c_books_every_answer_that_agents_had_acted_on(workspace):
    acted: list[str] = []

    async def note(_room: AgentRoom, arguments: Mapping[str, Any]) -> Shown:
        acted.append(str(arguments["words"]))
        if len(acted) == 12:
            os.kill(os.getpid(), signal.SIGINT)
        return Shown("noted")

    stage = NotingStage()
    stage.tools = (HostTool("note", "Notes it.", {"words": (str, "what")}, note),)
    jobs = [job(f"job {number}", "asker", tools=("note",)) for number in range(4)]
    with pytest.raises(KeyboardInterrupt):
        run_agents(jobs, stage=stage, workspace=workspace, terms=Terms(run="r"))
    spent = Ledger(workspace.store).spent(run="r")
    assert spent.usage.calls >= len(acted) >= 12
    assert spent.usage.input_tokens + spent.usage.output_tokens == 120 * spent.usage.calls
    assert Work(workspace.store).counts(run="r") == {WorkState.PLANNED: 4} and not stage.ends


def test_a_sandbox_that_cannot_be_opened_is_an_error_with_its_reason(workspace):
    jobs = [job("never starts", "worker", tools=("bash",))]
    with pytest.raises(SandboxError, match="no-such-sandbox"):
        run_agents(
            jobs,
            stage=NotingStage(),
            workspace=workspace,
            terms=Terms(run="r"),
            sandbox=Sandbox(kind="no-such-sandbox"),
        )
    gone = Sandbox(environment=workspace.path / "nowhere")
    run = run_agents(jobs, stage=NotingStage(), workspace=workspace, terms=Terms(run="r"), sandbox=gone)
    (end,) = run.finished.values()
    assert end.stop is StopReason.SANDBOX_FAILED and "no prepared environment" in (end.error or "")
    assert Work(workspace.store).counts(run="r") == {WorkState.FAILED: 1}


def test_an_answer_from_the_cache_counts_neither_as_money_nor_as_a_call(workspace, tmp_path, monkeypatch):
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    prices = Prices({HERE + "thinker": Price(input_usd=100_000.0, output_usd=0.0, as_of=date(2026, 1, 1))})
    terms = Terms(run="r", prices=prices, pace=Pace(cache=True))
    stage = NotingStage()
    for label in ("first", "second"):
        twin = AgentJob(key=sha256(label.encode()), label=label, model=HERE + "thinker", prompt="same words", tools=())
        run_agents([twin], stage=stage, workspace=workspace, terms=terms)
    first, second = stage.ends["first"].usage, stage.ends["second"].usage
    assert (first.calls, first.cached_calls, first.cost_usd) == (1, 0, 1.0)
    assert (second.calls, second.cached_calls, second.cost_usd) == (0, 1, 0.0)
    assert Ledger(workspace.store).spent(run="r").usage.calls == 1


def test_what_a_command_spends_is_unknown_and_never_nothing() -> None:
    async def nothing(*_words: object, **_more: object) -> SimpleNamespace:
        return SimpleNamespace(out="done", code=0, err="")

    room = SimpleNamespace(write=nothing, run=nothing)
    desk = SimpleNamespace(job=SimpleNamespace(whole_prompt="Do it.", command=("do", "it")), usage=FREE)
    office = SimpleNamespace(terms=Terms(run="r"))
    asyncio.run(_run_command(cast("Office", office), cast("Desk", desk), cast("AgentRoom", room)))
    assert desk.text == "done" and desk.usage.cost_usd is None
