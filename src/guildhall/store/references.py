"""What records and queues say of one another: every reference leads somewhere, and nothing stands twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Column, and_, func, or_, select
from sqlalchemy.sql.selectable import Select

from guildhall.domain.halls import SeatState
from guildhall.store.hall import seats, slots
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_named

Finding = tuple[str, str]
"""What it is about, and what is wrong with it."""

_POINTERS = (
    ("judgments", "comparison", "comparisons", "key"),
    ("judgments", "replaces", "judgments", "key"),
    ("submissions", "replaces", "submissions", "key"),
    ("severity_ratings", "submission", "submissions", "key"),
    ("marks", "essay", "essays", "key"),
    ("marks", "replaces", "marks", "key"),
    ("rubric_marks", "submission", "submissions", "key"),
    ("comparisons", "task", "tasks", "id"),
    ("submissions", "task", "tasks", "id"),
)
"""Shelf and column -> the shelf and column where its value must be found."""


def dangling(store: Store) -> Iterator[Finding]:
    """References that lead nowhere."""
    for shelf, column, target, at in _POINTERS:
        here, there = shelf_named(shelf).table, shelf_named(target).table.alias("there")
        missing = _without(here.c[column], there.c[at])
        yield from _said(
            store, missing.with_only_columns(here.c.key), f"{shelf} {{}}", f"names a {target[:-1]} not kept"
        )
    judged, judgments = seats.c.judgment, shelf_named("judgments").table
    ratings = shelf_named("severity_ratings").table
    unkept = _without(judged, judgments.c.key).where(judged.not_in(select(ratings.c.key)))
    yield from _said(
        store, unkept.with_only_columns(seats.c.id), "seat {}", "was acknowledged and its judgment is gone"
    )
    compared = shelf_named("comparisons").table
    yield from _said(
        store,
        _without(slots.c.comparison, compared.c.key).with_only_columns(slots.c.id),
        "slot {}",
        "has no comparison",
    )
    yield from _missing_sides(store)


def _missing_sides(store: Store) -> Iterator[Finding]:
    """Comparisons of submissions that are not kept."""
    compared, made = shelf_named("comparisons").table, shelf_named("submissions").table
    with store.reading() as connection:
        known = set(connection.execute(select(made.c.key)).scalars())
        rows = connection.execution_options(yield_per=1000).execute(select(compared.c.key, compared.c.body))
        for key, body in rows:
            if not known.issuperset(json.loads(body)["submissions"]):
                yield f"comparison {key}", "shows a submission that is not kept"


def doubled(store: Store) -> Iterator[Finding]:
    """Judgments that stand twice: one grader, one comparison, one order, one sweep, and none replaces the other."""
    table = shelf_named("judgments").table
    newer = table.alias("newer")
    several = (
        select(table.c.comparison, table.c.grader)
        .group_by(table.c.comparison, table.c.grader)
        .having(func.count() > 1)
        .subquery()
    )
    query = (
        select(table.c.comparison, table.c.grader, table.c.body)
        .join(several, and_(table.c.comparison == several.c.comparison, table.c.grader == several.c.grader))
        .where(~select(newer.c.seq).where(newer.c.replaces == table.c.key).exists())
    )
    seen: set[tuple[str, ...]] = set()
    with store.reading() as connection:
        for row in connection.execution_options(yield_per=1000).execute(query):
            body = json.loads(row.body)
            # A person is shown one order; a second judgment by them is a double in whatever order.
            order = () if body["grader"]["kind"] == "person" else tuple(body["order"])
            place = (row.comparison, row.grader, str(body["sweep"]), *order)
            if place in seen:
                yield f"comparison {row.comparison}", f"was judged twice by {row.grader}"
            seen.add(place)


def loose_ends(store: Store) -> Iterator[Finding]:
    """Places of the hall whose two sides disagree: a slot held by nobody, a seat that holds nothing."""
    holder = seats.alias("holder")
    held = slots.join(holder, holder.c.id == slots.c.holder)
    gone = select(slots.c.id).where(slots.c.holder.is_not(None), slots.c.holder.not_in(select(seats.c.id)))
    yield from _said(store, gone, "slot {}", "is held by a seat that is not there")
    holding = or_(holder.c.state == SeatState.LIVE, and_(holder.c.state == SeatState.SUBMITTED, slots.c.done.is_(True)))
    wrong = select(slots.c.id).select_from(held).where(or_(holder.c.slot != slots.c.id, ~holding))
    yield from _said(store, wrong, "slot {}", "is held by a seat that has given it up")
    empty = select(slots.c.id).where(slots.c.done.is_(True), slots.c.holder.is_(None))
    yield from _said(store, empty, "slot {}", "is done and nobody did it")
    loose = select(seats.c.id).join(slots, slots.c.id == seats.c.slot)
    loose = loose.where(seats.c.state == SeatState.LIVE, or_(slots.c.holder.is_(None), slots.c.holder != seats.c.id))
    yield from _said(store, loose, "seat {}", "is live and its slot is not held for it")
    ended = select(seats.c.id).where(seats.c.state == SeatState.SUBMITTED, seats.c.judgment.is_(None))
    yield from _said(store, ended, "seat {}", "was submitted without a judgment")


def _without(pointer: Column[str], target: Column[str]) -> Select[Any]:
    return select(pointer).where(pointer.is_not(None), ~select(target).where(target == pointer).exists())


def _said(store: Store, query: Select[Any], subject: str, what: str) -> Iterator[Finding]:
    with store.reading() as connection:
        for (key,) in connection.execute(query.limit(1000)):
            yield subject.format(key), what
