"""`guildhall tasks stats`, `screen`, `tag` and `release`: what a bank holds, advice on it, its public subset."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from guildhall.cli.review_acts import at_desk
from guildhall.cli.show import as_json, done, note, table
from guildhall.cli.workspace import JsonOption, WorkspaceOption
from guildhall.taskbank.review.standing import ReviewFigures
from guildhall.taskbank.statistics import BankCoverage, BankStatistics, Summary, paper_figures

if TYPE_CHECKING:
    from guildhall.domain.tasks import Task
    from guildhall.grading.people import Roster
    from guildhall.taskbank.release import Licence


def show_review(found: ReviewFigures) -> None:
    """What became of drafts, for a bank that has any."""
    if not found.tasks:
        return
    rate = "none decided" if found.acceptance_rate is None else f"{found.acceptance_rate:.1%}"
    rows = [
        ("Drafts", f"{found.tasks}: {found.accepted} accepted, {found.rejected} rejected, {found.open} open"),
        ("Acceptance rate", rate),
        ("Reviews per task", "none" if found.reviews_per_task is None else f"{found.reviews_per_task:.2f}"),
        ("Versions per task", "none" if found.versions_per_task is None else f"{found.versions_per_task:.2f}"),
    ]
    table("Review", ["", ""], rows)


def show_statistics(found: BankStatistics, gold: BankStatistics | None, *, target: int) -> None:
    """The counts, then the paper's tables: the gold subset beside the full set, and the paper's own figures."""
    paper, sets = paper_figures(), {"full": found, **({"gold": gold} if gold else {})}
    counts = [
        ("Tasks", found.tasks),
        ("Sectors", found.sectors),
        ("Occupations", found.occupations),
        ("Reference files", f"{found.reference_files} in {found.tasks_with_reference_files} tasks"),
        ("Expert files", f"{found.deliverable_files} in {found.tasks_with_expert_files} tasks"),
        ("Rubric items", f"{found.rubric_items}, of which {found.negative_rubric_items} negative"),
        (f"Occupations of {target} tasks or more", sum(n >= target for n in found.tasks_by_occupation.values())),
    ]
    if found.tasks:
        counts.append(("Tasks with a reference file", f"{found.tasks_with_reference_files / found.tasks:.1%}"))
    table("The bank", ["", ""], counts)
    table("Tasks by sector", ["sector", "tasks"], found.tasks_by_sector.items(), numeric=[1])
    short = [(occupation, n) for occupation, n in found.tasks_by_occupation.items() if n < target]
    if short:
        table(f"Occupations of fewer than {target} tasks", ["occupation", "tasks"], short, numeric=[1])
    for title, field in (
        ("Quality, difficulty, length, value", "quality_and_length"),
        ("Files per task", "files_per_task"),
    ):
        rows = [_cells(name, row) for name, one in sets.items() for row in getattr(one, field)]
        named = {row[0] for row in rows}
        rows += [
            [measure, of, *(f"{value:,.2f}" for value in values), ""]
            for of, measures in paper.summaries.items()
            for measure, values in measures.items()
            if measure in named
        ]
        columns = ["", "of", "mean", "std", "min", "25%", "50%", "75%", "max", "unknown"]
        table(title, columns, sorted(rows, key=lambda row: row[0]), numeric=list(range(2, 10)))
    covered = [_coverage(name, row) for name, one in sets.items() for row in one.onet]
    covered += [(name, "paper, gold", n, of, f"{n / of:.1%}", "") for name, (n, of) in paper.coverage.items()]
    columns = ["", "of", "distinct", "in O*NET", "share", "tasks tagged"]
    table("O*NET coverage", columns, sorted(covered, key=lambda row: str(row[0])), numeric=[2, 3, 4, 5])
    for row in found.onet:
        if row.strange:
            note(f"{row.name}: not O*NET's, and covering nothing: {', '.join(row.strange)}")
    labels: list[tuple[object, ...]] = [
        (label, of, count, f"{count / sum(one.specification.values()):.2%}")
        for of, one in sets.items()
        for label, count in one.specification.items()
    ]
    labels += [
        (label, of, "", f"{share:.2f}%") for of, one in paper.specification.items() for label, share in one.items()
    ]
    shown = sorted(labels, key=lambda row: str(row[0]))
    table("How well briefs are specified", ["label", "of", "tasks", "share"], shown, numeric=[2, 3])


def _coverage(of: str, row: BankCoverage) -> tuple[object, ...]:
    distinct = "not recorded" if row.distinct is None else row.distinct
    listed = "unknown" if row.published is None else row.published
    return (row.name, of, distinct, listed, "" if row.share is None else f"{row.share:.1%}", row.tasks_tagged)


def _cells(of: str, row: Summary) -> list[str]:
    if row.recorded == 0:
        return [row.name, of, *[""] * 7, f"all {row.not_recorded}"]
    values = (row.mean, row.std, row.min, row.q25, row.median, row.q75, row.max)
    shown = ["" if value is None else f"{value:,.2f}" for value in values]
    return [row.name, of, *shown, str(row.not_recorded) if row.not_recorded else ""]


def stats(
    onet: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="A folder with O*NET's Task Statements, for the share of tasks covered."),
    ] = None,
    where: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="Only tasks with, for example, occupation=Editors or ids=FILE; repeat it."),
    ] = None,
    gold: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="The gold subset: a release's folder, or a file of task ids; shown beside the full set."),
    ] = None,
    target: Annotated[int, typer.Option(min=1, help="Tasks an occupation should have.")] = 30,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Count the bank and give the paper's Tables 3 to 7 beside its own; what was not recorded says so."""
    from guildhall.errors import InputError
    from guildhall.store.workspace import Workspace
    from guildhall.taskbank.banks import bank_of
    from guildhall.taskbank.listing import TaskFilter, newest_tasks, task_ids
    from guildhall.taskbank.review.histories import all_histories
    from guildhall.taskbank.review.standing import review_figures
    from guildhall.taskbank.statistics import bank_statistics

    with Workspace.find(workspace) as opened:
        tasks = newest_tasks(opened.store, TaskFilter.parse(where or ()))
        reviewed = review_figures(all_histories(opened.store))
    published = _published(onet, tasks) if onet else None
    found, subset = bank_statistics(tasks, published_tasks=published), None
    if gold is not None:
        ids = set(task_ids(gold))
        chosen = [task for task in tasks if task.id in ids]
        if not chosen:
            raise InputError(f"{gold} names no task of this bank; give a release of it, or a file of its task ids")
        subset = bank_statistics(chosen, published_tasks=published)
    bank = bank_of(tasks)
    if json:
        more = {
            "review": reviewed.model_dump(mode="json"),
            "paper": paper_figures().model_dump(mode="json"),
            "bank": bank,
        }
        as_json(found.model_dump(mode="json") | more | ({"gold": subset.model_dump(mode="json")} if subset else {}))
    else:
        done(f"{bank.name}: {bank.tasks} tasks, digest {bank.digest}")
        show_statistics(found, subset, target=target)
        for source, count in bank.sources.items():
            note(f"{count} figures from: {source}")
        show_review(reviewed)


