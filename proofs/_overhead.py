"""The same work by plain Inspect and by us, each in a process of its own: `python -m proofs._overhead WHO COUNT`.

Prints one line of JSON: seconds of wall and processor time for the eval alone, and memory at marks on the way.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from guildhall.domain.values import sha256
from guildhall.engine.agents import AgentEnd, AgentJob, AgentRoom, Made

PROMPT = "Write one sentence about the weather in the harbour, number {number}."


def tuned(count: int, folder: Path) -> dict[str, Any]:
    """Plain Inspect with the switches we set too: no live view, no control channel."""
    return plain(count, folder, log_realtime=False, ctl_server=False)


def plain(count: int, folder: Path, **switches: Any) -> dict[str, Any]:
    """What a user of Inspect would write: a task with generate and a scorer."""
    from inspect_ai import Task
    from inspect_ai import eval as inspect_eval
    from inspect_ai.dataset import Sample
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate

    samples = [Sample(id=number, input=PROMPT.format(number=number), target="harbour") for number in range(count)]
    task = Task(dataset=samples, solver=generate(), scorer=includes())
    options = {"model": "scripted/echo", "log_dir": str(folder), "display": "none", "max_samples": 20, **switches}
    return _timed(lambda: inspect_eval(task, **options))


class Note(dict[str, Any]):
    def note(self) -> dict[str, Any]:
        return dict(self)


class Marking:
    """Keeps nothing but marks of memory as jobs end."""

    tools = ()

    def __init__(self) -> None:
        self.ended = 0
        self.marks: dict[int, float] = {}

    async def collect(self, job: AgentJob, room: AgentRoom | None, end: AgentEnd) -> Note:  # noqa: ARG002
        return Note(delivered=True, text=end.text)

    def keep(self, job: AgentJob, end: AgentEnd, collected: object) -> Made:  # noqa: ARG002
        self.ended += 1
        if self.ended % 500 == 0:
            self.marks[self.ended] = _resident_mb()
        return Made((), result=end.text)


def ours(count: int, folder: Path) -> dict[str, Any]:
    from guildhall.engine.evals import run_agents
    from guildhall.engine.terms import Pace, Terms
    from guildhall.store.workspace import Workspace

    stage = Marking()
    jobs = [
        AgentJob(
            key=sha256(str(number).encode()),
            label=str(number),
            model="scripted/echo",
            prompt=PROMPT.format(number=number),
            tools=(),
        )
        for number in range(count)
    ]
    with Workspace.create(folder / "ws") as workspace:
        terms = Terms(run="overhead", pace=Pace(at_most=100))
        found = _timed(lambda: run_agents(jobs, stage=stage, workspace=workspace, terms=terms, at_once=20))
    assert stage.ended == count
    return found | {"marks": stage.marks}


def _timed(work: Any) -> dict[str, Any]:
    started, used = time.perf_counter(), time.process_time()
    work()
    return {"wall_s": time.perf_counter() - started, "cpu_s": time.process_time() - used, "peak_mb": _peak_mb()}


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


if __name__ == "__main__":
    # Everything heavy is imported before the clock starts.
    import inspect_ai.model

    inspect_ai.model.get_model("scripted/echo")
    with tempfile.TemporaryDirectory() as name:
        run = {"plain": plain, "tuned": tuned, "ours": ours}[sys.argv[1]]
        run(5, Path(name) / "warm")
        print(json.dumps(run(int(sys.argv[2]), Path(name) / "timed")))
