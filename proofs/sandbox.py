"""Proofs about sandboxes: what they hold back, what they cost, and that they keep to Inspect's contract."""

from __future__ import annotations

import asyncio
import inspect
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from guildhall.confine.launch import why_no_bubblewrap
from guildhall.confine.room import start
from proofs import ROOT, Figures, NotRun, proof
from proofs.sandbox_attempts import Judged, attempts, bait, judge

WARM_EXEC_GOAL_MS = 30.0
COUNTED = {"memory", "processes"}
"""Kinds of attempts that are made twice: once with the kernel counting the tree, once with the watch alone."""
EXPECTED_FAILURES = {"test_exec_as_user"}


def _needs_bubblewrap() -> None:
    why = why_no_bubblewrap()
    if why is not None:
        raise NotRun(why)


@proof(
    "sandbox-attempts",
    "At least 30 attempts to escape or to use too much are each contained within their limit and recorded.",
    budget_s=240,
)
def every_attempt_is_contained() -> Figures:
    _needs_bubblewrap()
    with bait() as facts:
        judged = [judge(attempt, facts) for attempt in attempts()]
        watched = [judge(attempt, facts, kernel_limits=False) for attempt in attempts() if attempt.kind in COUNTED]
    loose = {one.attempt.name: one.wrong for one in [*judged, *watched] if one.wrong}
    assert not loose, loose
    assert len(judged) >= 30
    assert {one.limits_held_by for one in watched} == {"watch"}
    return {
        "attempts": len(judged),
        "contained": sum(not one.wrong for one in judged),
        "limits_held_by": dict(Counter(one.limits_held_by for one in judged)),
        "by_kind": dict(Counter(one.attempt.kind for one in judged)),
        "each": _rows(judged),
        "again_by_watch": _rows(watched),
    }


def _rows(judged: Sequence[Judged]) -> list[list[str | float]]:
    return [[one.attempt.kind, one.attempt.name, one.ended, one.code, one.wall_s, one.peak_mib] for one in judged]


@proof(
    "sandbox-warm-exec",
    "A warm `exec` through the Inspect provider adds under 30 ms at the median to running the command bare.",
    tier="bench",
    budget_s=120,
)
def warm_exec_is_cheap() -> Figures:
    _needs_bubblewrap()
    added = [asyncio.run(_added_ms()) for _ in range(5)]
    assert statistics.median(added) < WARM_EXEC_GOAL_MS, added
    return {"added_ms_each_of_5": [round(one, 2) for one in added], "added_ms": round(statistics.median(added), 2)}


async def _added_ms(rounds: int = 60) -> float:
    """The median warm exec less the median bare subprocess, measured in turn."""
    from guildhall.engine.bubblewrap import BubblewrapSandboxEnvironment

    made = await BubblewrapSandboxEnvironment.sample_init("task", None, {})
    inside_s, bare_s = [], []
    try:
        for _ in range(rounds):
            began = time.perf_counter()
            await made["default"].exec(["/bin/true"])
            inside_s.append(time.perf_counter() - began)
            began = time.perf_counter()
            await (await asyncio.create_subprocess_exec("/bin/true")).wait()
            bare_s.append(time.perf_counter() - began)
    finally:
        await BubblewrapSandboxEnvironment.sample_cleanup("task", None, made, False)
    return (statistics.median(inside_s) - statistics.median(bare_s)) * 1000


@proof(
    "sandbox-self-check",
    "Inspect's own conformance suite passes on the bubblewrap provider, `exec_as_user` alone excepted.",
    budget_s=180,
)
def inspects_own_checks_pass() -> Figures:
    _needs_bubblewrap()
    from inspect_ai.util._sandbox import self_check

    outcomes = {name: asyncio.run(_self_check(getattr(self_check, name))) for name in self_check.__all__}
    failed = {name: why for name, why in outcomes.items() if why}
    assert set(failed) == EXPECTED_FAILURES, failed
    return {"checks": len(outcomes), "passed": len(outcomes) - len(failed), "expected_failures": failed}


async def _self_check(check: Any) -> str:
    """Why a check failed; empty when it passed."""
    from guildhall.engine.bubblewrap import BubblewrapSandboxEnvironment

    assert inspect.iscoroutinefunction(check)
    made = await BubblewrapSandboxEnvironment.sample_init("task", None, {})
    try:
        await check(made["default"])
    except Exception as error:  # noqa: BLE001 - whatever a check raises is its verdict
        return f"{type(error).__name__}: {error}"
    finally:
        await BubblewrapSandboxEnvironment.sample_cleanup("task", None, made, False)
    return ""


