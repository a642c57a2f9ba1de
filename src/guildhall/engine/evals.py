"""Run agents as Inspect evals: one eval for some hundred jobs, a log that `inspect view` opens, results by hooks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from guildhall.domain.values import canonical_json
from guildhall.engine.agents import AgentEnd, AgentJob, AgentStage
from guildhall.engine.desk import OFFICE, Office, OnEnd
from guildhall.engine.journal import TAKEN_OVER, keep_leases, open_journal, plain_errors
from guildhall.engine.models import config_of, open_model
from guildhall.engine.old_receipts import book_old_receipts
from guildhall.engine.purse import Purse
from guildhall.engine.sandboxes import Sandbox
from guildhall.engine.solver import do_job
from guildhall.engine.terms import Terms
from guildhall.errors import SandboxError
from guildhall.observe.redact import redact
from guildhall.store.ledger import Ledger
from guildhall.store.work import Work, WorkState, this_worker
from guildhall.store.workspace import Workspace

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalLog

SAMPLES_AN_EVAL = 500


@dataclass(frozen=True)
class AgentRun:
    """What a run of agents came to: how each job ended that ended now, and which were left and why."""

    finished: dict[str, AgentEnd]
    left: tuple[str, ...] = ()
    why_left: str | None = None


def run_agents(
    jobs: Iterable[AgentJob],
    *,
    stage: AgentStage,
    workspace: Workspace,
    terms: Terms,
    sandbox: Sandbox | None = None,
    at_once: int = 4,
    on_end: OnEnd | None = None,
) -> AgentRun:
    """Run every job that is not done yet, and keep what it made the moment it ends.

    Killed and started again, finished jobs are not repeated, half-finished ones start over, and what was spent
    still counts against the limits. `at_once` jobs work at the same time, each in a sandbox of its own
    (bubblewrap unless another is named).
    """
    wanted = {job.key: job for job in jobs}
    terms.require_prices((job.model, "base_url" in job.settings) for job in wanted.values() if job.command is None)
    book_old_receipts(workspace, now=terms.now())
    with plain_errors():
        open_keys, mine = _claimed(wanted, Work(workspace.store), terms)
        if not mine:
            return AgentRun({}, left=tuple(open_keys), why_left=TAKEN_OVER if open_keys else None)
        office = anyio.run(_run_eval, mine, stage, workspace, terms, sandbox or Sandbox(), at_once, on_end)
    left = tuple(key for key in open_keys if key not in office.finished)
    return AgentRun(office.finished, left=left, why_left=office.why_left)


def _claimed(wanted: dict[str, AgentJob], work: Work, terms: Terms) -> tuple[list[str], dict[str, AgentJob]]:
    """The keys of what is not done yet, and of that the jobs nobody else is at, which are ours from now on."""
    work.plan(wanted, kind="agent", run=terms.run)
    items = work.items(wanted).items()
    open_keys = [key for key, one in items if not (one.state is WorkState.DONE or (one.failed and one.result))]
    claimed = work.claim(open_keys, worker=this_worker())
    return open_keys, {key: wanted[key] for key in wanted if key in claimed}


async def _run_eval(
    jobs: dict[str, AgentJob],
    stage: AgentStage,
    workspace: Workspace,
    terms: Terms,
    sandbox: Sandbox,
    at_once: int,
    on_end: OnEnd | None,
) -> Office:
    from guildhall.engine.inspect_private import hide_display

    work, ledger = Work(workspace.store), Ledger(workspace.store)
    hide_display()
    async with keep_leases(work), open_journal(workspace.store) as journal:
        purse = Purse(terms.limits, recount=lambda: ledger.spent(run=terms.run), clock=terms.now)
        office = Office(terms, stage, journal, purse, jobs, on_end or (lambda _job, _end: None))
        token = OFFICE.set(office)
        try:
            for portion in _portions(list(jobs.values())):
                tasks = [_task(batch, workspace, terms, sandbox) for batch in _batches(portion)]
                logs = await _evaluated(tasks, log_dir=str(workspace.logs), at_once=at_once, run=terms.run)
                office.failure = office.failure or journal.failure or _failure_in(logs, tasks)
                office.why_left = office.why_left or await _why_left(logs, portion, office)
                if office.failure is not None or purse.exhausted() is not None:
                    break
        finally:
            OFFICE.reset(token)
            work.release([key for key in jobs if key not in office.finished], worker=this_worker())
    if office.failure is not None:
        raise office.failure
    return office


def _portions(jobs: list[AgentJob]) -> Iterable[list[AgentJob]]:
    """Inspect remembers something of every sample until its eval ends, so that no eval gets too many."""
    return (jobs[start : start + SAMPLES_AN_EVAL] for start in range(0, len(jobs), SAMPLES_AN_EVAL))


async def _evaluated(tasks: list[Task], *, log_dir: str, at_once: int, run: str) -> list[EvalLog]:
    """Inspect's own run of the tasks; what keeps it from starting becomes an error of ours."""
    from inspect_ai import eval_async

    from guildhall.engine.inspect_private import PrerequisiteError

    try:
        return await eval_async(
            tasks,
            log_dir=log_dir,
            log_format="eval",
            max_samples=at_once,
            max_tasks=len(tasks),
            max_sandboxes=at_once,
            fail_on_error=False,
            log_realtime=False,
            ctl_server=False,
            score_display=False,
            metadata={"guildhall_run": run},
        )
    except (PrerequisiteError, ValueError) as error:
        words = " ".join(str(getattr(error, "message", error)).split())
        raise SandboxError(f"the agents could not be run: {redact(words)[:500]}") from error


