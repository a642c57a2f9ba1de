"""`guildhall tasks screen` and `release`: a program's advice on drafts, and the public subset of a bank."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from guildhall.cli.review_acts import at_desk
from guildhall.cli.show import as_json, done, note, table
from guildhall.cli.workspace import JsonOption, WorkspaceOption

if TYPE_CHECKING:
    from guildhall.grading.people import Roster
    from guildhall.taskbank.release import Licence


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
