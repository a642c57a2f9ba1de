"""The bubblewrap provider as Inspect users meet it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest
from inspect_ai.util import ExecResult, OutputLimitExceededError, SandboxEnvironment
from inspect_ai.util._sandbox.environment import (
    SandboxEnvironmentSpec,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
)
from inspect_ai.util._sandbox.registry import registry_find_sandboxenv

from guildhall.confine.launch import why_no_bubblewrap
from guildhall.engine.bubblewrap import BubblewrapSandboxEnvironment, remove_hostile_tree
from guildhall.engine.bubblewrap_config import BubblewrapConfig
from guildhall.engine.environments import own_environment
from guildhall.errors import NoEnvironment, UnreadableFile

pytestmark = pytest.mark.skipif(why_no_bubblewrap() is not None, reason="bubblewrap does not work on this machine")

SMALL = BubblewrapConfig(memory_mb=200, processes=32, exec_s=60)

EVALUATION = """
import inspect_ai
from inspect_ai.dataset import Sample
from inspect_ai.solver import solver
from inspect_ai.util import sandbox

@solver
def count_words():
    async def solve(state, generate):
        state.output.completion = (await sandbox().exec(["wc", "-w", "brief.txt"])).stdout
        return state
    return solve

task = inspect_ai.Task(
    dataset=[Sample(input="count", files={"brief.txt": "one two three"})], solver=count_words(), sandbox="bubblewrap"
)
(log,) = inspect_ai.eval(task, model=None, log_dir=".", display="none")
print(log.status, log.samples[0].output.completion if log.samples else log.error)
"""


def in_sandbox(use: Callable[[SandboxEnvironment], Awaitable[object]], config: BubblewrapConfig = SMALL) -> object:
    """Make a sandbox as Inspect would, use it, and clean up as Inspect would."""

    async def whole() -> object:
        made = await BubblewrapSandboxEnvironment.sample_init("task", config, {})
        try:
            return await use(made["default"])
        finally:
            await BubblewrapSandboxEnvironment.sample_cleanup("task", config, made, False)

    return asyncio.run(whole())


def test_any_inspect_user_finds_it_by_name():
    assert registry_find_sandboxenv("bubblewrap") is BubblewrapSandboxEnvironment


def test_its_settings_survive_the_log():
    spec = SandboxEnvironmentSpec("bubblewrap", BubblewrapConfig(allow=("example.org",), memory_mb=512))
    assert SandboxEnvironmentSpec.model_validate(spec.model_dump(mode="json")).config == spec.config


def test_settings_come_from_a_file_and_a_wrong_one_is_refused_by_name(tmp_path: Path):
    good, bad = tmp_path / "bubblewrap.toml", tmp_path / "bad.toml"
    good.write_text('memory_mb = 300\nallow = ["example.org"]\n')
    bad.write_text("memroy_mb = 300\n")
    assert BubblewrapConfig.read(good).memory_mb == 300
    with pytest.raises(UnreadableFile, match="memroy_mb"):
        BubblewrapConfig.read(bad)


def test_a_limit_is_told_to_the_agent_in_words():
    async def use(sandbox: SandboxEnvironment) -> ExecResult[str]:
        script = "import os, time\nfor _ in range(4): os.fork()\nblock = b'x' * 50_000_000\ntime.sleep(90)"
        return await sandbox.exec(["python3", "-c", script])

    result = in_sandbox(use)
    assert isinstance(result, ExecResult)
    assert not result.success
    assert "memory limit was reached" in result.stderr


def test_a_flood_raises_what_inspect_documents():
    async def use(sandbox: SandboxEnvironment) -> None:
        with pytest.raises(OutputLimitExceededError):
            await sandbox.exec(["yes"])

    in_sandbox(use)


def test_another_user_is_refused_as_inspect_documents():
    async def use(sandbox: SandboxEnvironment) -> None:
        assert (await sandbox.exec(["whoami"], user="agent")).stdout == "agent\n"
        with pytest.raises(SandboxUserUnsupportedError, match="one user"):
            await sandbox.exec(["whoami"], user="root")

    in_sandbox(use)


def test_a_cancelled_exec_leaves_nothing_running():
    until = "ps -eo args | grep -q '[s]leep 88'; do sleep 0.02; done; echo seen"

    async def use(sandbox: SandboxEnvironment) -> list[str]:
        async with anyio.create_task_group() as group:
            group.start_soon(sandbox.exec, ["sh", "-c", "sleep 88; :"])
            running = await sandbox.exec(["sh", "-c", f"until {until}"])
            group.cancel_scope.cancel()
        gone = await sandbox.exec(["sh", "-c", f"while {until}"])
        return [running.stdout, gone.stdout]

    assert in_sandbox(use) == ["seen\n", "seen\n"]


def test_a_sandbox_that_is_gone_is_reported_as_unavailable():
    async def use(sandbox: SandboxEnvironment) -> None:
        sandbox.as_type(BubblewrapSandboxEnvironment).close()
        with pytest.raises(SandboxUnavailableError):
            await sandbox.exec(["true"])

    in_sandbox(use)


def test_nothing_is_left_behind_after_a_sample():
    async def use(sandbox: SandboxEnvironment) -> Path:
        await sandbox.exec(["sh", "-c", "mkdir -p locked/inner; chmod 000 locked"])
        return sandbox.as_type(BubblewrapSandboxEnvironment).work

    work = in_sandbox(use)
    assert isinstance(work, Path)
    assert not work.exists()


def test_a_tree_nested_deeper_than_python_recurses_is_removed(tmp_path: Path):
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    nest = "import os\nfor _ in range(1200):\n    os.mkdir('d'); os.chdir('d')"
    subprocess.run(["python3", "-c", nest], cwd=hostile, check=True)
    remove_hostile_tree(hostile)
    assert not hostile.exists()


def test_guildhalls_own_packages_make_office_files_without_a_download():
    if own_environment() is None:
        pytest.skip("this Python lives where a sandbox cannot see it")
    config = SMALL.model_copy(update={"environment": "own"})
    script = (
        "import docx, openpyxl, pptx\n"
        "d = docx.Document(); d.add_paragraph('hello'); d.save('a.docx')\n"
        "b = openpyxl.Workbook(); b.save('b.xlsx'); p = pptx.Presentation(); p.save('c.pptx')\n"
    )

    async def use(sandbox: SandboxEnvironment) -> str:
        result = await sandbox.exec(["python3", "-c", script])
        assert result.success, result.stderr
        return (await sandbox.exec(["sh", "-c", "echo *"])).stdout

    assert in_sandbox(use, config) == "a.docx b.xlsx c.pptx\n"


def test_an_environment_that_was_never_built_is_refused(tmp_path: Path):
    with pytest.raises(NoEnvironment, match="guildhall sandbox build"):
        in_sandbox(lambda sandbox: sandbox.exec(["true"]), SMALL.model_copy(update={"environment": tmp_path}))


def test_an_inspect_evaluation_works_in_it(tmp_path: Path):
    done = subprocess.run([sys.executable, "-c", EVALUATION], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "success 3 brief.txt", done.stdout + done.stderr
