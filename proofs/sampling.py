"""Sampling: against real servers with faults and kills, beside plain Inspect, and from its logs alone."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from proofs import ROOT, Figures, proof
from proofs._fault_proxy import FaultProxy
from proofs._servers import aimock_server, journal, llama_server

TASKS, KILLS = 20, 5
KILL_SEED = 7

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
    "40 submissions from two real servers, with 429 and 500 injected and 5 SIGKILLs: none lost, none twice; every call "
    "the servers count is in the ledger, answered with the servers' own tokens, or by number as sent, answer unknown",
    budget_s=900,
)
def servers() -> Figures:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with llama_server(folder) as llama, aimock_server(FIXTURES, folder) as mock:
            proxies = {"llama": FaultProxy(llama, seed=1), "mock": FaultProxy(mock, seed=2, delay_s=(0.3, 0.9))}
            try:
                _make_study(folder, {name: proxy.url for name, proxy in proxies.items()})
                _run_with_kills(folder)
                figures = _compare(folder, proxies)
                answered_by_mock = sum(entry.get("response", {}).get("status") == 200 for entry in journal(mock))  # type: ignore[attr-defined]
                assert answered_by_mock == sum(len(found) for found in proxies["mock"].answers.values())
            finally:
                for proxy in proxies.values():
                    proxy.close()
    injected = sum((Counter(proxy.injected) for proxy in proxies.values()), Counter())
    assert injected[429] > 0 and injected[500] > 0, "both kinds of fault must have happened"
    assert proxies["llama"].streamed > 0, "llama.cpp's answers came as a stream"
    return {**figures, "kills": KILLS, "injected_429": injected[429], "injected_500": injected[500]}


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
    words = [sys.executable, "-m", "guildhall", "study", "run", study, "--workspace", workspace]
    log = (folder / "run.log").open("ab")
    return subprocess.Popen(words, cwd=ROOT, env=os.environ | keys, stdout=log, stderr=log, start_new_session=True)


def _run_with_kills(folder: Path) -> None:
    """Kill the run five times at random moments of its work, alone or with its whole group, then let it finish."""
    from guildhall.store.ledger import Ledger
    from guildhall.store.workspace import Workspace

    moments = random.Random(KILL_SEED)
    with Workspace.open(folder / "ws") as workspace:
        ledger = Ledger(workspace.store)
        for number in range(KILLS):
            before, process = ledger.spent(run="servers").usage.calls, _start(folder)
            ends = time.monotonic() + 120
            while ledger.spent(run="servers").usage.calls < before + 3 and time.monotonic() < ends:
                assert process.poll() is None, (folder / "run.log").read_text()[-2000:]
                time.sleep(0.05)
            time.sleep(moments.uniform(0, 1.0))
            (os.killpg if number % 2 else os.kill)(process.pid, signal.SIGKILL)
            process.wait()
        last = _start(folder)
        assert last.wait(timeout=400) == 0, (folder / "run.log").read_text()[-2000:]


def _compare(folder: Path, proxies: dict[str, FaultProxy]) -> Figures:
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
    author_and_task = {item.key: (item.author.name, item.task.id) for item in study.items}
    ended = [row for row in rows if row["ended_at"] is not None and row["error"] is None]
    ledger = Counter((*author_and_task[row["item"]], row["input_tokens"], row["output_tokens"]) for row in ended)
    unknown = Counter(author_and_task[row["item"]] for row in rows if row["ended_at"] is None)
    served = Counter(
        (name, task, *tokens)
        for name, proxy in proxies.items()
        for task, answers in proxy.answers.items()
        for tokens in answers
    )
    assert not ledger - served, f"booked, and no server answered it: {ledger - served}"
    cut_off = Counter(key[:2] for key in (served - ledger).elements())
    assert not cut_off - unknown, f"answered by a server, and not in the ledger: {cut_off - unknown}"
    refused = Counter({(name, task): count for name, proxy in proxies.items() for task, count in proxy.refused.items()})
    never_arrived = unknown - cut_off - refused
    assert never_arrived.total() <= KILLS, f"named as sent, and no server was asked: {never_arrived}"
    assert unknown.total() == spent.unanswered > 0, "no kill cut off a call: this would prove nothing"
    assert spent.usage.cost_usd is None, "what nobody knows has no price"
    tokens = sum(read + written for _, _, read, written in ledger.elements())
    assert tokens == spent.usage.input_tokens + spent.usage.output_tokens
    counts = (("by", served), ("in_the_ledger_for", ledger))
    return {
        "submissions": len(made),
        **{f"{where}_{name}": _sums(answers, name) for name in proxies for where, answers in counts},
        "sent_answer_unknown": spent.unanswered,
        "of_these_answered_by_a_server": cut_off.total(),
        "twice": 0,
    }


def _sums(answers: Counter[tuple[str, str, int, int]], server: str) -> str:
    own = [(read, written) for name, _, read, written in answers.elements() if name == server]
    return f"{len(own)} answered calls, {sum(map(sum, own)):,} tokens"
