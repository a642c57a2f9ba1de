"""Leases of work items: a silent worker loses them, and what it makes of them afterwards is not kept."""

from __future__ import annotations

import socket

import pytest
from sqlalchemy import update

from guildhall.engine.calls import Call
from guildhall.engine.oneshot import run_calls
from guildhall.engine.scripted import Answer, Turn, scripted
from guildhall.engine.terms import Terms
from guildhall.store.ledger import Ledger
from guildhall.store.records import Store
from guildhall.store.work import ItemEnd, Work, WorkState, this_worker, work_items
from guildhall.store.workspace import Workspace

ELSEWHERE = "another-machine/0/0:1:1"


@pytest.fixture
def work(store: Store) -> Work:
    made = Work(store)
    made.plan(["a", "b", "c"], kind="call", run="r")
    return made


def test_an_item_is_claimed_by_one_worker_until_its_lease_runs_out(work: Work) -> None:
    assert work.claim(["a"], worker=ELSEWHERE) == {"a"}
    assert work.claim(["a", "b"], worker=this_worker()) == {"b"}
    work.renew(worker=ELSEWHERE, lease_s=-1.0)
    assert work.claim(["a"], worker=this_worker()) == {"a"}


def test_a_dead_worker_of_this_machine_loses_its_items_at_once(work: Work) -> None:
    machine = this_worker().rsplit(":", 2)[0]
    work.claim(["a"], worker=f"{machine}:999999999:1")
    assert work.claim(["a"], worker=this_worker()) == {"a"}


def test_a_process_of_that_number_elsewhere_is_another_process(work: Work) -> None:
    """Containers may share a host name, and every one of them has a process 1."""
    work.claim(["a"], worker=f"{socket.gethostname()}/0/0:999999999:1")
    assert work.claim(["a"], worker=this_worker()) == set()


def test_only_its_holder_gives_an_item_back(work: Work) -> None:
    work.claim(["a"], worker=ELSEWHERE)
    work.release(["a"], worker=this_worker())
    assert work.items(["a"])["a"].state is WorkState.RUNNING
    work.release(["a"], worker=ELSEWHERE)
    assert work.items(["a"])["a"].state is WorkState.PLANNED


def test_what_a_worker_makes_of_an_item_it_has_lost_is_not_kept(workspace: Workspace) -> None:
    """While the model answers, the lease is lost and another worker finishes: its reply stands, both are paid."""
    call = Call.ask("scripted/loses-its-lease", "who is quicker?")
    work = Work(workspace.store)
    theirs = run_calls([Call.ask("scripted/echo", "theirs")], workspace=workspace, terms=Terms(run="other"))
    (reply,) = theirs.replies.values()

    @scripted("loses-its-lease")
    def loses_its_lease(turn: Turn) -> Answer:
        with workspace.store.transaction() as connection:
            connection.execute(update(work_items).where(work_items.c.key == call.key).values(worker=ELSEWHERE))
            work.finish([ItemEnd(call.key, 1.0, result=reply.model_dump_json())])
        return Answer(text="mine")

    answers = run_calls([call], workspace=workspace, terms=Terms(run="r"))
    assert (answers.replies, answers.left) == ({}, (call.key,))
    assert run_calls([call], workspace=workspace, terms=Terms(run="r")).replies[call.key].text == "theirs"
    assert Ledger(workspace.store).spent(run="r").usage.calls == 1