def _published(onet: Path, tasks: Sequence[Task]) -> int:
    from guildhall.occupations.tasks import published_tasks

    published = published_tasks(onet, (task.occupation for task in tasks))
    for title in published.without:
        note(f"O*NET lists no tasks for {title}; they are not in the total")
    return len(published.tasks)


def screen(
    model: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="An Inspect model string; only the shipped rules when absent."),
    ] = None,
    max_usd: Annotated[Optional[float], typer.Option(help="What asking may cost at most.")] = None,  # noqa: UP045
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Screen drafts that were not screened yet. Screening suggests; it changes and decides nothing."""
    from guildhall.engine.terms import Limits
    from guildhall.store.workspace import Workspace
    from guildhall.study.reviewing import ScreeningSettings, ready_all, screen_all, unscreened
    from guildhall.taskbank.review.screening import RULE

    with Workspace.find(workspace) as opened:
        made = ready_all(opened, unscreened(opened, RULE), clock=time.time)
        if model is not None:
            wanted = ScreeningSettings(model=model, limits=Limits(run_usd=max_usd))
            made += screen_all(opened, unscreened(opened, model), wanted, clock=time.time)
    if json:
        as_json(made)
        return
    rows = [(one.draft, one.screener, part.criterion, part.opinion, part.words) for one in made for part in one.advice]
    table(f"{len(made)} screenings", ["draft", "by", "point", "opinion", "words"], rows)


def tag(
    file: Annotated[Path, typer.Argument(help="The file of proposals, to write or to take up.")],
    model: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="An Inspect model string that proposes tags; absent, the confirmed lines are taken up."),
    ] = None,
    onet: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="A folder with O*NET's Task Statements, to propose tasks of the occupations too."),
    ] = None,
    max_usd: Annotated[Optional[float], typer.Option(help="What asking may cost at most.")] = None,  # noqa: UP045
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Propose O*NET tags for untagged tasks with --model; without it, take up the lines that people confirmed."""
    from guildhall.engine.oneshot import run_calls
    from guildhall.engine.terms import Limits, Terms
    from guildhall.errors import InputError
    from guildhall.occupations.tasks import statements_of
    from guildhall.taskbank.listing import newest_tasks
    from guildhall.taskbank.onet import confirmed, propose, write_proposals

    with at_desk(workspace) as desk:
        store, people = desk.workspace.store, [member.code_name for member in desk.roster.everyone()]
        tasks = [task for task in newest_tasks(store) if not (task.onet.skills or task.onet.work_activities)]
        if model is None:
            found = confirmed(file, people=people)
            tagged = [task.but(version=task.version + 1, onet=found[task.id]) for task in tasks if task.id in found]
            if not tagged:
                raise InputError(f"{file} confirms no tag of an untagged task; write a code name into `confirmed_by`")
            store.add_all(tagged)
            as_json({"tagged": len(tagged)}) if json else done(f"{len(tagged)} tasks tagged, each as a new version")
            return
        terms = Terms(run=f"tags by {model}", limits=Limits(run_usd=max_usd))
        statements = statements_of(onet, {task.occupation for task in tasks}) if onet else {}
        rows = propose(
            tasks,
            model=model,
            ask=lambda calls: run_calls(calls, workspace=desk.workspace, terms=terms),
            statements=statements,
        )
        n = write_proposals(file, rows)
    if json:
        as_json({"tasks": len(tasks), "proposals": n, "file": str(file)})
    else:
        done(f"{n} tags proposed for {len(tasks)} tasks in {file}; who agrees writes a code name into its last column")