def _failure_in(logs: Sequence[EvalLog], tasks: Sequence[Task]) -> BaseException | None:
    """Inspect only notes in its logs what was interrupted or never started; callers must hear of it."""
    if len(logs) < len(tasks):
        # Interrupted, Inspect ends its tasks in good order and returns without their logs.
        return KeyboardInterrupt()
    for log in logs:
        if log.status == "cancelled":
            return KeyboardInterrupt()
        if log.status == "error" and log.error is not None:
            return SandboxError(f"the agents could not be run: {redact(log.error.message)[:500]}")
    return None


async def _why_left(logs: Sequence[EvalLog], portion: Sequence[AgentJob], office: Office) -> str | None:
    """What kept the first of the jobs from being done that no desk heard of, in Inspect's own words.

    Read from the files' summaries: to touch `log.samples` would load every sample, and would do so by putting Inspect's
    own event loop in asyncio's place, which never lets go of a cancelled timer and of the sample around it.
    """
    from inspect_ai.log import read_eval_log_sample_summaries_async

    if all(job.key in office.finished for job in portion):
        return None
    for log in logs:
        for sample in await read_eval_log_sample_summaries_async(log.location):
            if sample.error is not None and str(sample.id) not in office.finished:
                return redact(sample.error)[:500]
    return None


def _batches(jobs: Iterable[AgentJob]) -> Sequence[list[AgentJob]]:
    """Jobs that share a model and its settings are one Inspect task."""
    grouped: dict[bytes, list[AgentJob]] = defaultdict(list)
    for job in jobs:
        grouped[canonical_json([job.model, dict(job.settings), job.in_sandbox])].append(job)
    return list(grouped.values())


def _task(jobs: list[AgentJob], workspace: Workspace, terms: Terms, sandbox: Sandbox) -> Task:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample

    from guildhall.engine.registry import delivered

    first = jobs[0]
    config = config_of(first.settings, pace=terms.pace, limits=terms.limits.but(item_seconds=None, item_tokens=None))
    config.cache = terms.pace.cache or None
    samples = [Sample(id=job.key, input=job.prompt, metadata={"label": job.label, **job.metadata}) for job in jobs]
    return Task(
        dataset=samples,
        solver=do_job(workspace.blobs.read),
        scorer=delivered(),
        model=open_model(first.model, first.settings, config) if first.command is None else "none/none",
        sandbox=sandbox.spec() if first.in_sandbox else None,
        name=first.model.replace("/", "-").replace(":", "-"),
    )
