"""Opening a study to people as background work: every file is made ready, which takes its time, then slots are planned.

An opening is a work item, so that one worker does it, a killed worker's opening goes on with the next, and the board
can tell how it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import select

from guildhall.documents.looking import documents
from guildhall.domain.halls import Member
from guildhall.domain.studies import Study
from guildhall.domain.values import sha256
from guildhall.errors import GuildhallError
from guildhall.grading.opening import open_hall
from guildhall.judging.preparing import Preparer
from guildhall.store.audit import record
from guildhall.store.records import Store
from guildhall.store.wordings import newest_study
from guildhall.store.work import ItemEnd, Work, WorkState, work_items
from guildhall.store.workspace import Workspace

RUN = "openings"
"""All openings are items of one run, so that a worker finds what waits by an index; the kind is the study."""
MOST_TRIES = 3
Clock = Callable[[], float]


@dataclass(frozen=True)
class Opening:
    """How the opening of a study stands; `why` when it failed."""

    state: WorkState
    why: str | None


def ask_to_open(store: Store, study: Study, *, by: Member, now: float) -> None:
    """Let a worker open the study; asked again after a failure, it is tried again."""
    key = _key(study)
    with store.transaction():
        work = Work(store)
        work.plan([key], kind=study.id, run=RUN)
        work.reopen([key])
        record(store, at=now, actor=by.code_name, action="opening asked", subject=study.id, facts={"study": study.key})


def opening_of(store: Store, study: Study) -> Opening | None:
    """How the opening stands; None for a study nobody asked to open here."""
    item = Work(store).items([_key(study)]).get(_key(study))
    return None if item is None else Opening(item.state, item.error)


def open_next(workspace: Workspace, *, worker: str, clock: Clock) -> bool:
    """Open the next study that waits; False when there is none."""
    work = Work(workspace.store)
    for key, study in _waiting(workspace.store):
        if work.claim([key], worker=worker):
            _open(workspace, newest_study(workspace.store, study), worker=worker, clock=clock)
            return True
    return False


def _open(workspace: Workspace, study: Study, *, worker: str, clock: Clock) -> None:
    store, work, key = workspace.store, Work(workspace.store), _key(study)

    def still_at_it(_what: str, _done: int, _of: int) -> None:
        work.renew(worker=worker)

    try:
        with documents(workspace.path / "cache") as looking:
            made = open_hall(workspace, study, Preparer(workspace, looking), progress=still_at_it)
    except GuildhallError as error:
        work.finish([ItemEnd(key, clock(), error=str(error))])
        return
    except Exception:
        _fail(work, key, now=clock())
        raise
    except BaseException:  # told to stop: as if it had never been tried
        work.release([key], worker=worker)
        raise
    with store.transaction():
        if not work.still_held([key], worker=worker):
            return  # silent for too long: another worker has taken it over, and tells its end
        work.finish([ItemEnd(key, clock(), result=str(made.new_slots))])
        facts = {"study": study.key, "gradings": made.new_slots, "parts_not_shown": made.omissions}
        record(store, at=clock(), actor="worker", action="study opened", subject=study.id, facts=facts)


def _fail(work: Work, key: str, *, now: float) -> None:
    """What failed for a reason of ours is tried again, though not for ever."""
    why = f"it failed {MOST_TRIES} times for a reason that is not the study's; the worker's log has it"
    work.finish([ItemEnd(key, now, error=why)])
    if work.items([key])[key].tries < MOST_TRIES:
        work.reopen([key])


def _waiting(store: Store) -> list[tuple[str, str]]:
    """Openings that are planned, or held by a worker who may be gone."""
    unfinished = work_items.c.state.in_([WorkState.PLANNED.value, WorkState.RUNNING.value])
    query = select(work_items.c.key, work_items.c.kind).where(work_items.c.run == RUN, unfinished)
    with store.reading() as connection:
        return [(row.key, row.kind) for row in connection.execute(query)]


def _key(study: Study) -> str:
    return sha256(f"opening {study.key}".encode())
