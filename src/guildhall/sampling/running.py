"""Run a plan of samples: here or in several processes, resumable, with every end reported as it comes."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from guildhall.documents.looking import documents
from guildhall.domain.authors import ModelRun, RoomSettings
from guildhall.domain.submissions import Submission, Usage
from guildhall.domain.values import Value
from guildhall.domain.variants import count_tokens
from guildhall.engine.agents import AgentEnd, AgentJob
from guildhall.engine.evals import AgentRun, run_agents
from guildhall.engine.executor import Executor
from guildhall.engine.journal import TAKEN_OVER
from guildhall.engine.models import require_known
from guildhall.engine.old_receipts import book_old_receipts
from guildhall.engine.rooms import ask_room
from guildhall.engine.sandboxes import Sandbox
from guildhall.engine.scripted import expected_by_script, seconds_by_script
from guildhall.engine.spreading import looks, parts, shared_terms
from guildhall.engine.terms import Terms
from guildhall.errors import RoomChanged
from guildhall.sampling.authors import COMMAND
from guildhall.sampling.elicitation import Tools
from guildhall.sampling.plan import SampleItem
from guildhall.sampling.stage import SamplingStage, render_cache
from guildhall.store.ledger import Ledger
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
    with Workspace.from_afar(batch.workspace) as workspace:
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
    """Plan again what failed through no fault of its author; each new submission names the one it replaces.

    Among it is what an earlier version took for "nothing delivered" though nobody was ever asked.
    """
    work = Work(workspace.store)
    states = work.items([item.key for item in items])
    blamed = {one.key for one in workspace.store.each(Submission, replaces=None) if one.blamed}
    failed = {
        key: item.result
        for key, item in states.items()
        if item.state is WorkState.FAILED or (item.state is WorkState.DONE and item.result in blamed)
    }
    work.reopen(list(failed), done=True)
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


class SamplingStatus(Value):
    """Counts of items by state, of submissions by how they ended and by problem, and the ledger's sums.

    `unanswered_calls` were sent, and whether and what they were answered is unknown; those still on their way are not
    among them. `late_answers` are those of the calls that were answered when nobody waited any more: not used, but
    paid for. `cost_usd` is absent where some call's cost is unknown; `known_usd` is the part that is known.
    """

    items: int
    planned: int
    running: int
    done: int
    failed: int
    ended: dict[str, int]
    problems: dict[str, int]
    why_failed: dict[str, int] = {}
    """What failed items failed with, in the provider's or the sandbox's own words, and how often."""
    looked_at_pages: int
    calls: int
    unanswered_calls: int
    late_answers: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    known_usd: float


def sampling_status(items: Sequence[SampleItem], *, workspace: Workspace, run: str) -> SamplingStatus:
    """How the items stand now; cheap enough to be asked twice a second."""
    now = time.time()
    book_old_receipts(workspace, now=now)
    work, ledger = Work(workspace.store), Ledger(workspace.store)
    states = work.items([item.key for item in items])
    held = work.at_work(states)
    running = len(ledger.begun(sorted(held)))
    counts = Counter(state.state for state in states.values())
    submissions = _submissions([state.result for state in states.values() if state.result], workspace)
    spent = ledger.spent(run=run)
    on_their_way = ledger.spent(run=run, items=sorted(held)).unanswered if held else 0
    unknown = spent.unanswered - on_their_way
    return SamplingStatus(
        items=len(items),
        planned=len(items) - running - counts[WorkState.DONE] - counts[WorkState.FAILED],
        running=running,
        done=counts[WorkState.DONE],
        failed=counts[WorkState.FAILED],
        ended=dict(Counter(submission.stop.value for submission in submissions)),
        problems=dict(Counter(problem.rule for submission in submissions for problem in submission.problems)),
        why_failed=dict(Counter(state.error for state in states.values() if state.error)),
        looked_at_pages=sum(bool(submission.looked_at_pages) for submission in submissions),
        calls=spent.usage.calls,
        unanswered_calls=unknown,
        late_answers=spent.late,
        input_tokens=spent.usage.input_tokens,
        output_tokens=spent.usage.output_tokens,
        cost_usd=None if unknown or spent.unpriced else spent.known_usd,
        known_usd=spent.known_usd,
    )


def _submissions(keys: Sequence[str], workspace: Workspace) -> list[Submission]:
    return [workspace.store.get(Submission, key) for key in keys]


GUESS = Usage(calls=25, input_tokens=400_000, output_tokens=20_000)
"""What one item is taken to take of a model that never did any."""
_GUESS_SECONDS = 600.0
_ANSWER_SECONDS = 60.0
_ANSWER_TOKENS = 3_000


class Expectation(Value):
    """For one author: how many items are to do, and what one of them took on average, or is taken to take."""

    author: str
    model: str
    items: int
    done: int
    calls: float
    seconds: float
    usd: float | None
    basis: str


class Forecast(Value):
    """The whole plan. `usd` is unknown as soon as one author's price is; `hours` counts parallel work.

    `unanswered_calls` of earlier runs were sent, answer unknown: what they cost is in no figure here.
    """

    items: int
    to_do: int
    calls: float
    hours: float
    usd: float | None
    unanswered_calls: int
    authors: tuple[Expectation, ...]


def forecast(items: Sequence[SampleItem], *, workspace: Workspace, terms: Terms, in_parallel: int) -> Forecast:
    """What running the items to their end will take from here on; a model nobody knows is refused by name."""
    require_known(sorted({item.author.model for item in items if not item.author.model.startswith(COMMAND)}))
    states = Work(workspace.store).items([item.key for item in items])
    finished = {WorkState.DONE, WorkState.FAILED}
    grouped: dict[str, list[SampleItem]] = defaultdict(list)
    for item in items:
        grouped[item.author.name].append(item)
    rows = []
    for name, group in grouped.items():
        done = sum(item.key in states and states[item.key].state in finished for item in group)
        rows.append(_expectation(name, group, done, workspace, terms))
    costs = [row.usd for row in rows if row.items > row.done]
    spent = sampling_status(items, workspace=workspace, run=terms.run)
    return Forecast(
        items=len(items),
        to_do=sum(row.items - row.done for row in rows),
        calls=sum(row.calls for row in rows),
        hours=sum(row.seconds for row in rows) / 3600 / in_parallel,
        usd=None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs),
        unanswered_calls=spent.unanswered_calls,
        authors=tuple(rows),
    )


def _expectation(name: str, group: Sequence[SampleItem], done: int, workspace: Workspace, terms: Terms) -> Expectation:
    model, left = group[0].author.model, len(group) - done
    usage, seconds, basis = _one_item(group, workspace)
    priced = terms.priced(model, usage, elsewhere="base_url" in group[0].author.settings)
    free = model.startswith(COMMAND)
    return Expectation(
        author=name,
        model=model,
        items=len(group),
        done=done,
        calls=0 if free else usage.calls * left,
        seconds=seconds * left,
        usd=None if free or priced.cost_usd is None else priced.cost_usd * left,
        basis=basis,
    )


def _one_item(group: Sequence[SampleItem], workspace: Workspace) -> tuple[Usage, float, str]:
    """Usage and seconds of one item, and where the figure comes from."""
    wanted = group[0].author.settings_digest
    earlier = [
        submission
        for author in {item.author.key for item in group}
        for submission in workspace.store.find(Submission, author=author)
        if submission.usage is not None and submission.seconds is not None
    ]
    if earlier:
        usages = [submission.usage for submission in earlier if submission.usage is not None]
        mean = Usage(
            calls=round(fmean(usage.calls for usage in usages)),
            input_tokens=round(fmean(usage.input_tokens for usage in usages)),
            output_tokens=round(fmean(usage.output_tokens for usage in usages)),
        )
        seconds = fmean(submission.seconds or 0.0 for submission in earlier)
        return mean, seconds, f"{len(earlier)} earlier submissions of settings {wanted[:8]}"
    script = expected_by_script(group[0].author.model)
    if script is not None:
        return script, seconds_by_script(group[0].author.model, script) or 0.0, "its script: what it does for a task"
    if group[0].author.tools == Tools.NONE.value:
        tokens = round(fmean(count_tokens(item.job.whole_prompt) for item in group) * 1.3)
        one_answer = Usage(calls=1, input_tokens=tokens, output_tokens=_ANSWER_TOKENS)
        return one_answer, _ANSWER_SECONDS, "assumed: one answer of 3,000 tokens"
    return GUESS, _GUESS_SECONDS, "assumed: 25 calls, 400,000 tokens read, 20,000 written, 10 minutes"
