"""The board: every task under review in its lane, who holds it and for how long; and what the team is to audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from guildhall.domain.reviews import DecisionKind
from guildhall.domain.tasks import ReviewState
from guildhall.domain.values import Id
from guildhall.store.records import Store
from guildhall.taskbank.review.authoring import desk_copies_of
from guildhall.taskbank.review.desk import Hold, Holds
from guildhall.taskbank.review.histories import TaskHistory, all_histories
from guildhall.taskbank.review.standing import Lane, Standing, drawn_for_audit, standing_of

AUDIT_SHARE, AUDIT_SEED = 0.1, 1


@dataclass(frozen=True)
class Card:
    """One task on the board. `holder` is whoever can move it on now; absent when it waits for anybody fit."""

    task: Id
    title: str
    occupation: str
    author: Id
    version: int
    lane: Lane
    holder: Id | None
    since: float
    reviews: int
    open_comments: int
    missing: tuple[str, ...]
    audit_due: bool = False


def board(store: Store, *, now: float, audit_share: float = AUDIT_SHARE, audit_seed: int = AUDIT_SEED) -> list[Card]:
    """All cards, longest wait first within a lane."""
    holds = Holds(store).all(now=now)
    histories = all_histories(store)
    cards = [_card(one, holds.get(one.task), share=audit_share, seed=audit_seed) for one in histories]
    submitted = {card.task for card in cards}
    cards += [
        Card(
            task=copy.task,
            title=copy.title or "untitled",
            occupation=copy.occupation,
            author=copy.author,
            version=0,
            lane=Lane.WRITING,
            holder=copy.author,
            since=copy.saved_at,
            reviews=0,
            open_comments=0,
            missing=(),
        )
        for copy in desk_copies_of(store)
        if copy.task not in submitted
    ]
    return sorted(cards, key=lambda card: (list(Lane).index(card.lane), card.since))


def _card(history: TaskHistory, hold: Hold | None, *, share: float, seed: int) -> Card:
    standing = standing_of(history)
    task = history.newest.task
    return Card(
        task=task.id,
        title=task.title or task.id,
        occupation=task.occupation,
        author=history.author,
        version=task.version,
        lane=standing.lane,
        holder=_holder(history, standing, hold),
        since=hold.since if hold else standing.since.timestamp(),
        reviews=len(history.reviews),
        open_comments=len(history.open_threads()),
        missing=standing.missing,
        audit_due=audit_due(history, share=share, seed=seed),
    )


def _holder(history: TaskHistory, standing: Standing, hold: Hold | None) -> Id | None:
    if standing.state is ReviewState.CHANGES_REQUESTED:
        return history.author
    return hold.holder if hold else None


def audit_due(history: TaskHistory, *, share: float = AUDIT_SHARE, seed: int = AUDIT_SEED) -> bool:
    """Whether an accepted task was drawn for the team's audit and nobody has looked yet."""
    if standing_of(history).state is not ReviewState.ACCEPTED:
        return False
    key = history.newest.key
    audited = any(one.kind is DecisionKind.AUDIT_HELD for one in history.decisions if one.draft == key)
    return not audited and drawn_for_audit(key, share=share, seed=seed)


def in_lanes(cards: Sequence[Card]) -> dict[Lane, list[Card]]:
    """Cards by lane, every lane present."""
    return {lane: [card for card in cards if card.lane is lane] for lane in Lane}
