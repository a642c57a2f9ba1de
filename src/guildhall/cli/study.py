"""`guildhall study`: the whole job from one study file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from guildhall.cli.executing import AddressOption, ExecutorOption, Where, chosen_executor
from guildhall.cli.progress import live_table
from guildhall.cli.show import (
    as_json,
    done,
    drawn_rows,
    note,
    show_budgets,
    show_drawn,
    table,
    with_ends,
)
from guildhall.cli.show_study import show_forecast, show_grading, show_offers, show_stages
from guildhall.cli.workspace import ChangedOption, JsonOption, WhyOption, WorkspaceOption
from guildhall.errors import InputError

app = typer.Typer(no_args_is_help=True, help="The whole job from one study file: planned, run, resumed.")

StudyFileArgument = Annotated[Path, typer.Argument(help="The study file.")]


@app.command("new")
def new(
    path: StudyFileArgument = Path("study.toml"),
    study_id: Annotated[str, typer.Option("--id", help="A short name without blanks.")] = "my-study",
    title: Annotated[str, typer.Option(help="One line that says what it is about.")] = "My study",
    gold: Annotated[
        bool, typer.Option("--gold", help="For the bank at hand: three budgets, and what each takes and shows.")
    ] = False,
    budget: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="With --gold: look, ranking or publication.", show_default=False),
    ] = None,
    model: Annotated[Optional[list[str]], typer.Option(help="With --gold: a model; repeat it.")] = None,  # noqa: UP045
    judge: Annotated[Optional[str], typer.Option(help="With --gold: a judge's model.")] = None,  # noqa: UP045
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Write a study file to start from."""
    from guildhall.study.file import new_study
    from guildhall.study.planning import gold_file

    models = model or ["scripted/careful", "scripted/careless"]
    if gold:
        rows = _budgets(models, workspace)
        if budget is None or not json:
            show_budgets(rows, json=json)
        if budget is None:
            return
    text = gold_file(study_id, title, models, budget, judge=judge) if gold and budget else None
    made = new_study(path, study_id=study_id, title=title, text=text)
    if json:
        as_json({"study": str(made)})
    else:
        done(f"{made} is ready: edit it, then `guildhall study plan {made}`")


def _budgets(models: list[str], workspace: Path | None) -> list[dict[str, Any]]:
    from dataclasses import asdict
    from datetime import UTC, datetime

    from guildhall.engine.prices import Prices
    from guildhall.store.workspace import Workspace
    from guildhall.study.planning import budgets_of
    from guildhall.taskbank.listing import newest_tasks

    with Workspace.find(workspace) as opened:
        tasks = newest_tasks(opened.store)
    if not tasks:
        raise InputError("the workspace holds no task; `guildhall tasks import openai/gdpval` brings the gold set in")
    return [asdict(one) for one in budgets_of(tasks, models, Prices(), at=datetime.now(UTC))]


