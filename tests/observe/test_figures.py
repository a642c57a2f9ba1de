"""A workspace's figures: true on both databases, and few."""

from __future__ import annotations

import asyncio
import threading
import time

from sqlalchemy import update

from guildhall.domain.authors import ModelGrader, ModelRun
from guildhall.domain.judgments import Judgment
from guildhall.domain.submissions import Submission, Usage
from guildhall.grading.submitting import submit
from guildhall.store.figures import MOST_MODELS, WHOLE_BACKUP, figures
from guildhall.store.ledger import Answered, Ledger, Sent
from guildhall.store.outbox import Channel, Outbox
from guildhall.store.records import Store
from guildhall.store.work import ItemEnd, Work, work_items
from guildhall.web.metrics import WorkspaceFigures
from guildhall.web.pulse import Pulse
from tests.grading.halls import DESIGN, VERDICT, hall
from tests.store.judged import world


def found(store: Store, *, now: float = 5.0) -> dict[tuple[str, ...], float]:
    sums: dict[tuple[str, ...], float] = {}
    for one in figures(store, now=now):
        key = (one.name, *one.labels.values())
        sums[key] = sums.get(key, 0.0) + one.value
    return sums


def test_figures_tell_what_is_kept_what_waits_and_what_was_spent(store: Store) -> None:
    queue, people = hall(store, graders=2, tasks=3)
    slots = found(store)["open_slots",]
    seats = [queue.claim(person, study="s", design=DESIGN, now=0.0) for person in people]
    assert seats[0] is not None
    assert found(store)["live_seats",] == 2 and found(store)["open_slots",] == slots - 2
    submit(queue, seats[0], people[0], VERDICT, design=DESIGN, submit_key="k", now=1.0)
    Work(store).plan(["a", "b", "c"], kind="call", run="r")
    Work(store).claim(["a"], worker="m:1:1")
    Work(store).finish([ItemEnd("b", at=1.0), ItemEnd("c", at=1.0, error="no")])
    Outbox(store).post(Channel.MAIL, target="x", event="new link", facts={}, now=0.0)
    ledger = Ledger(store)
    ledger.begin([Sent(str(number), "a", "r", "maker/m", 0.0) for number in range(4)])
    ledger.end(
        [
            Answered("0", Usage(calls=1, input_tokens=10, output_tokens=5, cost_usd=0.25), 1.0),
            Answered("1", Usage(calls=1, input_tokens=1), 1.0),
            Answered("2", Usage(calls=1), 1.0, error="refused"),
        ]
    )
    now = found(store)
    assert now["judgments",] == 1 and now["live_seats",] == 1
    assert {state: now["work_items", state, "call"] for state in ("planned", "running", "failed")} == {
        "planned": 0,
        "running": 1,
        "failed": 1,
    }
    assert now["outbox", "mail", "waiting"] == 1
    ended = {outcome: now["model_calls", "maker/m", outcome] for outcome in ("answered", "failed", "unanswered")}
    assert ended == {"answered": 2, "failed": 1, "unanswered": 1}
    assert now["model_tokens", "maker/m", "input"] == 11 and now["model_tokens", "maker/m", "output"] == 5
    assert now["model_dollars", "maker/m"] == 0.25 and now["model_calls_unpriced", "maker/m"] == 1


def test_what_waits_stands_still_failed_and_was_saved_is_told(store: Store) -> None:
    work = Work(store)
    work.plan(["a", "b"], kind="agent", run="r")
    work.plan(["o"], kind="a-study", run="openings")
    with store.transaction() as connection:
        connection.execute(update(work_items).values(planned_at=work_items.c.planned_at - 7200))
    store.add_all(world())
    now = found(store)
    assert 7200 <= now["oldest_waiting_seconds", "agent"] < 7300 and now["oldest_waiting_seconds", "call"] == 0
    assert now["work_items", "planned", "agent"] == 2 and now["work_items", "planned", "opening"] == 1
    assert 7200 <= now["standstill_seconds",] < 7300 and abs(now["clock_ahead_seconds",]) < 30
    models = [one for one in store.find(Submission) if isinstance(one.author, ModelRun)]
    assert now["work_ended", "finished"] == len(models) and now["work_ended", "nothing delivered"] == 0
    failed = [one for one in store.find(Judgment) if isinstance(one.grader, ModelGrader) and one.ranks is None]
    assert now["judge_failures",] == len(failed) > 0
    assert ("backup_age_seconds",) not in now
    store.state(WHOLE_BACKUP, str(time.time() - 100))
    assert 99 < found(store)["backup_age_seconds",] < 200
    work.claim(["a", "b", "o"], worker="m:1:1")
    work.finish([ItemEnd(key, at=1.0) for key in "abo"])
    assert found(store)["standstill_seconds",] == 0


def test_many_models_make_few_lines_and_none_is_lost(store: Store) -> None:
    Ledger(store).begin([Sent(str(n), "a", "r", f"maker/m-{n}", 0.0) for n in range(2 * MOST_MODELS)])
    calls = {key: value for key, value in found(store).items() if key[0] == "model_calls"}
    assert len(calls) == MOST_MODELS + 1
    assert calls["model_calls", "other", "unanswered"] == MOST_MODELS


def test_a_database_that_is_gone_is_told_and_no_old_figure_is_shown(store: Store) -> None:
    collector = WorkspaceFigures(store)
    assert {family.name for family in collector.collect()} > {"guildhall_database_up", "guildhall_workspace_judgments"}
    collector._until = 0.0
    with store.transaction() as connection:
        connection.exec_driver_sql("ALTER TABLE judgments RENAME TO hidden")
    [up] = collector.collect()
    assert up.samples[0].value == 0.0


def test_a_database_that_hangs_is_told_within_a_limit_by_one_thread_however_often_it_is_asked() -> None:
    released, begun = threading.Event(), []

    def hangs() -> str:
        begun.append(1)
        released.wait(60)
        return "there"

    pulse = Pulse(hangs, longest_s=0.05)
    assert [pulse.felt() for _ in range(5)] == [None] * 5 and asyncio.run(pulse.feel()) is None
    assert len(begun) == 1
    released.set()
    patient = Pulse(hangs)
    assert patient.felt() == "there" == asyncio.run(patient.feel())
