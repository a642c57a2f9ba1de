"""Sampling: against real servers with faults and kills, beside plain Inspect, and from its logs alone."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from bisect import bisect
from collections import Counter
from pathlib import Path
from typing import Any

from proofs import ROOT, Figures, proof
from proofs._fault_proxy import FaultProxy, Served
from proofs._servers import aimock_server, journal, llama_server

TASKS, KILLS = 20, 5

FIXTURES: list[dict[str, object]] = [
    {
        "match": {"turnIndex": 0},
        "response": {
            "toolCalls": [
                {"name": "bash", "arguments": {"command": "mkdir -p deliverables; echo done > deliverables/report.txt"}}
            ],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        },
    },
    {
        "match": {"turnIndex": 1},
        "response": {
            "toolCalls": [{"name": "submit", "arguments": {"text": "Done.", "files": ["deliverables/report.txt"]}}],
            "usage": {"prompt_tokens": 150, "completion_tokens": 10, "total_tokens": 160},
        },
    },
]

STUDY = """
[study]
id = "servers"
title = "Two servers"

[[authors]]
name = "llama"
model = "openai-api/llama/tiny"
tools = "none"
condition = "plain"
samples = 1
settings = {{ base_url = "{llama}", max_tokens = 24, model_args = {{ stream = true }} }}

[[authors]]
name = "mock"
model = "openai-api/aimock/scripted"
condition = "plain"
samples = 1
settings = {{ base_url = "{mock}" }}

[sampling]
at_once = 3

