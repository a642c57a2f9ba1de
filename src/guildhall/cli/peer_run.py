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
from guildhall.engine.models import config_of, open_model, require_known
from guildhall.engine.terms import Limits, Pace
from guildhall.errors import InputError, NothingMarked
from guildhall.peer.deliverables import find_study
from guildhall.peer.domains import Domain, find_domain, question_domain
from guildhall.peer.loading import with_suggestions
from guildhall.peer.local_model import find_gguf, local_models, served
from guildhall.peer.plan import PeerModel, expected_usd
from guildhall.peer.reader import Descriptors
from guildhall.peer.session import Options, Started, plan_of, run_domain, run_study, start, study_plan
from guildhall.peer.statements import LADDER, RECOVERY
from guildhall.reports.boswell_files import write_run_report
from guildhall.store.workspace import Workspace

ENOUGH_TO_HOLD_EACH_OTHER = 4


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
    json: bool,
) -> None:
    """Plan, run and report each domain, and the study where one is named."""
    _require_able(models)
    if not domains and study is None:
        raise InputError("name what is written about with --domain, or whose deliverables are marked with --study")
    chosen = [find_domain(name) for name in domains]
    _require_keys(models)
    with Workspace.find(workspace_path, patient=True) as workspace:
        facts = [_run_one(one, models, options, results=results, workspace=workspace) for one in chosen]
        if study is not None:
            started, record = _run_study(study, models, options, results=results, workspace=workspace)
            facts.append(_reported(started, record, options.infer))
    _tell(facts, json=json)


def ask_question(
    question: str,
    models: Sequence[PeerModel],
    options: Options,
    *,
    words: tuple[int, int],
    results: Path,
    price: bool,
    json: bool,
) -> None:
    """A question of the user's own, answered and marked by models; what it would take is said before any call."""
    domain = question_domain(question, words=words)
    _require_able(models)
    plan = plan_of(domain, models, options)
    usd = expected_usd(plan, words=domain.words[1], at=datetime.now(UTC))
    note(f"{plan.calls} calls by {len(models)} models, {'price unknown' if usd is None else f'about ${usd:,.2f}'}")
    if price:
        if json:
            as_json({"calls": plan.calls, "usd": usd})
        return
    _require_keys(models)
    with Workspace.create(results / "workspace") as workspace:
        fact = _run_one(domain, models, options, results=results, workspace=workspace)
    _tell([fact], json=json)


def _require_able(models: Sequence[PeerModel]) -> None:
    """Enough models, all of them known, before a folder is made or a call is paid for; what few cannot show is said."""
    if len(models) < 2:
        raise InputError("a Boswell Test takes at least two models; name them with --model or --models")
    require_known(one.model for one in models)
    if len(models) < ENOUGH_TO_HOLD_EACH_OTHER:
        note(
            f"with {len(models)} models no grader's marks can be held against the others': quotients will have two of "
            f"three components and no interval; {ENOUGH_TO_HOLD_EACH_OTHER} models have both"
        )


def _require_keys(models: Sequence[PeerModel]) -> None:
    for one in models:
        open_model(one.model, one.settings, config_of(one.settings, pace=Pace(), limits=Limits()))


def _run_one(
    domain: Domain,
    models: Sequence[PeerModel],
    options: Options,
    *,
    results: Path,
    workspace: Workspace,
) -> dict[str, Any]:
    started = start(plan_of(domain, models, options), results=results, now=datetime.now(UTC))
    with _progress(started) as heard:
        record = run_domain(started, domain, options, workspace=workspace, clock=time.time, on_reply=heard)
    return _reported(started, record, options.infer)


def _tell(facts: Sequence[dict[str, Any]], *, json: bool) -> None:
    """What came of each run; a run without one readable grade is none, whatever its files say."""
    if json:
        as_json(facts)
    for fact in () if json else facts:
        done(
            f"{fact['run']}: {fact['essays']} essays, {fact['marks']} marks ({fact['without_grade']} without a grade); "
            f"see {fact['folder']}/report.html"
        )
    if any(fact["marks"] == fact["without_grade"] for fact in facts):
        raise NothingMarked()


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
