"""Screening as background work: a draft is made visible, screened by rule, and by a model where settings name one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from pydantic import JsonValue

from guildhall.documents.looking import documents
from guildhall.domain.reviews import Draft, Screening
from guildhall.domain.values import Value
from guildhall.engine.terms import Limits, Terms
from guildhall.store.settings import read_section
from guildhall.store.workspace import Workspace
from guildhall.study.reviewing import draft_texts, make_ready
from guildhall.taskbank.review.histories import all_histories
from guildhall.taskbank.review.model_screening import screen_by_model
from guildhall.taskbank.review.screening import RULE

RUN = "screening"


class ScreeningSettings(Value):
    """`[screening]` of a workspace's settings: the model that looks drafts over, and what it may cost."""

    model: str
    settings: dict[str, JsonValue] = {}
    limits: Limits = Limits()


def unscreened(workspace: Workspace, screener: str) -> list[Draft]:
    """The newest version of each draft that a screener has not seen."""
    return [
        history.newest
        for history in all_histories(workspace.store)
        if not any(one.draft == history.newest.key and one.screener == screener for one in history.screenings)
    ]


def screen_next(workspace: Workspace, *, clock: Callable[[], float]) -> bool:
    """Make the next draft ready and screen it; False when none waits."""
    if waiting := unscreened(workspace, RULE):
        ready_all(workspace, waiting[:1], clock=clock)
        return True
    wanted = read_section(workspace.path, "screening", ScreeningSettings)
    if wanted is None:
        return False
    waiting = unscreened(workspace, wanted.model)[:1]
    screen_all(workspace, waiting, wanted, clock=clock)
    return bool(waiting)


def ready_all(workspace: Workspace, drafts: Sequence[Draft], *, clock: Callable[[], float]) -> list[Screening]:
    """Make drafts visible and screen them by rule."""
    with documents(workspace.path / "cache") as looking:
        return [make_ready(workspace, draft, looking, made_at=datetime.fromtimestamp(clock(), UTC)) for draft in drafts]


def screen_all(
    workspace: Workspace, drafts: Sequence[Draft], wanted: ScreeningSettings, *, clock: Callable[[], float]
) -> list[Screening]:
    """Ask a model about drafts that were made visible before, and keep what it says."""
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
