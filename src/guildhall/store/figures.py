"""A workspace in a few figures, for a monitoring system: how much there is, what waits, what was spent, what failed.

They come from the database, so that they tell of all processes and machines, and of those that have ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlalchemy import Connection, and_, case, func, or_, select

from guildhall.domain.halls import SeatState
from guildhall.domain.judgments import Judgment
from guildhall.domain.submissions import Submission
from guildhall.store.access import workspace_facts
from guildhall.store.database import clock
from guildhall.store.hall import seats, slots
from guildhall.store.ledger import LATE, model_calls
from guildhall.store.outbox import outbox
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of
from guildhall.store.verdict_rows import STOPS
from guildhall.store.verdict_tables import authors, works
from guildhall.store.work import WorkState, work_items

_KINDS = ("agent", "call", "gradings")
WHOLE_BACKUP = "last whole backup"
"""The fact that tells when it was made."""
MOST_MODELS = 50
"""Models told apart, those asked most often; the rest is one line."""


@dataclass(frozen=True)
class Gauge:
    """One number, by the values of its labels; `grows` says that it never becomes less."""

    name: str
    words: str
    value: float
    labels: dict[str, str] = field(default_factory=dict)
    grows: bool = False


def figures(store: Store, *, now: float) -> list[Gauge]:
    """Every figure at one moment."""
    ahead_s = store.clock_ahead_s()
    ahead = Gauge("clock_ahead_seconds", "How far this machine's clock is ahead of the database's.", ahead_s)
    with store.reading() as connection:
        return [ahead, *_hall(connection, now), *_waiting(connection), *_ended(connection), *_spent(connection)]


def _hall(connection: Connection, now: float) -> Iterator[Gauge]:
    for name, kind in (("judgments", Judgment), ("submissions", Submission)):
        counted = connection.execute(select(func.count()).select_from(shelf_of(kind).table)).scalar_one()
        yield Gauge(name, f"Kept {name}, of people and of models.", counted, grows=True)
    live = select(func.count()).where(seats.c.state == SeatState.LIVE.value, seats.c.expires_at > now)
    yield Gauge("live_seats", "Places that graders hold now.", connection.execute(live).scalar_one())
    free = select(func.count()).where(slots.c.done.is_(False), slots.c.holder.is_(None))
    yield Gauge("open_slots", "Planned gradings nobody holds.", connection.execute(free).scalar_one())


def _waiting(connection: Connection) -> Iterator[Gauge]:
    """Queues: what is done is not counted, so that a long history costs nothing."""
    unfinished = [state.value for state in WorkState if state is not WorkState.DONE]
    item = work_items.c
    kind = case(
        (item.kind.in_(_KINDS), item.kind), else_="opening"
    )  # a study's opening has the study's name for a kind
    query = select(item.state, kind.label("sort"), func.count()).where(item.state.in_(unfinished))
    counted = {(state, name): 0 for state in unfinished for name in (*_KINDS, "opening")}
    counted |= {(row[0], row[1]): row[2] for row in connection.execute(query.group_by(item.state, "sort"))}
    for (state, name), number in counted.items():
        yield Gauge("work_items", "Work items that are not done.", number, {"state": state, "kind": name})
    ages = select(kind.label("sort"), clock(connection) - func.min(item.planned_at)).group_by("sort")
    waits: dict[str, float] = {
        row[0]: row[1] for row in connection.execute(ages.where(item.state == WorkState.PLANNED.value))
    }
    for name in (*_KINDS, "opening"):
        words = "Age of the oldest item that waits; 0 when none does."
        yield Gauge("oldest_waiting_seconds", words, max(0.0, waits.get(name) or 0.0), {"kind": name})
    busy = any(number for (state, _), number in counted.items() if state != WorkState.FAILED.value)
    newest = func.coalesce(func.max(item.ended_at), func.min(item.planned_at))
    last = connection.execute(select(clock(connection) - newest)).scalar() if busy else None
    yield Gauge("standstill_seconds", "Since the last item ended, while others are to be done; else 0.", last or 0.0)
    query = select(outbox.c.kind, outbox.c.state, func.count()).where(outbox.c.state != "sent")
    for kind, state, number in connection.execute(query.group_by(outbox.c.kind, outbox.c.state)):
        yield Gauge("outbox", "Letters and deliveries not sent.", number, {"kind": kind, "state": state})


def _ended(connection: Connection) -> Iterator[Gauge]:
    """How sampled work ended, what judges failed at, and the last backup that was whole."""
    stops = select(works.c.stop, func.count()).join(authors, authors.c.code == works.c.author)
    stops = stops.where(authors.c.kind == "model").group_by(works.c.stop)
    counted: dict[int, int] = {row[0]: row[1] for row in connection.execute(stops)}
    for stop, code in STOPS.items():
        yield Gauge("work_ended", "Work of models by how it ended.", counted.get(code, 0), {"stop": stop}, grows=True)
    judgments = shelf_of(Judgment).table.c
    failed = select(func.count()).where(judgments.failed.is_(True), judgments.grader.startswith("judge:"))
    number = connection.execute(failed).scalar_one()
    yield Gauge("judge_failures", "Verdicts that judges were asked for and did not give.", number, grows=True)
    fact = select(workspace_facts.c.value).where(workspace_facts.c.name == WHOLE_BACKUP)
    if (made := connection.execute(fact).scalar()) is not None:
        age = connection.execute(select(clock(connection) - float(made))).scalar_one()
        yield Gauge("backup_age_seconds", "Since the last backup that was whole.", max(0.0, age))


def _spent(connection: Connection) -> Iterator[Gauge]:
    calls = model_calls.c
    late, failed = calls.error.startswith(LATE), calls.error.is_not(None)
    outcome = case((calls.ended_at.is_(None), "unanswered"), (late, "late"), (failed, "failed"), else_="answered")
    answered = and_(calls.ended_at.is_not(None), or_(calls.error.is_(None), late))
    unpriced = case((and_(answered, calls.cost_usd.is_(None)), 1), else_=0)
    query = select(
        calls.model,
        outcome.label("outcome"),
        func.count().label("number"),
        func.sum(calls.input_tokens).label("input"),
        func.sum(calls.output_tokens).label("output"),
        func.coalesce(func.sum(calls.cost_usd), 0.0).label("dollars"),
        func.sum(unpriced).label("unpriced"),
    ).group_by(calls.model, "outcome")
    rows = connection.execute(query).all()
    often: dict[str, int] = {}
    for row in rows:
        often[row.model] = often.get(row.model, 0) + row.number
    shown = set(sorted(often, key=lambda model: -often[model])[:MOST_MODELS])
    for row in rows:
        model = {"model": row.model if row.model in shown else "other"}
        yield Gauge(
            "model_calls", "Model calls by how they ended.", row.number, {**model, "outcome": row.outcome}, grows=True
        )
        for side in ("input", "output"):
            tokens = int(getattr(row, side))
            yield Gauge("model_tokens", "Tokens of model calls.", tokens, {**model, "side": side}, grows=True)
        yield Gauge("model_dollars", "Known cost of model calls.", row.dollars, model, grows=True)
        yield Gauge("model_calls_unpriced", "Answered calls of unknown price.", int(row.unpriced), model, grows=True)
