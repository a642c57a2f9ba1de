"""Faults on a two-node Ray cluster over PostgreSQL and S3, and what the user sees of each.

Run like `proofs._cluster`, in namespaces of its own. The figures are written to FOLDER/figures.json.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from moto.server import ThreadedMotoServer
from tests.grading.scripted_judges import world
from tests.postgres import Server, private_postgres

from guildhall.domain.judgments import Judgment
from guildhall.engine.cluster import RayCluster
from guildhall.engine.executor import InProcess
from guildhall.engine.terms import Pace, Terms
from guildhall.errors import GuildhallError
from guildhall.grading.judges.graders import ByModel
from guildhall.grading.judges.queue import missing_verdicts
from guildhall.grading.judges.spreading import Bench, spread_judging
from guildhall.store.checking import doubled
from guildhall.store.ledger import Ledger
from guildhall.store.work import Work, WorkState
from guildhall.store.workspace import Workspace
from proofs._cluster import JUDGE, PORT, Nodes, verdicts

TASKS = 40
WANTED = TASKS * 4
KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


class _Said(logging.Handler):
    """What the program told its user, in order."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage().replace(str(Path.cwd()), "."))


def judge(workspace: Workspace, executor: Any) -> None:
    made = world(workspace, tasks=TASKS, people=0)
    grader = ByModel(JUDGE)
    spread_judging(
        grader.ask,
        lambda: missing_verdicts(workspace.store, grader, made.comparisons, sweeps=1),
        workspace=workspace,
        tasks=made.tasks,
        terms=Terms(run="faults", pace=Pace(connections=4)),
        bench=Bench(),
        executor=executor,
    )


@contextmanager
def at_half(workspace: Workspace, fault: Callable[[], None]) -> Iterator[list[int]]:
    """Bring the fault about once a part of the verdicts is there."""
    over, struck = threading.Event(), []

    def watch() -> None:
        while not over.wait(0.05):
            done = Work(workspace.store).counts(run="faults").get(WorkState.DONE, 0)
            if done >= WANTED // 8:
                struck.append(done)
                fault()
                return

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield struck
    finally:
        over.set()
        thread.join()


def after(workspace: Workspace, expected: list[str]) -> dict[str, int]:
    """What must be so whatever happened: every verdict once, equal to the local ones, and no call paid twice."""
    found, spent = verdicts(workspace), Ledger(workspace.store).spent(run="faults")
    assert found == expected, (len(found), len(expected))
    doubles = len(list(doubled(workspace.store)))
    assert doubles == 0
    failures = sum(one.ranks is None for one in workspace.store.each(Judgment))
    return {"verdicts": len(found), "doubled": doubles, "failures": failures, "answered_calls": spent.usage.calls}


def main(folder: Path) -> None:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    said = _Said()
    logging.getLogger("guildhall").addHandler(said)
    store = ThreadedMotoServer(ip_address="127.0.0.1", port=5599, verbose=False)
    store.start()
    keys = dict.fromkeys(KEYS, "x") | {"AWS_DEFAULT_REGION": "us-east-1", "AWS_ENDPOINT_URL": "http://127.0.0.1:5599"}
    os.environ.update(keys | {"TMPDIR": str(folder), "AWS_MAX_ATTEMPTS": "2"})
    import s3fs

    s3fs.S3FileSystem().mkdir("guildhall")
    with Workspace.create(folder / "local") as local:
        judge(local, InProcess())
        expected = verdicts(local)
    assert len(expected) == WANTED
    os.chdir(folder)
    figures: dict[str, Any] = {}
    with private_postgres() as server:
        nodes = Nodes(folder)
        nodes.start()
        time.sleep(10)
        for name, scenario in SCENARIOS.items():
            said.lines.clear()
            begun = time.monotonic()
            with Workspace.create(Path(name), database=server.new_database(), blobs="s3://guildhall/files"):
                pass
            with Workspace.open(Path(name), patient=True) as workspace:  # a relative path, in every scenario
                facts = scenario(workspace, nodes, server)
                figures[name] = {**facts, **after(workspace, expected), "seconds": round(time.monotonic() - begun, 1)}
            figures[name]["said"] = [line for line in said.lines if "guildhall.store" not in line][:6]
            (folder / "figures.json").write_text(json.dumps(figures, indent=1))


def credentials_missing_on_one_node(workspace: Workspace, nodes: Nodes, _server: Server) -> dict[str, Any]:
    kept = {name: os.environ.pop(name) for name in KEYS}
    nodes.start()
    os.environ.update(kept)
    cluster = _joined(2)
    judge(workspace, cluster)
    assert len(cluster._refused) == len(cluster._ready) == 1
    nodes.kill_last()
    return {"nodes_refused": 1}


def node_killed(workspace: Workspace, nodes: Nodes, _server: Server) -> dict[str, Any]:
    nodes.start()
    cluster = _joined(2)
    with at_half(workspace, nodes.kill_last) as struck:
        judge(workspace, cluster)
    return {"killed_at": struck[0]}


def database_restarted(workspace: Workspace, _nodes: Nodes, server: Server) -> dict[str, Any]:
    with at_half(workspace, server.restart) as struck:
        judge(workspace, _joined(1))
    return {"restarted_at": struck[0]}


def head_killed(workspace: Workspace, nodes: Nodes, _server: Server) -> dict[str, Any]:
    """In a process of its own, as a user's command is; run again once there is a head again, it goes on."""
    import ray

    ray.shutdown()  # it would end this process too
    command = [sys.executable, "-m", "proofs._cluster_faults", "judge", str(workspace.path)]
    with at_half(workspace, nodes.kill_last) as struck:
        run = subprocess.run(command, check=False, capture_output=True, text=True, timeout=240)
    assert run.returncode == 4 and "Traceback" not in run.stderr, run.stderr[-3000:]
    nodes.start()
    time.sleep(10)
    judge(workspace, _joined(1))
    return {"killed_at": struck[0], "exit_code": run.returncode, "told": run.stderr.strip().splitlines()[-1]}


SCENARIOS = {
    "credentials missing on one node": credentials_missing_on_one_node,
    "node killed": node_killed,
    "database restarted": database_restarted,
    "head killed": head_killed,
}


def _joined(count: int) -> RayCluster:
    deadline = time.monotonic() + 90
    while True:
        cluster = RayCluster(f"127.0.0.1:{PORT}")
        if sum(node["Alive"] for node in cluster._ray.nodes()) == count:
            return cluster
        assert time.monotonic() < deadline, f"{count} nodes were not there"
        time.sleep(1)


if __name__ == "__main__":
    if sys.argv[1] == "judge":
        try:
            with Workspace.open(Path(sys.argv[2]), patient=True) as found:
                judge(found, RayCluster(f"127.0.0.1:{PORT}"))
        except GuildhallError as error:
            print(f"error: {error}", file=sys.stderr)
            sys.stderr.flush()
            os._exit(error.exit_code)
    else:
        main(Path(sys.argv[1]))
