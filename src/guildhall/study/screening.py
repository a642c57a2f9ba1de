"""Screening as background work: a draft is made visible, screened by rule, and by a model where settings name one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from pydantic import JsonValue
from sqlalchemy import select

from guildhall.documents.looking import documents
from guildhall.domain.reviews import Draft, Screening
from guildhall.domain.values import Id, Value
from guildhall.engine.terms import Limits, Terms
from guildhall.store.settings import read_section
from guildhall.store.shelves import shelf_of
from guildhall.store.workspace import Workspace
from guildhall.study.reviewing import draft_texts, make_ready
from guildhall.taskbank.review.histories import version_of
from guildhall.taskbank.review.model_screening import screen_by_model
from guildhall.taskbank.review.screening import RULE

RUN = "screening"


class ScreeningSettings(Value):
    """`[screening]` of a workspace's settings: the model that looks drafts over, and what it may cost."""

    model: str
    settings: dict[str, JsonValue] = {}
    limits: Limits = Limits()


def unscreened(workspace: Workspace, screener: str) -> list[Draft]:
    """The newest version of each draft that a screener has not seen. It is asked often, so only keys are read."""
    drafts, screenings = shelf_of(Draft).table, shelf_of(Screening).table
    with workspace.store.reading() as connection:
        versions = connection.execute(select(drafts.c.task, drafts.c.key)).all()
        seen = set(connection.execute(select(screenings.c.key)).scalars())
    newest: dict[Id, Id] = {}
    for task, key in versions:
        newest[task] = max(newest.get(task, key), key, key=version_of)
    return [workspace.store.get(Draft, key) for key in newest.values() if f"{key}:{screener}" not in seen]


def screen_next(workspace: Workspace, *, clock: Callable[[], float]) -> bool:
    """Make the next draft ready and screen it; False when none waits."""
    if waiting := unscreened(workspace, RULE):
        ready_all(workspace, waiting[:1], clock=clock)
        return True
    wanted = read_section(workspace.path, "screening", ScreeningSettings)
    if wanted is None:
        return False
    return bool(screen_all(workspace, unscreened(workspace, wanted.model)[:1], wanted, clock=clock))


def ready_all(workspace: Workspace, drafts: Sequence[Draft], *, clock: Callable[[], float]) -> list[Screening]:
    """Make drafts visible and screen them by rule."""
    with documents(workspace.path / "cache") as looking:
        return [make_ready(workspace, draft, looking, made_at=datetime.fromtimestamp(clock(), UTC)) for draft in drafts]


def screen_all(
    workspace: Workspace, drafts: Sequence[Draft], wanted: ScreeningSettings, *, clock: Callable[[], float]
) -> list[Screening]:
    """Ask a model about drafts that were made visible before, and keep what it says.

    A draft that it was not asked about, because a limit was reached, has no screening and waits.
    """
    made = screen_by_model(
        drafts,
        texts={draft.key: draft_texts(workspace, draft) for draft in drafts},
        model=wanted.model,
        settings=wanted.settings,
        workspace=workspace,
        terms=Terms(run=RUN, limits=wanted.limits, now=clock),
    )
    workspace.store.add_all(made)
    return made