@app.command("extend")
def extend(
    author: Annotated[str, typer.Option(help="What the new author is called.")],
    model: Annotated[str, typer.Option(help="Its model, as Inspect names it.")],
    path: StudyFileArgument = Path("study.toml"),
    study_id: Annotated[Optional[str], typer.Option("--id", help="The wave's own id.", show_default=False)] = None,  # noqa: UP045
    anchors: Annotated[float, typer.Option(help="Share of the judged pairs that are judged again.")] = 0.1,
    drift_limit: Annotated[float, typer.Option(help="Past this drift the waves are not pooled.")] = 0.05,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Add a model to a study that was judged: write the file of a later wave, with anchors to see drift."""
    from guildhall.store.workspace import Workspace
    from guildhall.study.extending import extend_study
    from guildhall.study.file import ExtendsSection

    extends = ExtendsSection(file=Path(path.name), anchors=anchors, drift_limit=drift_limit)
    with Workspace.find(workspace) as opened:
        made = extend_study(opened, path, extends, study_id=study_id, author=author, model=model)
    if json:
        as_json({"study": str(made.path), "anchors": made.anchors, "judged_pairs": made.judged_pairs})
    else:
        again = f"{made.anchors} of {made.judged_pairs} judged pairs are judged again"
        done(f"{made.path} is ready ({again}): `guildhall study plan {made.path}`, then `run`")


@app.command("plan")
def plan(
    path: StudyFileArgument = Path("study.toml"),
    register: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Freeze the study, and write its design and plan into this folder.", show_default=False),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Show what would be done, and what it would take, before anything is spent."""
    from guildhall.store.workspace import Workspace
    from guildhall.study.people import drawn_beforehand
    from guildhall.study.reporting import write_registration
    from guildhall.study.stages import STAGES, preflight
    from guildhall.study.studies import OpenStudy

    with Workspace.find(workspace) as opened:
        study = OpenStudy.open(path, opened)
        reports = {stage.name: stage.plan(study) for stage in STAGES}
        facts = {"study": study.id, "digest": study.frozen().key, "tasks": len(study.tasks), **reports}
        drawn, assumed = drawn_beforehand(study) if reports["people"] else ([], None)
        facts |= {"drawn": drawn_rows(drawn)} if drawn else {}
        ready = preflight(study)
        facts |= {"in_the_way": list(map(str, ready.faults)), "notes": list(ready.notes)}
        written = () if register is None else write_registration(study.freeze(), register)
        facts |= {"registered": [str(one) for one in written]} if written else {}
    if json:
        as_json(facts)
    else:
        if assumed is not None:
            show_drawn(drawn, assumed, tasks=len(study.tasks))
        for one in written:
            done(f"{one} is written; every report of this study prints its digest")
        show_forecast(f"{study.id}: {len(study.tasks)} tasks", reports["sampling"])
        show_grading(reports["people"], reports["judging"])
        for words in (*ready.notes, *(f"before it can run: {fault}" for fault in ready.faults)):
            note(words)


@app.command("next")
def next_hour(
    path: StudyFileArgument = Path("study.toml"),
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Say what the next hours of people's work are best spent on, of a study that people have begun to judge."""
    from guildhall.store.workspace import Workspace
    from guildhall.study.people import next_best
    from guildhall.study.studies import OpenStudy

    with Workspace.find(workspace) as opened:
        study = OpenStudy.open(path, opened)
        offers, occupation, assumed = next_best(study)
    if json:
        rows = [{**asdict(one), "narrower_per_hour": one.narrower_per_hour} for one in offers]
        best = None if occupation is None else {"occupation": occupation[0], "takes_off_variance": occupation[1]}
        as_json({"study": study.id, "offers": rows, "occupation": best, "assumed": asdict(assumed)})
    else:
        show_offers(study.id, offers, occupation, assumed)


@app.command("run")
def run(
    path: StudyFileArgument = Path("study.toml"),
    changed: ChangedOption = False,
    why: WhyOption = None,
    executor: ExecutorOption = Where.HERE,
    address: AddressOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Run the study; stop it at any time and run it again to go on where it stopped."""
    from guildhall.store.verdict_parts import close_parts
    from guildhall.store.workspace import Workspace
    from guildhall.study.stages import STAGES, preflight, require_no_faults
    from guildhall.study.studies import OpenStudy

    with Workspace.find(workspace, patient=True) as opened:
        study = OpenStudy.open(path, opened, executor=chosen_executor(executor, address), changed=changed)
        ready = preflight(study)
        ready.require_none()
        for words in ready.notes if not json else ():
            note(words)
        frozen = study.freeze(why=why)
        reports: dict[str, Any] = {}
        for stage in STAGES:
            standing = stage.progress(study)
            with live_table(f"{study.id}: {stage.name}", standing or dict, quiet=json or standing is None):
                reports[stage.name] = stage.run(study)
        close_parts(opened.store, opened.verdict_parts)
    if json:
        as_json({"study": study.id, "digest": frozen.key, **reports})
    else:
        show_stages(study.id, reports)
    for report in reports.values():
        require_no_faults(report)


@app.command("status")
def status(
    path: StudyFileArgument = Path("study.toml"), workspace: WorkspaceOption = None, json: JsonOption = False
) -> None:
    """Say how the study stands and what it has cost."""
    from guildhall.store.workspace import Workspace
    from guildhall.study.stages import STAGES
    from guildhall.study.studies import OpenStudy, newer_words

    with Workspace.find(workspace) as opened:
        study = OpenStudy.open(path, opened)
        reports = {stage.name: stage.status(study) for stage in STAGES}
        newer = study.newer
    if json:
        as_json({"study": study.id, **reports, "newer_versions": newer})
    else:
        show_stages(study.id, reports)
        if words := newer_words(len(newer)):
            note(words)


@app.command("show")
def show(
    study: Annotated[str, typer.Argument(help="The study's id.")],
    toml: Annotated[bool, typer.Option("--toml", help="As a study file: for one begun in the browser.")] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Show a study as it was kept: as JSON, or as the file that makes it again."""
    from guildhall.store.wordings import newest_study
    from guildhall.store.workspace import Workspace
    from guildhall.study.designing import file_of_study

    with Workspace.find(workspace) as opened:
        kept = newest_study(opened.store, study)
        text = file_of_study(opened.store, kept) if toml else None
    if text is None:
        as_json(kept)
    else:
        typer.echo(text, nl=False)


@app.command("report")
def report(
    path: StudyFileArgument = Path("study.toml"),
    out: Annotated[Path, typer.Option(help="The folder to write into.")] = Path("report"),
    graders: Annotated[Optional[str], typer.Option(help="The kind of graders.", show_default=False)] = None,  # noqa: UP045
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Write the report of a study file's study, from the judgments that are there."""
    from guildhall.cli.report import report as written
    from guildhall.study.file import read_study

    written(read_study(path).study.id, out=out, graders=graders, workspace=workspace, json=json)


@app.command("export")
def export(
    study: Annotated[str, typer.Argument(help="The study's id.")],
    out: Annotated[Path, typer.Option(help="The file to write: .csv, .jsonl or .parquet.")] = Path("judgments.csv"),
    graders: Annotated[Optional[str], typer.Option(help="The group of graders.", show_default=False)] = None,  # noqa: UP045
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Write a study's judgments with a code book beside them; models go by code names until two people unblind it."""
    from guildhall.store.wordings import newest_study
    from guildhall.store.workspace import Workspace
    from guildhall.study.exports import write_export

    with Workspace.find(workspace) as opened:
        written = write_export(opened, newest_study(opened.store, study), out, graders=graders)
    if json:
        as_json({"rows": written.rows, "file": str(out), "code_book": str(written.code_book)})
    else:
        done(f"{written.rows} rows written to {out}; {written.code_book} says what the columns mean")


@app.command("rows")
def rows(
    study: Annotated[str, typer.Argument(help="The study's id.")],
    where: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(metavar="COLUMN=WORD", help="Only such rows; a column of judgments.csv.", show_default=False),
    ] = None,
    out: Annotated[Optional[Path], typer.Option(help="A CSV file to write them to.", show_default=False)] = None,  # noqa: UP045
    baseline: Annotated[Optional[str], typer.Option(help="If not the study's own.", show_default=False)] = None,  # noqa: UP045
    graders: Annotated[Optional[str], typer.Option(help="The kind of graders.", show_default=False)] = None,  # noqa: UP045
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Show the judgments behind a number of a report, by digest, and the rates these very judgments give."""
    from guildhall.store.wordings import newest_study
    from guildhall.store.workspace import Workspace
    from guildhall.study.evidence import read_evidence
    from guildhall.study.exports import csv_of
    from guildhall.study.reporting import trace

    with Workspace.find(workspace) as opened:
        kept = newest_study(opened.store, study)
        evidence = read_evidence(opened, kept, baseline=baseline, graders=graders, needs=())
        found = trace(opened.store, evidence, columns_asked(where or []))
    if out is not None:
        out.write_bytes(csv_of(found.frame()))
    if json:
        rates = [{"model": one.model, "wins": one.wins, "ties": one.ties, "losses": one.losses} for one in found.rates]
        as_json({"rows": len(found.rows), "judgments": list(found.judgments), "rates": rates})
        return
    told = [
        (one.model, one.wins, one.ties, one.losses, *(with_ends(each.value, each.interval) for each in one[4:7]))
        for one in found.rates
    ]
    table(
        f"{study}: {len(found.rows)} rows by {evidence.group} graders",
        ("model", "wins", "ties", "losses", "win", "win or tie", "half tie"),
        told,
        numeric=(1, 2, 3),
    )
    if out is not None:
        done(f"written to {out}, each row with the digest of its judgment")


def columns_asked(given: list[str]) -> dict[str, str]:
    """`COLUMN=WORD` as a mapping."""
    pairs = [text.partition("=") for text in given]
    if any(not (name and equals) for name, equals, _ in pairs):
        raise InputError("--where takes COLUMN=WORD")
    return {name: word for name, _, word in pairs}
