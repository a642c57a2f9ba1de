"""The work behind `guildhall peer run`: domains one after the other, with a bar that shows counts and cost so far."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer

from guildhall.analysis.boswell.run_figures import run_figures
from guildhall.cli.show import as_json, done, note
from guildhall.domain.boswell import RunRecord
from guildhall.engine.calls import Call, Reply
from guildhall.errors import InputError
from guildhall.peer.deliverables import find_study
from guildhall.peer.domains import find_domain
from guildhall.peer.loading import with_suggestions
from guildhall.peer.local_model import find_gguf, local_models, served
from guildhall.peer.plan import PeerModel
from guildhall.peer.reader import Descriptors
from guildhall.peer.session import Options, Started, plan_of, run_domain, run_study, start, study_plan
from guildhall.peer.statements import LADDER, RECOVERY
from guildhall.reports.boswell_files import write_run_report
from guildhall.store.workspace import Workspace


@contextmanager
def taking_part(
    models: Sequence[PeerModel], *, local: bool, local_file: Path | None
) -> Iterator[tuple[PeerModel, ...]]:
    """The models named, and the local one under three settings while its server runs."""
    if not local:
        yield tuple(models)
        return
    with served(find_gguf(local_file)) as base_url:
        yield (*models, *local_models(base_url))


def run_test(
    domains: Sequence[str],
    models: Sequence[PeerModel],
    options: Options,
    *,
    study: str | None,
    results: Path,
    workspace_path: Path | None,
    infer: Descriptors | None,
    json: bool,
) -> None:
    """Plan, run and report each domain, and the study where one is named."""
    if len(models) < 2:
        raise InputError("a Boswell Test takes at least two models; name them with --model or --models")
    if not domains and study is None:
        raise InputError("name what is written about with --domain, or whose deliverables are marked with --study")
    chosen = [find_domain(name) for name in domains]
    facts = []
    with Workspace.find(workspace_path, patient=True) as workspace:
        for domain in chosen:
            started = start(plan_of(domain, models, options), results=results, now=datetime.now(UTC))
            with _progress(started) as heard:
                record = run_domain(started, domain, options, workspace=workspace, clock=time.time, on_reply=heard)
            facts.append(_reported(started, record, infer))
        if study is not None:
            started, record = _run_study(study, models, options, results=results, workspace=workspace)
            facts.append(_reported(started, record, infer))
    if json:
        as_json(facts)
        return
    for fact in facts:
        done(
            f"{fact['run']}: {fact['essays']} essays, {fact['marks']} marks ({fact['without_grade']} without a grade); "
            f"see {fact['folder']}/report.html"
        )


def _run_study(
    name: str, models: Sequence[PeerModel], options: Options, *, results: Path, workspace: Workspace
) -> tuple[Started, RunRecord]:
    from guildhall.documents.looking import documents
    from guildhall.judging.preparing import Preparer
    from guildhall.study.people import people_results

    study = find_study(workspace, name)
    started = start(study_plan(study, models, options), results=results, now=datetime.now(UTC))
    with documents(workspace.path / "cache") as looking, _progress(started) as heard:
        preparer = Preparer(workspace, looking)
        record = run_study(
            started,
            study,
            options,
            workspace=workspace,
            preparer=preparer,
            clock=time.time,
            human=people_results(workspace, study),
            on_reply=heard,
        )
    return started, record


def _reported(started: Started, record: RunRecord, infer: Descriptors | None) -> dict[str, Any]:
    """Write a run's reports and say in short what came of it."""
    found = run_figures(with_suggestions(record, infer) if infer else record, families=started.plan.families)
    write_run_report(started.folder, found)
    for mark, author, grader in record.cells():
        if mark.reading.grade is not None and LADDER[mark.reading.rule].tier == RECOVERY:
            note(f"recovered a grade by the rule `{mark.reading.rule}`: {grader} gave {author} {mark.reading.grade}")
    return {
        "run": record.run,
        "folder": str(started.folder),
        "resumed": started.resumed,
        "essays": len(record.essays),
        "marks": len(record.marks),
        "without_grade": found.tables.unread,
        "first": found.quotients.scores[0].model,
    }


def _announce(started: Started) -> None:
    if started.resumed:
        note(f"going on with {started.run}")
    else:
        note(f"{started.run}: {started.plan.calls} calls, follow-up questions apart")


@contextmanager
def _progress(started: Started) -> Iterator[Callable[[Call, Reply], None]]:
    """A bar on standard error: calls answered, cost so far, time left."""
    _announce(started)
    costs: list[float | None] = []
    with typer.progressbar(length=started.plan.calls, label=started.plan.domain, file=sys.stderr) as bar:

        def heard(_call: Call, reply: Reply) -> None:
            costs.append(reply.usage.cost_usd)
            known = [cost for cost in costs if cost is not None]
            shown = f"${sum(known):.4f}" if len(known) == len(costs) else "price unknown"
            bar.label = f"{started.plan.domain} ({shown})"
            if len(costs) <= started.plan.calls:
                bar.update(1)

        yield heard
