"""Run a plan of samples: here or in several processes, resumable, with every end reported as it comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from guildhall.documents.looking import documents
from guildhall.domain.authors import ModelRun, RoomSettings
from guildhall.domain.submissions import Submission
from guildhall.engine.agents import AgentEnd, AgentJob
from guildhall.engine.evals import AgentRun, run_agents
from guildhall.engine.executor import Executor
from guildhall.engine.journal import TAKEN_OVER
from guildhall.engine.rooms import ask_room
from guildhall.engine.sandboxes import Sandbox
from guildhall.engine.spreading import looks, parts, shared_terms
from guildhall.engine.terms import Terms
from guildhall.errors import RoomChanged
from guildhall.sampling.plan import SampleItem
from guildhall.sampling.stage import SamplingStage, render_cache
from guildhall.store.work import Work, WorkState
from guildhall.store.workspace import Address, Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guildhall.judging.pages import Render

ROUNDS = 4
"""How often the sandboxes of one batch are filled: few enough that a lost node costs little."""

OnEnd = Callable[[AgentJob, AgentEnd], None]


@dataclass(frozen=True)
class Batch:
    """Jobs for one process: everything it needs to know, ready to be pickled."""

    workspace: Address
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
    on_end: OnEnd | None = None,
) -> AgentRun:
    """Make every submission that is not made yet; with an executor the items are dealt to it in batches."""
    jobs = tuple(item.job for item in items)
    batch = Batch(workspace.at, jobs, terms, sandbox or Sandbox(), at_once)
    if executor is None:
        return _run_here(batch, workspace, on_end)
    return _spread(batch, executor)


def _spread(batch: Batch, executor: Executor) -> AgentRun:
    """One batch dealt as many small ones, until nothing is left that a dead worker may have held."""
    shared, needs = shared_terms(batch.terms, places=executor.places)
    needs = replace(needs, sandboxes=batch.at_once)
    finished: dict[str, AgentEnd] = {}
    for _ in looks():
        left: list[str] = []
        why = None
        open_jobs = [job for job in batch.jobs if job.key not in finished]
        dealt = [replace(batch, jobs=tuple(part), terms=shared) for part in parts(open_jobs, ROUNDS * batch.at_once)]
        for ended in executor.map(run_batch, dealt, needs=needs):
            run = ended.result()
            finished |= run.finished
            left += run.left
            why = run.why_left or why
        if why != TAKEN_OVER:
            break
    return AgentRun(finished, tuple(left), why)


def run_batch(batch: Batch) -> AgentRun:
    """One batch, wherever it was dealt to."""
    with Workspace.at_address(batch.workspace.elsewhere()) as workspace:
        return _run_here(batch, workspace, None)


def _require_rooms(batch: Batch, workspace: Workspace) -> None:
    """Refuse to do on this machine what is still to be done in another room than this machine has."""
    states = Work(workspace.store).items([job.key for job in batch.jobs])
    ended = {key for key, item in states.items() if item.state in {WorkState.DONE, WorkState.FAILED}}
    authors = [ModelRun.model_validate(job.metadata["author"]) for job in batch.jobs if job.key not in ended]
    for room in {one.room.canonical(): one.room for one in authors if one.room is not None}.values():
        here = ask_room(batch.sandbox)
        if other := [name for name in RoomSettings.model_fields if getattr(here, name) != getattr(room, name)]:
            raise RoomChanged(batch.terms.run, other)


def _run_here(batch: Batch, workspace: Workspace, on_end: OnEnd | None) -> AgentRun:
    _require_rooms(batch, workspace)
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


@contextmanager
def opened_renderer(cache: Path) -> Iterator[Render]:
    """A renderer over a cache folder, with LibreOffice kept warm while the block runs."""
    with documents(cache) as looking:
        yield looking.renderer.render
