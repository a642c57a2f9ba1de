"""A study killed while its models answer: the short form of the proof `sampling-servers`."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.store.ledger import Ledger
from guildhall.store.workspace import Workspace
from tests.engine.model_server import READ, WRITTEN, ModelServer

TASKS, KILLS = 4, 2
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


def study(command: str, folder: Path) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "guildhall", "study", command, "study.toml", "--workspace", "ws"]
    environ = os.environ | {"LOOP_API_KEY": "none-needed"}
    quiet = subprocess.DEVNULL
    return subprocess.Popen(words, cwd=folder, env=environ, start_new_session=True, stdout=quiet, stderr=quiet)


def test_a_killed_study_counts_exactly_what_its_server_counts(tmp_path):
    chance = random.Random(4)
    server = ModelServer(seconds=[chance.uniform(0.5, 1.5) for _ in range(40)], refusals=[])
    (tmp_path / "study.toml").write_text(STUDY.format(url=f"{server.address}/v1"))
    with Workspace.create(tmp_path / "ws") as workspace:
        workspace.store.add_all(
            Task(id=f"task-{number}", sector="Information", occupation="Editors", brief=f"Do {number}.")
            for number in range(TASKS)
        )
        for _ in range(KILLS):
            asked, process = len(server.asked), study("run", tmp_path)
            while len(server.asked) < asked + 2:
                assert process.poll() is None
                time.sleep(0.02)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            server.refusals.extend([429, 500])
        assert study("run", tmp_path).wait(timeout=120) == 0
        ends = time.monotonic() + 30
        while any(workspace.receipts.iterdir()):
            assert study("status", tmp_path).wait(timeout=60) == 0
            assert time.monotonic() < ends, "a relay was left behind"
        spent = Ledger(workspace.store).spent(run="killed")
        made = workspace.store.find(Submission)
    server.close()
    assert len({(one.task, one.author.key) for one in made}) == len(made) == 2 * TASKS
    assert spent.usage.calls == server.answered
    assert spent.usage.input_tokens == server.answered * READ
    assert spent.usage.output_tokens == server.answered * WRITTEN
    assert spent.late >= KILLS
