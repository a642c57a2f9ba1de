"""One place a verdict, one clock, one secret: what two workers, two machines or two folders cannot both have."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import select

from guildhall.analysis.counting import count
from guildhall.domain.authors import ModelGrader, Person
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.policy import GraderGroup, Policy, Rule
from guildhall.domain.submissions import StopReason, Submission, Usage
from guildhall.engine.calls import Call
from guildhall.engine.journal import TAKEN_OVER
from guildhall.engine.oneshot import run_calls
from guildhall.engine.terms import Terms
from guildhall.errors import OtherSecret
from guildhall.store.checking import doubled, examine_workspace
from guildhall.store.database import open_database, upgrade
from guildhall.store.ledger import Ledger
from guildhall.store.records import Store
from guildhall.store.secret import KEY_FILE
from guildhall.store.shelves import shelf_of
from guildhall.store.verdict_parts import read_verdicts
from guildhall.store.work import Work
from guildhall.store.workspace import Workspace
from tests.study.made import MOMENT, judged_study

JUDGE = ModelGrader(name="judge", model="x/judge", settings={"effort": "low"})
TABLE = shelf_of(Judgment).table
ELSEWHERE = "another-machine/0/0:1:1"


def verdict(n: int = 0, **facts: object) -> Judgment:
    about = {"comparison": "c" * 64, "grader": JUDGE, "order": ("a" * 64, "b" * 64), "ranks": (1, 2), "sweep": 1}
    return Judgment.model_validate({**about, "made_at": MOMENT + timedelta(seconds=n), **facts})


def placed(store: Store) -> set[str]:
    with store.reading() as connection:
        return set(connection.execute(select(TABLE.c.key).where(TABLE.c.place.is_not(None))).scalars())


def test_of_eight_workers_with_a_verdict_on_one_place_one_is_kept(store: Store) -> None:
    start = Barrier(8)

    def keep(n: int) -> int:
        start.wait()
        return sum(store.add_first([verdict(n, sweep=sweep)]) for sweep in (1, 2, 3))

    with ThreadPoolExecutor(8) as pool:
        new = list(pool.map(keep, range(8)))
    assert sum(new) == store.count(Judgment) == 3 and list(doubled(store)) == []


def test_only_what_is_the_same_in_judge_settings_order_and_sweep_has_one_place(store: Store) -> None:
    other = JUDGE.but(settings={"effort": "high"})
    failed = verdict(1, ranks=None, failure="unreadable")
    kept = [failed, verdict(2), verdict(3, grader=other), verdict(4, order=("b" * 64, "a" * 64)), verdict(5, sweep=2)]
    people = [verdict(n, grader=Person(code_name="g-1", grader_kind="expert")) for n in (6, 7)]
    assert store.add_first([*kept, *people]) == 7
    assert store.add_first([verdict(8), verdict(9, ranks=(1, 1)), verdict(10, replaces=failed.key)]) == 0
    assert placed(store) == {one.key for one in kept[1:]}


def test_a_bundle_brings_its_doubles_and_they_are_surplus_and_named(workspace: Workspace) -> None:
    judged_study(workspace, "s", {"m": [[1.0]]})
    [compared] = workspace.store.find(Comparison, study="s")
    shown = {"comparison": compared.key, "order": compared.submissions}
    back = {"comparison": compared.key, "order": compared.submissions[::-1], "ranks": (2, 1)}
    workspace.store.add_all([verdict(0, **shown), verdict(1, **back), verdict(2, **shown, reason="once more")])
    policy = Policy(studies=("s",), baseline="expert", graders=GraderGroup.parse("judge:judge"))
    counted = count(read_verdicts(workspace.store, ["s"], parts=workspace.verdict_parts), policy)
    assert (counted.n_counted, counted.left_out[Rule.SURPLUS]) == (2, 1)
    named = [fault for fault in examine_workspace(workspace).faults if fault.check == "doubled"]
    assert len(named) == 1 and compared.key in named[0].subject


def test_doubles_of_an_older_workspace_are_kept_by_the_upgrade_and_the_first_has_the_place(database_url: str) -> None:
    engine = open_database(database_url)
    upgrade(engine, "0014")
    several = [verdict(1, ranks=None, failure="x"), *(verdict(n, sweep=n // 2) for n in range(2, 1204))]
    columns = ("key", "digest", "body", "comparison", "grader", "failed", "replaces")
    rows = [{name: shelf_of(Judgment).row(one)[name] for name in columns} for one in several]
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        connection.execute(TABLE.insert(), rows)
    upgrade(engine)
    store = Store(engine)
    assert store.count(Judgment) == len(several)
    assert placed(store) == {one.key for one in several[1::2]}
    assert store.add_first([verdict(5000, sweep=7)]) == 0
    engine.dispose()


@pytest.mark.parametrize("ahead_s", [600.0, -600.0])
def test_a_clock_ten_minutes_off_takes_nobodys_work_and_loses_none(
    store: Store, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, ahead_s: float
) -> None:
    work, right = Work(store), time.time
    work.plan(["a", "b"], kind="call", run="r")
    assert work.claim(["a"], worker=ELSEWHERE) == {"a"}
    call = Call.ask("scripted/echo", "whose?")
    Work(workspace.store).plan([call.key], kind="call", run="r")
    Work(workspace.store).claim([call.key], worker=ELSEWHERE)
    monkeypatch.setattr(time, "time", lambda: right() + ahead_s)
    assert abs(store.clock_ahead_s() - ahead_s) < 30
    assert work.claim(["a", "b"], worker="wrong-clock/0/0:1:1") == {"b"}
    answers = run_calls([call], workspace=workspace, terms=Terms(run="r"))
    assert answers.why_left == TAKEN_OVER and Ledger(workspace.store).spent().usage.calls == 0
    monkeypatch.setattr(time, "time", right)
    assert work.claim(["b"], worker=ELSEWHERE) == set()


def test_two_folders_on_one_database_have_one_secret_or_the_second_is_refused(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = database_url if database_url.startswith("postgresql") else None
    with Workspace.create(tmp_path / "one", database=url) as one:
        secret = one.secret
    if url is None:  # one file, and the folder's secret was exchanged
        (tmp_path / "one" / KEY_FILE).write_bytes(b"x" * 32)
        with Workspace.open(tmp_path / "one") as changed, pytest.raises(OtherSecret, match=KEY_FILE):
            changed.key_for("orders")
        return
    with pytest.raises(OtherSecret, match="GUILDHALL_KEY_FILE"):
        Workspace.create(tmp_path / "two", database=url)
    assert not (tmp_path / "two" / "guildhall.toml").exists()
    (tmp_path / "two" / KEY_FILE).write_bytes(secret)
    with Workspace.create(tmp_path / "two", database=url) as two:
        assert two.secret == secret


def test_work_that_was_blamed_for_our_fault_is_named_and_its_judgments_are_set_aside_once_it_is_replaced(
    workspace: Workspace,
) -> None:
    judged_study(workspace, "s", {"m": [[1.0]]})
    [made] = [one for one in workspace.store.find(Submission) if getattr(one.author, "name", "") == "m"]
    empty = made.but(text="", stop=StopReason.NOTHING_DELIVERED, usage=Usage())
    assert empty.blamed and not made.blamed and not empty.but(usage=Usage(calls=1)).blamed
    [compared] = workspace.store.find(Comparison, study="s")
    shown = compared.but(submissions=(compared.submissions[0], empty.key))
    person = Person(code_name="g-9", grader_kind="expert")
    loss = verdict(9, comparison=shown.key, order=shown.submissions, grader=person)
    workspace.store.add_all([empty, shown, loss])
    named = [fault for fault in examine_workspace(workspace).faults if fault.check == "blamed"]
    assert len(named) == 1 and empty.key in named[0].subject and "retry --failed" in named[0].what
    policy = Policy(studies=("s",), baseline="expert", graders=GraderGroup.parse("expert"))
    before = count(read_verdicts(workspace.store, ["s"], parts=workspace.verdict_parts), policy)
    workspace.store.add(made.but(replaces=empty.key))
    after = count(read_verdicts(workspace.store, ["s"], parts=workspace.verdict_parts), policy)
    assert (before.n_counted, after.n_counted, after.left_out[Rule.SET_ASIDE]) == (2, 1, 1)
    assert "blamed" not in {fault.check for fault in examine_workspace(workspace).faults}
