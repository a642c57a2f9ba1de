"""The stages of a study, in order, and what stands in their way, told before anything is spent.

A stage that joins the study adds its class to `STAGES`.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

from pydantic import JsonValue

from guildhall.domain.design import EXPERT
from guildhall.domain.judges import JudgePlan
from guildhall.domain.submissions import OUR_FAULT, StopReason
from guildhall.engine.evals import AgentRun
from guildhall.engine.models import config_of, open_model, require_known
from guildhall.engine.rooms import ask_room
from guildhall.engine.scripted import PREFIX
from guildhall.engine.terms import Terms
from guildhall.errors import (
    FaultsOfOurs,
    FileLacking,
    GuildhallError,
    InputError,
    MachineRefused,
    NothingDelivered,
    NotReady,
)
from guildhall.sampling.authors import AuthorPlan
from guildhall.sampling.plan import SampleItem
from guildhall.sampling.running import forecast, reopen_failed, run_samples, sampling_status
from guildhall.store.work import Work, WorkState
from guildhall.study.judging import Judging, terms_of
from guildhall.study.people import People
from guildhall.study.studies import OpenStudy

Report = Mapping[str, JsonValue]


class StudyStage(Protocol):
    """One stage: what it would do, doing it, and how it stands. Each report is JSON-ready."""

    name: str

    def plan(self, study: OpenStudy) -> Report: ...

    def run(self, study: OpenStudy) -> Report: ...

    def status(self, study: OpenStudy) -> Report: ...

    def progress(self, study: OpenStudy) -> Callable[[], Report] | None:
        """How calls, tokens and money go while it runs, asked again and again; None where it makes no calls."""
        ...


class Sampling:
    """Models do the tasks."""

    name = "sampling"

    def plan(self, study: OpenStudy) -> Report:
        settings = study.file.sampling
        expected = forecast(
            study.items,
            workspace=study.workspace,
            terms=study.terms,
            in_parallel=settings.at_once * settings.processes,
        )
        handed_in = Counter(run.name for run in study.outside)
        return {**expected.model_dump(mode="json"), "handed_in": dict(handed_in)}

    def run(self, study: OpenStudy) -> Report:
        run = _run_items(study, study.items)
        faults = Counter(end.stop.value for end in run.finished.values() if end.stop in OUR_FAULT)
        now = {"finished_now": len(run.finished), "left": len(run.left), "why_left": run.why_left}
        return {**self.status(study), **now, "failed_now": dict(faults)}

    def status(self, study: OpenStudy) -> Report:
        return sampling_status(study.items, workspace=study.workspace, run=study.id).model_dump(mode="json")

    def progress(self, study: OpenStudy) -> Callable[[], Report] | None:
        return lambda: self.status(study)


def require_deliveries(report: Report) -> None:
    """Refuse to go on from a run of which everything ended and nothing was delivered."""
    ended = report["ended"]
    if isinstance(ended, Mapping) and ended and set(ended) == {StopReason.NOTHING_DELIVERED.value}:
        raise NothingDelivered(sum(int(str(count)) for count in ended.values()))


def require_no_faults(report: Report) -> None:
    """Refuse to call a run done of which a part failed by no fault of its authors, or that found only such failures."""
    failed = report.get("failed_now")
    now = {str(name): int(str(count)) for name, count in failed.items()} if isinstance(failed, Mapping) else {}
    if report.get("faults"):
        what = f"{report['faults']} verdicts could not be asked for"
        raise FaultsOfOurs(what, str(report["why_fault"]), fix="mend that and run the same command again")
    untried = report.get("finished_now") == 0 and report.get("failed")
    if not now and not untried:
        return
    ended = ", ".join(f"{count} {name}" for name, count in sorted(now.items())) or f"{report['failed']} failed before"
    words = report["why_failed"]
    why = max(words, key=lambda one: int(str(words[one]))) if isinstance(words, Mapping) and words else ended
    code = min((_EXIT_CODES[StopReason(name)] for name in now), default=3)
    what = f"items were not done ({ended})"
    raise FaultsOfOurs(what, why.splitlines()[0], fix="`guildhall sample retry --failed` tries again", exit_code=code)


_EXIT_CODES = {StopReason.STORAGE_FAILED: 3, StopReason.SANDBOX_FAILED: 5, StopReason.PROVIDER_FAILED: 6}


def retry_failed(study: OpenStudy) -> Report:
    """Try again what failed through no fault of its author."""
    items = reopen_failed(study.items, workspace=study.workspace)
    run = _run_items(study, items) if items else None
    failed = sum(end.error is not None for end in run.finished.values()) if run else 0
    why = next((end.error for end in run.finished.values() if end.error is not None), None) if run else None
    return {"retried": len(items), "failed": failed, "left": len(run.left) if run else 0, "why_failed": why}


def _run_items(study: OpenStudy, items: Sequence[SampleItem]) -> AgentRun:
    if not items:  # all work was made elsewhere
        return AgentRun({}, (), None)
    study.require_told()
    settings = study.file.sampling
    return run_samples(
        items,
        workspace=study.workspace,
        terms=study.terms,
        sandbox=settings.place(),
        at_once=settings.at_once,
        executor=study.executor or settings.executor(),
    )


STAGES: Sequence[StudyStage] = (Sampling(), People(), Judging())

LEAST_FREE_BYTES = 256 << 20
_OVER = {WorkState.DONE, WorkState.FAILED}


@dataclass(frozen=True)
class Preflight:
    """`faults` keep a run from beginning; `notes` are worth knowing before it does."""

    faults: tuple[GuildhallError, ...]
    notes: tuple[str, ...]

    def require_none(self) -> None:
        """Raise the one fault there is, or all of them in one list."""
        if len(self.faults) == 1:
            raise self.faults[0]
        if self.faults:
            raise NotReady(self.faults)


def preflight(study: OpenStudy) -> Preflight:
    """Look at everything a run needs, without a call that costs anything. What is done already needs nothing more."""
    files = list(_files(study))
    faults = [*files, *_said(study.require_told), *_disk(study)]
    if not files:
        faults += _said(lambda: study.outside)
    if not faults:
        faults += chain(_authors(study), _judges(study))
    known: dict[str, GuildhallError] = {}
    for fault in faults:
        known.setdefault(str(fault), fault)
    return Preflight(tuple(known.values()), () if known else tuple(_notes(study)))


def _said(look: Callable[[], object]) -> Iterator[GuildhallError]:
    try:
        look()
    except GuildhallError as error:
        yield error


def _files(study: OpenStudy) -> Iterator[GuildhallError]:
    """Files of tasks that authors need and nobody fetched, and files that are kept no longer; a line for each task."""
    blobs = study.workspace.blobs
    for task in study.tasks:
        unfetched = [file.name for file in task.reference_files if file.digest is None]
        kept = [str(file.digest) for file in (*task.reference_files, *task.expert_files) if file.digest]
        if unfetched and study.file.sampled:
            more = f" and {len(unfetched) - 1} more files were" if len(unfetched) > 1 else " was"
            yield InputError(f"{unfetched[0]}{more} never fetched, of task {task.id}; import it with its files")
        elif lost := [digest for digest in kept if not blobs.has(digest)]:
            yield FileLacking(lost[0], f"task {task.id}", more=len(lost) - 1)


def _disk(study: OpenStudy) -> Iterator[GuildhallError]:
    for folder in {tempfile.gettempdir(), str(study.workspace.path)}:
        if (free := shutil.disk_usage(folder).free) < LEAST_FREE_BYTES:
            yield MachineRefused(folder, f"only {free >> 20} MiB are free", fix="make room there")


def _authors(study: OpenStudy) -> Iterator[GuildhallError]:
    """What keeps authors who still have work to do from doing it."""
    states = Work(study.workspace.store).items([item.key for item in study.items])
    left = {item.author.name for item in study.items if item.key not in states or states[item.key].state not in _OVER}
    waiting = [author for author in study.file.sampled if author.name in left]
    for author in waiting:
        if author.model is not None:
            yield from _model(author.model, author, study.terms)
    if any(author.works_in_a_room for author in waiting):
        yield from _said(lambda: ask_room(study.file.sampling.place()))


def _judges(study: OpenStudy) -> Iterator[GuildhallError]:
    for plan in study.file.judges:
        yield from _model(plan.model, plan, terms_of(study))


def _model(model: str, plan: AuthorPlan | JudgePlan, terms: Terms) -> Iterator[GuildhallError]:
    """Whether a model can be opened here: its name, its client, its key; and its price where dollars are limited."""
    if model.startswith(PREFIX):
        yield from _said(lambda: require_known([model]))
        return
    elsewhere = "base_url" in plan.settings

    def look() -> None:
        open_model(model, plan.settings, config_of(plan.settings, pace=terms.pace, limits=terms.limits))

    yield from _said(look)
    yield from _said(lambda: terms.require_prices([(model, elsewhere)]))


def _notes(study: OpenStudy) -> Iterator[str]:
    people = People().plan(study)
    words = people.get("words") if people else None
    if isinstance(words, list):
        yield from _grouped([str(one) for one in words])
    models = [(author.model, "base_url" in author.settings) for author in study.file.sampled if author.model]
    models += [(judge.model, "base_url" in judge.settings) for judge in study.file.judges]
    at = study.terms.date()
    for model in sorted({name for name, there in models if not study.terms.prices.knows(name, at=at, elsewhere=there)}):
        yield f"the price of {model} is unknown: what it costs will be told in tokens alone"
    if not study.file.judges and study.file.people is None:
        yield "nobody judges: add [people] or [[judges]], or bring judgments in with `guildhall grade import`"
    lacking = [task.id for task in study.tasks if not (task.expert_files or task.expert_text)]
    if lacking and study.file.study.baseline == EXPERT:
        yield f"{len(lacking)} tasks have no expert's work and take no part in comparisons: {', '.join(lacking[:3])}"
    unseen = [task.id for task in study.tasks if any(file.digest is None for file in task.expert_files)]
    if unseen:
        yield f"an expert's file of {len(unseen)} tasks was never fetched, nobody is shown it: {', '.join(unseen[:3])}"


def _grouped(words: list[str]) -> list[str]:
    """Missing graders in three lines at most: the first two occupations, and how many more."""
    if len(words) <= 3:
        return words
    return [
        *words[:2],
        f"and graders are missing of {len(words) - 2} more occupations: larger sets ask for fewer of them",
    ]
