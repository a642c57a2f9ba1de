"""Run a plan of samples: here or in several processes, resumable, with every end reported as it comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from guildhall.domain.submissions import Submission
from guildhall.engine.agents import AgentEnd, AgentJob
from guildhall.engine.evals import AgentRun, run_agents
from guildhall.engine.executor import Executor
from guildhall.engine.sandboxes import Sandbox
from guildhall.engine.terms import Terms
from guildhall.sampling.pages import opened_renderer
from guildhall.sampling.plan import SampleItem
from guildhall.sampling.stage import SamplingStage, render_cache
from guildhall.store.work import Work, WorkState
from guildhall.store.workspace import Workspace

OnEnd = Callable[[AgentJob, AgentEnd], None]


@dataclass(frozen=True)
class Batch:
    """Jobs for one process: everything it needs to know, ready to be pickled."""

    workspace: Path
    jobs: tuple[AgentJob, ...]
    terms: Terms
    sandbox: Sandbox = field(default_factory=Sandbox)
    at_once: int = 4


def run_samples(
    items: Sequence[SampleItem],
    *,
    workspace: Workspace,
    terms: Terms,
    sandbox: Sandbox | None = None,
    at_once: int = 4,
    executor: Executor | None = None,
    processes: int = 1,
    on_end: OnEnd | None = None,
) -> AgentRun:
    """Make every submission that is not made yet. With an executor the items are dealt to `processes` batches."""
    jobs = tuple(item.job for item in items)
    batch = Batch(workspace.path, jobs, terms, sandbox or Sandbox(), at_once)
    if executor is None:
        return _run_here(batch, workspace, on_end)
    dealt = [replace(batch, jobs=jobs[start::processes]) for start in range(processes)]
    finished: dict[str, AgentEnd] = {}
    left: list[str] = []
    why = None
    for ended in executor.map(run_batch, [one for one in dealt if one.jobs]):
        run = ended.result()
        finished |= run.finished
        left += run.left
        why = run.why_left or why
    return AgentRun(finished, tuple(left), why)


def run_batch(batch: Batch) -> AgentRun:
    """One batch in a process of its own."""
    with Workspace.open(batch.workspace) as workspace:
        return _run_here(batch, workspace, None)


def _run_here(batch: Batch, workspace: Workspace, on_end: OnEnd | None) -> AgentRun:
    with opened_renderer(render_cache(workspace.path)) as render:
        return run_agents(
            batch.jobs,
            stage=SamplingStage(workspace.blobs, render),
            workspace=workspace,
            terms=batch.terms,
            sandbox=batch.sandbox,
            at_once=batch.at_once,
            on_end=on_end,
        )


def reopen_failed(items: Sequence[SampleItem], *, workspace: Workspace) -> list[SampleItem]:
    """Plan again what failed through no fault of its author; each new submission names the one it replaces."""
    work = Work(workspace.store)
    states = work.items([item.key for item in items])
    failed = {key: item.result for key, item in states.items() if item.state is WorkState.FAILED}
    work.reopen(list(failed))
    return [_replacing(item, failed[item.key]) for item in items if item.key in failed]


def _replacing(item: SampleItem, earlier: str | None) -> SampleItem:
    metadata = {**item.job.metadata, "replaces": earlier}
    return replace(item, job=replace(item.job, metadata=metadata))


def submissions_of(items: Sequence[SampleItem], *, workspace: Workspace) -> dict[str, Submission]:
    """What each item came to, for those that ended."""
    states = Work(workspace.store).items([item.key for item in items])
    return {
        key: workspace.store.get(Submission, item.result) for key, item in states.items() if item.result is not None
    }
