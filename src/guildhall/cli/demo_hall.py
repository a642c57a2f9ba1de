"""`guildhall demo --serve`: a few tasks of the sample bank opened for grading, with a link for one grader.

Where no model has done these tasks, a stand-in takes its place: it hands in part of the expert's own files. It is named
as simulated wherever an author is named, so that nobody takes its win rate for a model's.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from guildhall.cli.show import done, note

if TYPE_CHECKING:
    from guildhall.domain.halls import Member
    from guildhall.domain.tasks import Task
    from guildhall.store.workspace import Workspace
    from guildhall.web.site import Site

STUDY, CODE_NAME = "demo-hall", "demo-grader"
_TASKS = 3


def serve_demo(path: Path, *, port: int, files_port: int) -> None:
    """Open the hall of a demo workspace and serve it until interrupted."""
    from guildhall.store.workspace import Workspace
    from guildhall.web.serving import serve
    from guildhall.web.site import Addresses

    def ready(site: Site) -> None:
        link = site.door.new_link(_grader(site).id, now=time.time(), lasts_s=86400)
        done(f"serving {site.addresses.app}; stop with Ctrl-C. Open this link to judge as {CODE_NAME}:")
        typer.echo(f"{site.addresses.app}/enter/{link}")
        note(f"the link works once; `guildhall people link {CODE_NAME} --workspace {path}` makes another")

    addresses = Addresses(f"http://localhost:{port}", f"http://files.localhost:{files_port}")
    with Workspace.create(path) as workspace:
        open_demo(workspace)
        serve(workspace, bind="127.0.0.1", port=port, files_port=files_port, addresses=addresses, ready=ready)


def open_demo(workspace: Workspace) -> None:
    """Plan a small study for people and make its files ready; a second time nothing is done again."""
    from guildhall.documents.looking import documents
    from guildhall.domain.studies import Study
    from guildhall.grading.opening import open_hall
    from guildhall.judging.preparing import Preparer

    chosen = _chosen(workspace)
    _stand_in(workspace, chosen)
    rules = {"graders_per_set": 1, "minimum_reason_words": 5, "minutes_per_set": 20}
    study = Study(
        id=STUDY,
        title="Demo: the work of experts and of simulated authors",
        seed=1,
        tasks=tuple(task.key for task in chosen),
        design={"people": rules},
    )
    workspace.store.add(study)
    with documents(workspace.path / "cache") as looking:
        opened = open_hall(workspace, study, Preparer(workspace, looking))
    done(f"{len(opened.layout.slots)} sets ready to be judged, {opened.omissions} things could not be shown")


def _chosen(workspace: Workspace) -> list[Task]:
    """Tasks whose expert work is there and small, so that the hall opens in seconds."""
    from guildhall.taskbank.listing import newest_tasks

    whole = [task for task in newest_tasks(workspace.store) if task.expert_files]
    return sorted(whole, key=lambda task: (sum(file.size or 0 for file in task.expert_files), task.id))[:_TASKS]


def _stand_in(workspace: Workspace, tasks: list[Task]) -> None:
    """Keep a simulated submission for each task no model has done."""
    from guildhall.domain.authors import ModelRun
    from guildhall.domain.submissions import Submission

    author = ModelRun(name="simulated-stand-in", model="scripted/stand-in")
    for task in tasks:
        done_by_models = [one for one in workspace.store.find(Submission, task=task.id) if one.author.kind == "model"]
        if done_by_models:
            continue
        part = task.expert_files[: max(1, len(task.expert_files) - 1)]
        workspace.store.add(
            Submission(task=task.id, task_version=task.version, author=author, files=part, origin="simulated")
        )
        note(f"{task.id}: no model has done it, so a simulated stand-in hands in {len(part)} of the expert's files")


def _grader(site: Site) -> Member:
    from guildhall.domain.halls import Member, Role
    from guildhall.errors import UnknownName
    from guildhall.taskbank.listing import newest_tasks

    try:
        return site.roster.by_code_name(CODE_NAME)
    except UnknownName:
        occupations = tuple(sorted({task.occupation for task in newest_tasks(site.store)}))
        member = Member(id=CODE_NAME, code_name=CODE_NAME, role=Role.GRADER, occupations=occupations)
        return site.roster.invite(member, personal={})
