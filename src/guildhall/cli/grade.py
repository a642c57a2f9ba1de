"""`guildhall grade`: automatic graders compare and mark, and are held to account by people's judgments."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from guildhall.cli.executing import AddressOption, ExecutorOption, Where, chosen_executor
from guildhall.cli.grade_tables import grades_json, show_grades, show_marks, show_standings
from guildhall.cli.grade_training import account, apply, calibrate, examples, weigh
from guildhall.cli.progress import live_table
from guildhall.cli.show import as_json, as_json_line, done, note
from guildhall.cli.workspace import ChangedOption, JsonOption, WhyOption, WorkspaceOption

app = typer.Typer(no_args_is_help=True, help="Automatic graders: comparisons, rubrics, and how far to trust them.")

StudyOption = Annotated[Path, typer.Option("--study", "-s", help="The study file.")]
JudgesOption = Annotated[
    list[str] | None,
    typer.Option("--judge", "-j", help="A judge of the study, a baseline or a model; all of the study's without."),
]
AgainOption = Annotated[bool, typer.Option("--failed", help="Judge again what failed; the failures stay on record.")]
DEFAULT_STUDY = Path("study.toml")

app.command("account")(account)
app.command("calibrate")(calibrate)
app.command("apply")(apply)
app.command("weigh")(weigh)
app.command("examples")(examples)


@app.command("plan")
def plan(
    judge: JudgesOption = None,
    study: StudyOption = DEFAULT_STUDY,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Lay out the comparisons and count the verdicts to be asked for, before anything is spent."""
    from guildhall.store.workspace import Workspace
    from guildhall.study.judging import standings
    from guildhall.study.studies import OpenStudy

    with Workspace.find(workspace) as opened:
        report = standings(OpenStudy.open(study, opened), judge or [])
    if json:
        as_json(report)
    else:
        show_standings(report)


