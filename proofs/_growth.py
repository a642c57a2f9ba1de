"""A hall that has been busy for years: places, seats and people for every judgment of a large study."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice

from sqlalchemy import insert, select

from guildhall.domain.halls import HallDesign, Member, Role, SeatState, Slot, SlotKind
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.studies import Study
from guildhall.domain.tasks import Task
from guildhall.domain.values import sha256
from guildhall.store.hall import members, seats, slots
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of
from proofs._million import ROWS_AT_ONCE, Large, load_large

DESIGN = HallDesign(graders_per_set=11, exposure_limit=1000)
OPEN, HELD = 2_000, 50
"""Of each study, gradings still to be claimed, and places somebody sits on."""


def load_hall(store: Store, large: Large) -> Study:
    """The large study with its hall: every judgment came from a seat, and some gradings are still open."""
    study = load_large(store, large).but(design={"people": DESIGN.model_dump(mode="json")})
    store.add(study)
    _invite(store, large)
    occupations = {task.id: task.occupation for task in store.each(Task)}
    with store.transaction() as connection:
        stream = _places(store, large, occupations)
        while chunk := list(islice(stream, ROWS_AT_ONCE)):
            connection.execute(insert(slots), [slot for slot, _ in chunk])
            taken = [seat for _, seat in chunk if seat is not None]
            if taken:
                connection.execute(insert(seats), taken)
    return study


def _invite(store: Store, large: Large) -> None:
    """People of two occupations each; everybody shares an employer with nine others."""
    with store.transaction() as connection:
        known = set(connection.execute(select(members.c.id)).scalars())
        rows = []
        for number in range(large.graders):
            name, mark = f"grader-{number:03d}", sha256(f"employer {number // 10}".encode())
            occupations = tuple(f"Occupation {(number + step) % large.occupations:02d}" for step in range(2))
            member = Member(id=name, code_name=name, role=Role.GRADER, occupations=occupations, employer_mark=mark)
            about = {"id": name, "code_name": name, "role": Role.GRADER, "active": True, "employer_mark": mark}
            if name not in known:
                rows.append({**about, "body": member.canonical().decode()})
        if rows:
            connection.execute(insert(members), rows)


def _places(
    store: Store, large: Large, occupations: dict[str, str]
) -> Iterator[tuple[dict[str, object], dict[str, object] | None]]:
    """Slot and seat of every judgment, then open slots on the first comparisons, the first of them held."""
    judged, compared = shelf_of(Judgment).table, shelf_of(Comparison).table
    form = json.loads(_form(large).canonical())
    query = (
        select(judged.c.key, judged.c.grader, judged.c.seq, compared.c.key.label("comparison"), compared.c.task)
        .join(compared, compared.c.key == judged.c.comparison)
        .where(compared.c.study == large.study)
        .order_by(compared.c.seq)
    )
    with store.engine.connect() as connection:
        for row in connection.execution_options(yield_per=ROWS_AT_ONCE).execute(query):
            slot = _slot(f"{large.study}-{row.seq}", row.comparison, row.task, occupations, form, rank=row.seq)
            yield slot | {"done": True, "holder": slot["id"]}, _seat(slot, row.grader.partition(":")[2], row.key)
        first = select(compared.c.key, compared.c.task).where(compared.c.study == large.study).limit(OPEN)
        for number, (comparison, task) in enumerate(connection.execute(first).all()):
            slot = _slot(f"{large.study}-open-{number}", comparison, task, occupations, form, rank=number)
            held = number < HELD
            yield (
                slot | {"done": False, "holder": slot["id"] if held else None},
                _seat(slot, f"grader-{number:03d}", None) if held else None,
            )


def _form(large: Large) -> Slot:
    zero = "0" * 64
    about = {"id": "x", "study": large.study, "comparison": zero, "task": "x", "occupation": "x"}
    return Slot(**about, order=(zero, zero), turn=0, rank=0)


def _slot(
    identity: str, comparison: str, task: str, occupations: dict[str, str], form: dict[str, object], *, rank: int
) -> dict[str, object]:
    about = {"id": identity, "comparison": comparison, "task": task, "occupation": occupations[task], "rank": rank}
    columns = about | {"study": form["study"], "kind": SlotKind.PLANNED, "turn": 0}
    return columns | {"body": json.dumps(form | about, sort_keys=True, separators=(",", ":"))}


def _seat(slot: dict[str, object], member: str, judgment: str | None) -> dict[str, object]:
    about = {name: slot[name] for name in ("id", "study", "comparison", "task", "turn")}
    done = judgment is not None
    state = {"state": SeatState.SUBMITTED if done else SeatState.LIVE, "ended_at": 1.0 if done else None}
    times = {"claimed_at": 0.0, "expires_at": 1e12, "exposure": 1, "draft_version": 0}
    return about | {"slot": slot["id"], "member": member, "judgment": judgment} | state | times
