"""A whole Boswell Test: plan each domain, run or resume it, write its folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from guildhall.domain.authors import ModelRun
from guildhall.domain.boswell import Essay, HumanResult, RunRecord
from guildhall.domain.studies import Study
from guildhall.engine.calls import Call, TextPart
from guildhall.engine.executor import Executor
from guildhall.engine.terms import Limits, Pace, Terms
from guildhall.judging.preparing import Preparer
from guildhall.peer.asking import Asking, MarkingRequest, OnReply, can_be_marked, essay_of
from guildhall.peer.deliverables import MarkingDeliverables
from guildhall.peer.domains import Domain
from guildhall.peer.folder import planned, start_folder, write_run
from guildhall.peer.plan import PeerModel, PeerPlan
from guildhall.peer.prompts import deliverable_prompts_digest, essay_prompt, marking_prompt, prompts_digest
from guildhall.peer.reader import Descriptors
from guildhall.store.workspace import Workspace


@dataclass(frozen=True)
class RunningTest:
    """One run in one domain under way."""

    asking: Asking
    domain: Domain
    started_at: datetime

    def run(self) -> RunRecord:
        """Everything the plan asks for, kept in the workspace; raises `ModelError` when a limit left calls unasked."""
        plan = self.asking.plan
        essays = self._essays()
        marks = self.asking.marks([self._request(essay) for essay in essays if can_be_marked(essay)])
        self.asking.workspace.store.add_all([*essays, *marks])
        return RunRecord(
            run=self.asking.terms.run,
            domain=self.domain.id,
            title=self.domain.title,
            started_at=self.started_at,
            essays=tuple(essays),
            marks=tuple(marks),
            domain_digest=plan.domain_digest,
            rounds=plan.rounds,
        )

    def _essays(self) -> list[Essay]:
        plan, prompt = self.asking.plan, essay_prompt(self.domain)
        authors: dict[str, ModelRun] = {}
        calls: dict[str, Call] = {}
        for model in plan.models:
            for sample in range(1, plan.samples + 1):
                author = model.author(plan.prompts, sample=sample)
                authors[author.key] = author
                calls[author.key] = Call.ask(
                    model.model, prompt, settings=model.settings, sample=sample, purpose="essay"
                )
        return [
            essay_of(replies, run=self.asking.terms.run, domain=self.domain.id, author=authors[key])
            for key, replies in self.asking.with_retries(calls).items()
        ]

    def _request(self, essay: Essay) -> MarkingRequest:
        composites = self.asking.plan.composites
        instructions, data = marking_prompt(self.domain, essay.text, composites=composites)
        return MarkingRequest(essay, instructions, (TextPart(text=data),))


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
    executor: Executor | None = None
    infer: Descriptors | None = None
    """Whose words of praise suggest grades in the reports, where none was read."""


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


def study_plan(study: Study, models: Sequence[PeerModel], options: Options) -> PeerPlan:
    """The plan by which models mark the deliverables of a study."""
    return PeerPlan(
        domain=study.id,
        models=tuple(models),
        rounds=options.rounds,
        composites=options.composites,
        follow_ups=options.follow_ups,
        retries=options.retries,
        domain_digest=study.content_digest(),
        prompts=deliverable_prompts_digest(composites=options.composites),
    )


def run_domain(
    started: Started,
    domain: Domain,
    options: Options,
    *,
    workspace: Workspace,
    clock: Callable[[], float],
    on_reply: OnReply | None = None,
) -> RunRecord:
    """Ask what is still to be asked, keep it in the workspace and write the folder."""
    asking = _asking(started, options, workspace, clock, on_reply)
    record = RunningTest(asking, domain, started.started_at).run()
    write_run(started.folder, record)
    return record


def run_study(
    started: Started,
    study: Study,
    options: Options,
    *,
    workspace: Workspace,
    preparer: Preparer,
    clock: Callable[[], float],
    human: Sequence[HumanResult] = (),
    on_reply: OnReply | None = None,
) -> RunRecord:
    """The same for the deliverables of a study; `human` is what people made of them."""
    asking = _asking(started, options, workspace, clock, on_reply)
    record = MarkingDeliverables(asking, study, preparer, started.started_at, human=tuple(human)).run()
    write_run(started.folder, record)
    return record


def _asking(
    started: Started, options: Options, workspace: Workspace, clock: Callable[[], float], on_reply: OnReply | None
) -> Asking:
    prices = started.plan.prices()
    terms = Terms(run=started.run, limits=options.limits, pace=options.pace, prices=prices, now=clock)
    return Asking(
        plan=started.plan,
        workspace=workspace,
        terms=terms,
        reuse=options.reuse,
        retry_failed=options.retry_failed,
        on_reply=on_reply,
        executor=options.executor,
    )
