"""The stages of a study, in order. A stage that joins the study adds its class to `STAGES`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from pydantic import JsonValue

from guildhall.domain.submissions import OUR_FAULT, StopReason
from guildhall.engine.evals import AgentRun
from guildhall.errors import FaultsOfOurs, NothingDelivered
from guildhall.sampling.plan import SampleItem
from guildhall.sampling.running import forecast, reopen_failed, run_samples, sampling_status
from guildhall.study.judging import Judging
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
