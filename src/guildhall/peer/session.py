"""A whole Boswell Test: plan each domain, run or resume it, write its folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from guildhall.engine.calls import Call, Reply
from guildhall.engine.terms import Limits, Pace, Terms
from guildhall.peer.domains import Domain
from guildhall.peer.folder import planned, start_folder, write_run
from guildhall.peer.plan import PeerModel, PeerPlan
from guildhall.peer.prompts import prompts_digest
from guildhall.peer.record import RunRecord
from guildhall.peer.running import Running
from guildhall.store.workspace import Workspace


@dataclass(frozen=True)
class Options:
    """How a test is run; none of it but the first five changes what is asked."""

    samples: int = 1
    rounds: int = 1
    composites: bool = True
    follow_ups: int = 1
    retries: int = 2
    reuse: bool = True
    retry_failed: bool = False
    limits: Limits = field(default_factory=Limits)
    pace: Pace = field(default_factory=Pace)


@dataclass(frozen=True)
class Started:
    """A run that is about to be asked for: its folder, its plan, and whether it was begun before."""

    folder: Path
    plan: PeerPlan
    run: str
    started_at: datetime
    resumed: bool


def plan_of(domain: Domain, models: Sequence[PeerModel], options: Options) -> PeerPlan:
    return PeerPlan(
        domain=domain.id,
        models=tuple(models),
        samples=options.samples,
        rounds=options.rounds,
        composites=options.composites,
        follow_ups=options.follow_ups,
        retries=options.retries,
        domain_digest=domain.content_digest(),
        prompts=prompts_digest(domain, composites=options.composites),
    )


def start(plan: PeerPlan, *, results: Path, now: datetime) -> Started:
    """Take up an unfinished run of the same plan, else begin a new one."""
    for folder in sorted(results.glob(f"*-{plan.domain}"), reverse=True):
        found = planned(folder)
        if found is not None and found[0] == plan and not found[3]:
            return Started(folder, plan, found[1], found[2], resumed=True)
    run = f"{now:%Y%m%d-%H%M%S}-{plan.domain}"
    folder = results / run
    start_folder(folder, plan, run=run, started_at=now)
    return Started(folder, plan, run, now, resumed=False)


def run_domain(
    started: Started,
    domain: Domain,
    options: Options,
    *,
    workspace: Workspace,
    clock: Callable[[], float],
    on_reply: Callable[[Call, Reply], None] | None = None,
) -> RunRecord:
    """Ask what is still to be asked, keep it in the workspace and write the folder."""
    terms = Terms(run=started.run, limits=options.limits, pace=options.pace, prices=started.plan.prices(), now=clock)
    running = Running(
        plan=started.plan,
        domain=domain,
        workspace=workspace,
        terms=terms,
        started_at=started.started_at,
        reuse=options.reuse,
        retry_failed=options.retry_failed,
        on_reply=on_reply,
    )
    record = running.run()
    write_run(started.folder, record)
    return record