@app.command("judge")
def judge(
    judge: JudgesOption = None,
    sweeps: Annotated[int | None, typer.Option(min=1, max=99, help="How often every order is asked.")] = None,
    failed: AgainOption = False,
    changed: ChangedOption = False,
    why: WhyOption = None,
    executor: ExecutorOption = Where.HERE,
    address: AddressOption = None,
    study: StudyOption = DEFAULT_STUDY,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Let graders judge all pairs in both orders; stop and start again at will. Grades come back with intervals."""
    from dataclasses import asdict

    from guildhall.grading.judges.verdicts import AskingOutcome
    from guildhall.store.workspace import Workspace
    from guildhall.study.judges import graders_of
    from guildhall.study.judging import faults_of, grades_by, judge_study, progress_of
    from guildhall.study.stages import require_no_faults
    from guildhall.study.studies import OpenStudy

    with Workspace.find(workspace, patient=True) as opened:
        open_study = OpenStudy.open(study, opened, executor=chosen_executor(executor, address), changed=changed)
        graders = graders_of(open_study, judge or [])
        open_study.freeze(why=why)
        ended = {}
        for one in graders:
            standing = progress_of(open_study, one, again=failed, sweeps=sweeps)
            with live_table(one.name, standing, quiet=json or not one.repeats):
                ended[one.name] = judge_study(open_study, one, again=failed, sweeps=sweeps)
        rates = grades_by(open_study, list(ended))
    if json:
        as_json({name: {**asdict(ended[name]), "models": grades_json(rates[name])} for name in ended})
    for name, judged in ended.items() if not json else ():
        if rates[name]:
            show_grades(name, rates[name])
        else:
            note(f"{name} answered no round in every order, so there are no grades by it yet")
        done(f"{name}: {judged.verdicts} new verdicts, {judged.failures} new failures")
        if judged.left:
            note(f"{judged.left} were left: {judged.why_left}")
    require_no_faults(faults_of(sum(ended.values(), start=AskingOutcome())))


@app.command("pair")
def pair(
    brief: Annotated[Path, typer.Argument(help="The brief: a text file, or a folder with brief.md beside its files.")],
    first: Annotated[Path, typer.Argument(help="One work: a file or a folder.")],
    second: Annotated[Path, typer.Argument(help="The other work.")],
    model: Annotated[str, typer.Option("--model", "-m", help="Who judges; any Inspect model string.")],
    sweeps: Annotated[int, typer.Option(min=1, max=99, help="How often each order is asked.")] = 1,
    price: Annotated[bool, typer.Option("--price", help="Say what it would take, and send nothing.")] = False,
    keep: Annotated[
        Path | None, typer.Option(help="A workspace to keep the verdicts in; asked again, they cost nothing.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Compare two works on one brief in both orders, without a study; what it costs is said first."""
    from contextlib import ExitStack
    from dataclasses import asdict
    from tempfile import TemporaryDirectory

    from guildhall.cli.grade_tables import expected_words, pair_json, show_pair
    from guildhall.store.workspace import Workspace
    from guildhall.study.pairs import open_pair

    with ExitStack() as stack:
        folder = keep or Path(stack.enter_context(TemporaryDirectory(prefix="guildhall-pair-"))) / "workspace"
        workspace = stack.enter_context(Workspace.create(folder))
        opened = stack.enter_context(open_pair(brief, (first, second), model=model, workspace=workspace, sweeps=sweeps))
        expected = opened.expected()
        for which, problem in opened.problems:
            note(f"the {which} work: {problem.file or 'its message'} {problem.words}")
        note(f"{model}: {expected_words(expected)}")
        answer = None if price else opened.ask()
    if json:
        as_json({"expected": asdict(expected), "answer": None if answer is None else pair_json(answer)})
    elif answer is not None:
        show_pair(answer, first=str(first), second=str(second))
    if answer is not None and answer.score is None:
        raise typer.Exit(6)  # one of the orders has no verdict: nothing is said of which work is better


@app.command("status")
def status(study: StudyOption = DEFAULT_STUDY, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Count verdicts and failures of each grader, and what is still to be asked."""
    plan(None, study, workspace, json)


@app.command("rubric")
def rubric(
    judge: Annotated[str, typer.Option("--judge", "-j", help="The judge's model.")],
    whole: Annotated[bool, typer.Option("--whole", help="All items in one call, for economy.")] = False,
    sweeps: Annotated[int, typer.Option(min=1, max=99, help="How often every submission is marked.")] = 1,
    failed: AgainOption = False,
    executor: ExecutorOption = Where.HERE,
    address: AddressOption = None,
    study: StudyOption = DEFAULT_STUDY,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Hold every submission against its rubric, item by item, with a quotation for each verdict."""
    from guildhall.store.workspace import Workspace
    from guildhall.study.deriving import rubric_scores
    from guildhall.study.judges import plan_of
    from guildhall.study.judging import faults_of, mark_study, marks_of
    from guildhall.study.stages import require_no_faults
    from guildhall.study.studies import OpenStudy

    with Workspace.find(workspace, patient=True) as opened:
        open_study = OpenStudy.open(study, opened, executor=chosen_executor(executor, address))
        plan = plan_of(open_study, judge)
        marked = mark_study(open_study, plan, whole=whole, sweeps=sweeps, again=failed)
        scores = rubric_scores(marks_of(open_study))
    if json:
        as_json({"items": marked.verdicts, "failures": marked.failures, "left": marked.left, "scores": scores})
    else:
        show_marks(scores)
        done(f"{marked.verdicts} items judged, {marked.failures} without a readable verdict")
    require_no_faults(faults_of(marked))


class MadeBy(StrEnum):
    HUMAN = "human"
    JUDGE = "judge"


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="CSV, TSV, JSON, JSON Lines, Parquet, an export of Label Studio.")],
    by: Annotated[MadeBy, typer.Option("--as", help="Whose judgments they are.")],
    mapping: Annotated[
        Path | None, typer.Option("--map", help="The mapping file: which column holds what.", show_default=False)
    ] = None,
    study: Annotated[
        str | None, typer.Option("--study", help="The study's id, unless the mapping brings one.", show_default=False)
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Take back what this name brought before.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Bring in judgments made elsewhere, all or none; the study reports them like its own."""
    from guildhall.grading.elsewhere import import_votes
    from guildhall.judging.vote_files import VoteMapping
    from guildhall.store.workspace import Workspace

    with Workspace.find(workspace) as opened:
        read = VoteMapping.read(mapping)
        made = import_votes(opened, file, read, by=by.value, study=study, replace=replace)
    if json:
        as_json(vars(made))
        return
    done(f"{made.study}: {made.new} new of {made.rows} judgments by {made.raters} graders, on {made.tasks} tasks")
    if made.taken_back:
        note(f"{made.taken_back} judgments of an earlier file of this name are taken back")
    if made.without_verdict:
        note(f"{made.without_verdict} of them state no verdict; they are counted, and are no ties")
    note(f"`guildhall grade take-back {file.name} --study {made.study}` takes them back")


@app.command("take-back")
def take_back(
    study: Annotated[str, typer.Option("--study", help="The study's id.")],
    file: Annotated[
        str | None, typer.Argument(help="The file's name; without one, files that came in are listed.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Set aside the judgments that a file brought: they are kept, and no longer count."""
    from guildhall.grading import elsewhere
    from guildhall.store.workspace import Workspace

    with Workspace.find(workspace) as opened:
        gone = None if file is None else elsewhere.take_back(opened.store, study, file)
        standing = elsewhere.imports_of(opened.store, study)
    if json:
        as_json({"taken_back": gone, "standing": standing})
        return
    if gone is not None:
        done(f"{gone} judgments are taken back")
    for name, count in standing.items():
        typer.echo(f"{name}: {count} judgments")


@app.command("export")
def export(
    shape: Annotated[str, typer.Option(help="chat or reward.")] = "chat",
    study: StudyOption = DEFAULT_STUDY,
    workspace: WorkspaceOption = None,
) -> None:
    """Print people's judgments as preference data for fine-tuning, one JSON line a pair, without any author."""
    from guildhall.grading.judges.example_making import preference_rows
    from guildhall.store.workspace import Workspace
    from guildhall.study.judging import desk_of, queued
    from guildhall.study.studies import OpenStudy

    with Workspace.find(workspace) as opened:
        open_study = OpenStudy.open(study, opened)
        with desk_of(open_study) as desk:
            for row in preference_rows(queued(open_study).comparisons, desk, shape=shape):
                as_json_line(row)


@app.command("ungradable")
def ungradable(
    task: Annotated[str | None, typer.Argument(help="A task to mark by hand; without one, all are listed.")] = None,
    reason: Annotated[str | None, typer.Option(help="Why, in words.")] = None,
    by: Annotated[str, typer.Option(help="Who says so.")] = "manager",
    gradable: Annotated[bool, typer.Option("--gradable", help="Overrule the rule: it can be graded.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List the tasks no automatic judge can grade, with the reason, or mark one by hand."""
    from guildhall.store.workspace import Workspace
    from guildhall.study.judges import mark_task, ungradable_tasks

    with Workspace.find(workspace) as opened:
        if task is not None:
            mark_task(opened, task, gradable=gradable, reason=reason, by=by)
        found = ungradable_tasks(opened)
    if json:
        as_json(found)
        return
    for name, why in found.items():
        typer.echo(f"{name}: {why}")
    done(f"{len(found)} tasks cannot be graded automatically")
