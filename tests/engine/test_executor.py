"""Executors: every argument ends once, failures end alone, and a killed worker's work is tried again."""

from __future__ import annotations

import os
import pickle
import signal
from pathlib import Path

import pytest

from guildhall.engine.calls import Call
from guildhall.engine.cluster import SANDBOX, RayCluster
from guildhall.engine.executor import Executor, InProcess, Needs, Processes
from guildhall.engine.spreading import spread_calls
from guildhall.engine.terms import Terms
from guildhall.errors import InputError, SchemaMismatch
from guildhall.store.ledger import Ledger


def square(number: int) -> int:
    if number == 3:
        raise InputError("three is refused")
    return number * number


def killed_the_first_time(marker: str) -> str:
    path = Path(marker)
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return path.name


@pytest.mark.parametrize("executor", [InProcess(), Processes(2)], ids=["here", "processes"])
def test_one_failure_ends_no_other_work(executor: Executor):
    ended = {one.argument: one for one in executor.map(square, range(5))}
    assert {number: one.value for number, one in ended.items() if one.error is None} == {0: 0, 1: 1, 2: 4, 4: 16}
    assert isinstance(ended[3].error, InputError)
    with pytest.raises(InputError, match="three"):
        ended[3].result()


def test_errors_come_back_from_another_process_with_their_facts():
    found = pickle.loads(pickle.dumps(SchemaMismatch("0001", "0002")))
    assert (found.found, found.wanted, str(found)) == ("0001", "0002", str(SchemaMismatch("0001", "0002")))


def test_a_killed_workers_work_is_tried_again(tmp_path):
    (ended,) = Processes(1).map(killed_the_first_time, [str(tmp_path / "marker")])
    assert ended.result() == "marker"


def test_work_that_kills_every_worker_ends_as_an_error(tmp_path):
    (ended,) = Processes(1, tries=2).map(_always_killed, [1])
    assert ended.error is not None


def _always_killed(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


class _Nodes:
    """Two nodes as Ray tells of them, and one that is gone."""

    @staticmethod
    def nodes():
        there = [{"CPU": 4.0, SANDBOX: 2.0}, {"CPU": 4.0, SANDBOX: 3.0}]
        return [*({"Alive": True, "Resources": one} for one in there), {"Alive": False, "Resources": {SANDBOX: 9.0}}]


def test_a_cluster_is_asked_for_what_its_nodes_declare_and_never_for_what_none_has():
    cluster = RayCluster()
    cluster.__dict__["_ray"] = _Nodes
    assert cluster._declared(Needs(sandboxes=3, offices=1)) == {SANDBOX: 3}
    with pytest.raises(InputError, match="no node of the cluster has more than 3"):
        cluster._declared(Needs(sandboxes=4))


def test_calls_spread_over_processes_are_each_asked_once(workspace):
    calls = [Call.ask("scripted/echo", f"question {number}") for number in range(30)]
    answers = spread_calls(calls, workspace=workspace, terms=Terms(run="r"), executor=Processes(2), size=15)
    assert {answers.replies[call.key].text for call in calls} == {f"question {number}" for number in range(30)}
    assert Ledger(workspace.store).spent(run="r").usage.calls == 30