def vocabulary(
    kind: Annotated[str, typer.Argument(help="skills or work_activities.")] = "skills", json: JsonOption = False
) -> None:
    """List O*NET's titles, by which tasks are tagged."""
    from guildhall.errors import UnknownName
    from guildhall.taskbank.onet import KINDS
    from guildhall.taskbank.onet import vocabulary as lists

    if kind not in KINDS:
        raise UnknownName("kind of tag", kind, known=sorted(KINDS))
    titles = lists()[kind]
    if json:
        as_json(list(titles))
        return
    for title in titles:
        typer.echo(title)


def release(
    target: Annotated[Path, typer.Argument(help="A new folder to write into.")],
    per_occupation: Annotated[int, typer.Option(min=1, help="Tasks of each occupation at most.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of the draw: the same bank and seed give the same bytes.")] = 1,
    licence: Annotated[str, typer.Option(help="A licence by its SPDX name.")] = "CC-BY-4.0",
    licence_file: Annotated[Optional[Path], typer.Option(help="The text of another licence.")] = None,  # noqa: UP045
    holder: Annotated[str, typer.Option(help="Whose work it is, for the licence.")] = "the contributors",
    name: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="A name that must not be in it, beside those of the roster; repeat it."),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Write a public subset: prompts and scrubbed reference files in the GDPval layout, disclosures, licence."""
    from guildhall.documents.looking import documents
    from guildhall.taskbank.release import ReleasePlan, write_release

    with at_desk(workspace) as desk:
        names = (*_names_of(desk.roster), *(name or ()))
        terms = _licence(licence, licence_file, holder)
        plan = ReleasePlan(licence=terms, per_occupation=per_occupation, seed=seed, names=names)
        with documents(desk.workspace.path / "cache") as looking:
            made = write_release(desk.workspace, looking, target, plan)
    facts = {
        "folder": str(target),
        "tasks": len(made.tasks),
        "occupations": len({task.occupation for task in made.tasks}),
        "reference_files": sum(len(task.reference_files) for task in made.tasks),
        "left_out": made.left_out,
        "short": made.short,
        "names_searched": len(names),
    }
    if json:
        as_json(facts)
        return
    done(f"{facts['tasks']} tasks with {facts['reference_files']} reference files written to {target}")
    for identity, why in made.left_out.items():
        note(f"{identity} is left out: {why}")
    for occupation, count in made.short.items():
        note(f"{occupation}: {count} of {per_occupation} tasks")


def _names_of(roster: Roster) -> list[str]:
    """What could tell who wrote a task: names, addresses and code names of everybody on the roster."""
    found = []
    for member in roster.everyone():
        personal = roster.personal(member.id) or {}
        found += [member.code_name, *(personal[field] for field in ("name", "email") if field in personal)]
    return found


def _licence(known: str, file: Path | None, holder: str) -> Licence:
    from guildhall.errors import UnknownName, UnreadableFile
    from guildhall.taskbank.release import KNOWN_LICENCES, Licence

    if file is None:
        if known not in KNOWN_LICENCES:
            raise UnknownName("licence", known, fix=f"known: {', '.join(KNOWN_LICENCES)}; or give --licence-file")
        return Licence(name=known, holder=holder)
    try:
        return Licence(name=file.name, holder=holder, text=file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(file, f"cannot be read as text ({error})") from error
