"""A study killed or stopped while its models answer: the short form of the proof `sampling-servers`."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest
from typer.testing import CliRunner

from guildhall.cli.main import app
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.store.ledger import Ledger
from guildhall.store.workspace import Workspace
from tests.engine.model_server import READ, WRITTEN, ModelServer
from tests.waiting import until
from tests.warm import Forked, guildhall

pytestmark = pytest.mark.usefixtures("asks_again_at_once")
TASKS, STOPS = 4, 1
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


def line(command: str, folder: Path) -> list[str]:
    return ["study", command, str(folder / "study.toml"), "--workspace", str(folder / "ws")]


def said(command: str, folder: Path) -> str:
    """What a command that nobody stops says; it runs in this process."""
    ended = CliRunner().invoke(app, line(command, folder), catch_exceptions=False)
    assert ended.exit_code == 0, ended.output[-2000:]
    return ended.output


def stop_while_answering(folder: Path, server: ModelServer, how: signal.Signals) -> None:
    """Stop a run of which at least two questions are with the server, refusals apart."""
    before = len(server.asked) + len(server.refusals)
    process = Forked(guildhall, *line("run", folder), out=folder / "said")
    until(
        lambda: len(server.asked) >= before + 2, over=lambda: None if process.poll() is None else process.communicate()
    )
    (os.killpg if how is signal.SIGKILL else os.kill)(process.pid, how)
    assert process.wait() == (-signal.SIGKILL if how is signal.SIGKILL else 130)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["killed", "stopped by Ctrl-C"])
def test_every_answer_its_server_counts_is_in_the_ledger_or_named_as_unknown(tmp_path, monkeypatch, how):
    monkeypatch.setenv("LOOP_API_KEY", "none-needed")
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
        assert told in said("plan", tmp_path)
        assert told in said("run", tmp_path)
        status = said("status", tmp_path)
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