@proof(
    "sandbox-host-killed",
    "When the host process is killed, nothing of its rooms lives on.",
    budget_s=60,
)
def nothing_outlives_its_host() -> Figures:
    _needs_bubblewrap()
    mark = f"orphan-{time.time_ns()}"
    script = (
        "import sys, pathlib, tempfile\nfrom guildhall.confine.room import start\n"
        "room = start(work=pathlib.Path(tempfile.mkdtemp()), how='bubblewrap')\n"
        f"room.run(['sh', '-c', 'setsid tail -f /dev/null {mark} & tail -f /dev/null {mark} & sleep 0.2'])\n"
        "print('up', flush=True); sys.stdin.read()"
    )
    host = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert host.stdout is not None
    assert host.stdout.readline() == b"up\n"
    before = _processes_with(mark) - {host.pid}
    host.kill()
    host.wait()
    began = time.monotonic()
    while (left := _processes_with(mark)) and time.monotonic() - began < 10:
        time.sleep(0.02)
    assert before
    assert not left, left
    return {"processes_before": len(before), "left": 0, "gone_within_s": round(time.monotonic() - began, 2)}


def _processes_with(mark: str) -> set[int]:
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if mark.encode() in (folder / "cmdline").read_bytes():
                    found.add(int(folder.name))
            except OSError:
                continue
    return found


@proof(
    "sandbox-many-commands",
    "A room's memory and descriptors stay flat over 5,000 commands.",
    budget_s=240,
)
def a_room_does_not_leak() -> Figures:
    _needs_bubblewrap()
    with tempfile.TemporaryDirectory() as work, start(work=Path(work), how="bubblewrap") as room:
        marks = []
        for number in range(5001):
            assert room.run(["true"]).ok
            if number in (1000, 5000):
                marks.append((_resident_kib(), len(list(Path("/proc/self/fd").iterdir()))))
    (early_kib, early_fds), (late_kib, late_fds) = marks
    assert late_fds <= early_fds, marks
    assert late_kib <= early_kib + 2048, marks
    return {"kib_after_1000": early_kib, "kib_after_5000": late_kib, "fds": late_fds}


def _resident_kib() -> int:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")))


@proof(
    "sandbox-container-files",
    "Generated container files (not run here) fit Inspect's compose schema and the k8s chart's own values schema.",
    budget_s=120,
)
def container_files_fit_their_schemas() -> Figures:
    import jsonschema  # type: ignore[import-untyped]
    import yaml
    from inspect_ai.util._sandbox.compose import parse_compose_yaml

    from guildhall.engine.bubblewrap_config import BubblewrapConfig
    from guildhall.engine.sandboxes import write_container_files

    chart = _chart()
    schema = json.loads((chart / "values.schema.json").read_text(encoding="utf-8"))
    defaults = yaml.safe_load((chart / "values.yaml").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        compose = write_container_files("full", "docker", Path(folder, "docker"), config=BubblewrapConfig())[-1]
        values = write_container_files("full", "kubernetes", Path(folder, "k8s"), config=BubblewrapConfig())[-1]
        parsed = parse_compose_yaml(str(compose))
        jsonschema.validate(defaults | yaml.safe_load(values.read_text(encoding="utf-8")), schema)
    assert parsed.services["default"].network_mode == "none"
    return {"compose_services": sorted(parsed.services), "values_fit_chart_schema": True, "run_here": False}


def _chart() -> Path:
    """The chart that ships with Inspect's Kubernetes provider, installed beside the proofs once."""
    peer = ROOT / ".prove" / "peers-k8s"
    if not peer.exists():
        uv = str(Path(sys.executable).with_name("uv"))
        install = [uv, "pip", "install", "-q", "--no-deps", "--python", str(peer), "inspect-k8s-sandbox"]
        for step in ([uv, "venv", "-q", str(peer)], install):
            if subprocess.run(step, capture_output=True, check=False).returncode != 0:
                raise NotRun("inspect-k8s-sandbox, whose chart holds the schema, could not be installed")
    found = list(peer.glob("lib/*/site-packages/k8s_sandbox/resources/helm/agent-env"))
    if not found:
        raise NotRun("the installed inspect-k8s-sandbox holds no chart")
    return found[0]
