"""Inspect's own conformance suite for sandbox providers, on ours."""

from __future__ import annotations

import asyncio
import inspect

import pytest
from inspect_ai.util import SandboxEnvironment
from inspect_ai.util._sandbox import self_check

from guildhall.confine.launch import why_no_bubblewrap
from guildhall.engine.bubblewrap import BubblewrapSandboxEnvironment

EXPECTED_FAILURES = {"test_exec_as_user": "a bubblewrap sandbox has one user and no root"}
SLOW = {"test_exec_timeout_kills_process", "test_exec_timeout_kills_child_processes"}  # 7 s each; in the proof

CHECKS = [name for name in self_check.__all__ if inspect.iscoroutinefunction(getattr(self_check, name))]

pytestmark = pytest.mark.skipif(why_no_bubblewrap() is not None, reason="bubblewrap does not work on this machine")


@pytest.mark.parametrize("name", [name for name in CHECKS if name not in SLOW])
def test_the_sandbox_keeps_to_the_contract_in(name):
    async def check() -> None:
        made = await BubblewrapSandboxEnvironment.sample_init("task", None, {})
        environment: SandboxEnvironment = made["default"]
        try:
            await getattr(self_check, name)(environment)
        finally:
            await BubblewrapSandboxEnvironment.sample_cleanup("task", None, made, False)

    if name in EXPECTED_FAILURES:
        with pytest.raises(Exception, match="one user"):
            asyncio.run(check())
    else:
        asyncio.run(check())
