"""A study killed or stopped while its models answer: the short form of the proof `sampling-servers`."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.store.ledger import Ledger
from guildhall.store.workspace import Workspace
from tests.engine.caller import hear_ctrl_c
from tests.engine.model_server import READ, WRITTEN, ModelServer

TASKS, STOPS = 4, 2
STUDY = """
[study]
id = "killed"
title = "Killed while its models answer"

[[authors]]
name = "whole"
model = "openai-api/loop/any"
tools = "none"
samples = 1
settings = {{ base_url = "{url}" }}

[[authors]]
name = "streamed"
model = "openai-api/loop/any"
tools = "none"
samples = 1
settings = {{ base_url = "{url}", model_args = {{ stream = true }} }}
"""


def study(command: str, folder: Path, *words: str) -> subprocess.Popen[bytes]:
    line = [sys.executable, "-m", "guildhall", "study", command, "study.toml", "--workspace", "ws", *words]
    environ = os.environ | {"LOOP_API_KEY": "none-needed"}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        line, cwd=folder, env=environ, start_new_session=True, stdout=pipe, stderr=pipe, preexec_fn=hear_ctrl_c
    )


def said(process: subprocess.Popen[bytes]) -> str:
    out, words = process.communicate(timeout=120)
    assert process.returncode == 0, words.decode()[-2000:]
    return (out + words).decode()


def stop_while_answering(folder: Path, server: ModelServer, how: signal.Signals) -> None:
    """Stop a run of which at least two questions are with the server, refusals apart."""
    process, before = study("run", folder), len(server.asked) + len(server.refusals)
    while len(server.asked) < before + 2:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    (os.killpg if how is signal.SIGKILL else os.kill)(process.pid, how)
    process.communicate(timeout=60)
    assert process.returncode == (-signal.SIGKILL if how is signal.SIGKILL else 130)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["killed", "stopped by Ctrl-C"])
def test_every_answer_its_server_counts_is_in_the_ledger_or_named_as_unknown(tmp_path, how):
    chance = random.Random(4)
    server = ModelServer(seconds=[chance.uniform(0.5, 1.5) for _ in range(40)])
    (tmp_path / "study.toml").write_text(STUDY.format(url=f"{server.address}/v1"))
    with Workspace.create(tmp_path / "ws") as workspace:
        workspace.store.add_all(
            Task(id=f"task-{number}", sector="Information", occupation="Editors", brief=f"Do {number}.")
            for number in range(TASKS)
        )
        for _ in range(STOPS):
            stop_while_answering(tmp_path, server, how)
            server.refusals.extend([429, 500])
        told = "calls: sent, answer unknown"
        assert told in said(study("plan", tmp_path))
        assert told in said(study("run", tmp_path))
        status = said(study("status", tmp_path))
        spent = Ledger(workspace.store).spent(run="killed")
        made = workspace.store.find(Submission)
        assert f"{spent.unanswered} {told}" in status and "price unknown" in status
    server.close()
    assert len({(one.task, one.author.key) for one in made}) == len(made) == 2 * TASKS
    assert spent.unanswered >= STOPS and spent.usage.cost_usd is None
    assert spent.usage.calls <= server.answered <= spent.usage.calls + spent.unanswered
    assert len(server.asked) <= spent.usage.calls + spent.unanswered + server.refused
    assert spent.usage.input_tokens == spent.usage.calls * READ
    assert spent.usage.output_tokens == spent.usage.calls * WRITTEN