[sampling.limits]
item_turns = 6
"""


@proof(
    "sampling-servers",
    "40 submissions from two real servers, with 429 and 500 injected and 5 SIGKILLs: none lost, none twice; usage "
    "equal to the servers' own count, but for calls that a kill left unanswered, each named as such by the ledger",
    budget_s=900,
)
def servers() -> Figures:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with llama_server(folder) as llama, aimock_server(FIXTURES, folder) as mock:
            proxies = {"llama": FaultProxy(llama, seed=1), "mock": FaultProxy(mock, seed=2, delay_s=(0.3, 0.9))}
            try:
                _make_study(folder, {name: proxy.url for name, proxy in proxies.items()})
                killed = _run_with_kills(folder)
                figures = _compare(folder, proxies, killed)
                answered_by_mock = sum(entry.get("response", {}).get("status") == 200 for entry in journal(mock))  # type: ignore[attr-defined]
                assert answered_by_mock == sum(len(found) for found in proxies["mock"].answers.values())
            finally:
                for proxy in proxies.values():
                    proxy.close()
    injected = sum((Counter(proxy.injected) for proxy in proxies.values()), Counter())
    assert injected[429] > 0 and injected[500] > 0, "both kinds of fault must have happened"
    assert proxies["llama"].streamed > 0, "llama.cpp's answers came as a stream"
    return {**figures, "kills": len(killed), "injected_429": injected[429], "injected_500": injected[500]}


def _make_study(folder: Path, urls: dict[str, str]) -> None:
    from guildhall.domain.tasks import Task
    from guildhall.store.workspace import Workspace

    (folder / "study.toml").write_text(STUDY.format(**urls))
    with Workspace.create(folder / "ws") as workspace:
        workspace.store.add_all(
            Task(id=f"TASK-{number:02d}", sector="Information", occupation="Editors", brief=f"Do TASK-{number:02d}.")
            for number in range(TASKS)
        )


def _start(folder: Path) -> subprocess.Popen[bytes]:
    keys = {"LLAMA_API_KEY": "none-needed", "AIMOCK_API_KEY": "none-needed"}
    study, workspace = str(folder / "study.toml"), str(folder / "ws")
    command = [sys.executable, "-m", "guildhall", "study", "run", study, "--workspace", workspace]
    log = (folder / "run.log").open("ab")
    return subprocess.Popen(command, cwd=ROOT, env=os.environ | keys, stdout=log, stderr=log, start_new_session=True)


def _run_with_kills(folder: Path) -> list[float]:
    """Kill the run five times at random moments of its work, then let it finish; when it was killed."""
    from guildhall.store.ledger import Ledger
    from guildhall.store.workspace import Workspace

    moments, killed = random.Random(7), list[float]()
    with Workspace.open(folder / "ws") as workspace:
        ledger = Ledger(workspace.store)
        while len(killed) < KILLS:
            before, process = ledger.spent(run="servers").usage.calls, _start(folder)
            ends = time.monotonic() + 120
            while ledger.spent(run="servers").usage.calls < before + 3 and time.monotonic() < ends:
                assert process.poll() is None, (folder / "run.log").read_text()[-2000:]
                time.sleep(0.05)
            time.sleep(moments.uniform(0, 1.0))
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            killed.append(time.time())
    last = _start(folder)
    assert last.wait(timeout=400) == 0, (folder / "run.log").read_text()[-2000:]
    return killed


def _compare(folder: Path, proxies: dict[str, FaultProxy], killed: list[float]) -> Figures:
    from sqlalchemy import select

    from guildhall.domain.authors import ModelRun
    from guildhall.domain.submissions import Submission
    from guildhall.store.ledger import Ledger, model_calls
    from guildhall.store.workspace import Workspace
    from guildhall.study.studies import OpenStudy

    with Workspace.open(folder / "ws") as workspace:
        study = OpenStudy.open(folder / "study.toml", workspace)
        made = workspace.store.find(Submission)
        pairs = Counter((one.task, one.author.key) for one in made)
        assert len(made) == 2 * TASKS and set(pairs.values()) == {1}, f"{len(made)} submissions, {pairs.most_common(2)}"
        for submission in made:
            assert isinstance(submission.author, ModelRun)
            assert submission.stop.value in {"finished", "truncated"}, submission
            assert submission.author.name == "llama" or [file.name for file in submission.files] == ["report.txt"]
        spent = Ledger(workspace.store).spent(run="servers")
        with workspace.store.reading() as connection:
            rows = connection.execute(select(model_calls)).mappings().all()
    lost = Counter[tuple[int, int]]()
    for item in study.items:
        own = [row for row in rows if row["item"] == item.key]
        lost += _unaccounted(own, proxies[item.author.name].answers[item.task.id], killed)
    recorded = spent.usage.input_tokens + spent.usage.output_tokens
    answers = [one.tokens for proxy in proxies.values() for found in proxy.answers.values() for one in found]
    served, lost_tokens = (sum(read + written for read, written in some) for some in (answers, lost.elements()))
    assert served == recorded + lost_tokens
    assert lost.total() <= spent.unanswered
    return {
        "submissions": len(made),
        "twice": 0,
        "tokens_by_the_servers": served,
        "tokens_in_the_ledger": recorded,
        "calls_the_ledger_names_as_unanswered": spent.unanswered,
        "of_these_answered_by_the_servers": lost.total(),
        "tokens_of_these": lost_tokens,
    }


def _unaccounted(rows: list[Any], served: list[Served], killed: list[float]) -> Counter[tuple[int, int]]:
    """What a server counted for one item and the ledger did not, run by run.

    A run that was not killed accounts for every answer. In a killed one each missing answer belongs to a call that
    the ledger holds as sent and not answered.
    """
    lost = Counter[tuple[int, int]]()
    for number in range(len(killed) + 1):
        own = [row for row in rows if bisect(killed, row["begun_at"]) == number]
        ledger = Counter(
            (row["input_tokens"], row["output_tokens"]) for row in own if row["ended_at"] and not row["error"]
        )
        server = Counter(one.tokens for one in served if bisect(killed, one.asked_at) == number)
        assert not ledger - server, f"run {number}: the ledger holds answers the server never gave"
        unanswered = sum(row["ended_at"] is None for row in own)
        assert number < len(killed) or not unanswered, "the last run was not killed, and left calls unanswered"
        missing = server - ledger
        assert missing.total() <= unanswered, f"run {number}: {missing} were lost, {unanswered} were in flight"
        lost += missing
    return lost
