"""Two Ray nodes, a PostgreSQL and an S3 store in a network and process namespace of their own; one node is killed.

Run as `unshare -n -p --fork --kill-child --mount-proc python -m proofs._cluster FOLDER`: Ray's head listens on every
interface, so it is given interfaces that nobody else can reach, and when the namespace ends, so does everything in it.
The figures are written to FOLDER/figures.json.
"""

from __future__ import annotations

import io
import json
import logging
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.grading.scripted_judges import judge_plan, world
from tests.postgres import private_postgres

from guildhall.domain.authors import ModelRun
from guildhall.domain.judgments import Judgment
from guildhall.domain.prepared import Prepared
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef, Task
from guildhall.engine.cluster import OFFICE, RayCluster
from guildhall.engine.executor import ONLY_A_CORE, Ended, Executor, InProcess, Needs
from guildhall.engine.terms import Pace, Terms
from guildhall.grading.judges.graders import ByModel
from guildhall.grading.judges.queue import missing_verdicts
from guildhall.grading.judges.spreading import Bench, spread_judging
from guildhall.judging.preparing import prepare_all
from guildhall.store.ledger import Ledger
from guildhall.store.work import Work, WorkState
from guildhall.store.workspace import Workspace
from proofs import ROOT

TASKS, SWEEPS = 250, 2
JUDGMENTS = TASKS * 2 * 2 * SWEEPS
RENDERS = 200
PORT = 6399
JUDGE = judge_plan("perfect").but(model="scripted/tests.grading.scripted_judges:perfect")
SAME = {"made_at", "usage", "wall_s"}
"""What may differ between two runs: when, how long, and nothing else."""


class Nodes:
    """Ray nodes of one core each, every one a process group that can be killed whole."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: list[subprocess.Popen[bytes]] = []
        token = secrets.token_hex(24)
        own = {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": token,
            "RAY_USAGE_STATS_ENABLED": "0",
            # Ray's workers give way to everything else unless told otherwise.
            "RAY_worker_niceness": "0",
            "PYTHONPATH": str(ROOT),
        }
        os.environ.update(own)

    def start(self) -> None:
        """One more node; the first is the head."""
        head = ["--head", f"--port={PORT}", "--include-dashboard=false", f"--temp-dir={self._folder / 'ray'}"]
        place = head if not self._running else [f"--address=127.0.0.1:{PORT}"]
        room = ["--num-cpus=1", "--object-store-memory=80000000", f"--resources={json.dumps({OFFICE: 1})}"]
        command = [str(Path(sys.executable).parent / "ray"), "start", "--block", "--node-ip-address=127.0.0.1"]
        log = (self._folder / "nodes.log").open("ab")
        self._running.append(
            subprocess.Popen([*command, *place, *room], stdout=log, stderr=log, start_new_session=True)
        )

    def kill_last(self) -> None:
        """SIGKILL to every process of the node, none of which gets to say good-bye."""
        node = self._running.pop()
        family = [node.pid, *_descendants(node.pid)]
        for pid in family:
            os.kill(pid, signal.SIGKILL)
        node.wait()


def _descendants(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [found for child in map(int, children) for found in (child, *_descendants(child))]


class Watched:
    """An executor that notes on which node each item was done."""

    def __init__(self, cluster: RayCluster) -> None:
        self._cluster = cluster
        self.nodes: Counter[str] = Counter()

    @property
    def places(self) -> int:
        return self._cluster.places

    def map(
        self, function: Callable[[Any], Any], arguments: Iterable[Any], *, needs: Needs = ONLY_A_CORE
    ) -> Iterator[Ended[Any, Any]]:
        for ended in self._cluster.map(partial(with_node, function), arguments, needs=needs):
            node, value = ended.result()
            self.nodes[node] += len(getattr(ended.argument, "wanted", ()) or getattr(ended.argument, "works", ()))
            yield Ended(ended.argument, value=value)


def with_node(function: Callable[[Any], Any], argument: Any) -> tuple[str, Any]:
    import ray

    return str(ray.get_runtime_context().get_node_id()), function(argument)


@contextmanager
def killing(nodes: Nodes, done: Callable[[], int], *, at: int) -> Iterator[list[int]]:
    """Kill the last node as soon as so many items are done; the count at which it happened."""
    over, killed = threading.Event(), []

    def watch() -> None:
        while not over.wait(0.05):
            if (count := done()) >= at:
                nodes.kill_last()
                killed.append(count)
                return

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


Material = Sequence[tuple[str, bytes]]
"""Files by ending and content. Made once for all runs: packages carry the time of their making."""


def material() -> Material:
    """Documents, workbooks, tables, texts and pictures in turn."""
    makers = (_docx, _xlsx, _csv, _markdown, _png)
    return [makers[number % len(makers)](number) for number in range(RENDERS)]


def deliverables(workspace: Workspace, files: Material) -> list[tuple[Submission, Task]]:
    """Submissions of one file each."""
    task = Task(id="render", sector="Information", occupation="Editors", brief="Write it down.")
    made = []
    for number, (ending, content) in enumerate(files):
        name = f"work-{number}.{ending}"
        file = FileRef(name=name, size=len(content), digest=workspace.blobs.put(content))
        author = ModelRun(name=f"m-{number}", model="scripted/x")
        made.append((Submission(task=task.id, author=author, text="Here it is.", files=(file,)), task))
    workspace.store.add_all([task, *(submission for submission, _ in made)])
    return made


def _docx(number: int) -> tuple[str, bytes]:
    import docx

    document, out = docx.Document(), io.BytesIO()
    document.add_heading(f"Memo {number}")
    document.add_paragraph("The figures are in order. " * 20)
    document.save(out)
    return "docx", out.getvalue()


def _xlsx(number: int) -> tuple[str, bytes]:
    import openpyxl

    book, out = openpyxl.Workbook(), io.BytesIO()
    for row in range(20):
        book.worksheets[0].append([f"item {row}", row * number])
    book.save(out)
    return "xlsx", out.getvalue()


def _csv(number: int) -> tuple[str, bytes]:
    return "csv", "".join(f"item {row},{row * number}\n" for row in range(20)).encode()


def _markdown(number: int) -> tuple[str, bytes]:
    return "md", f"# Note {number}\n\nAll of it is done.\n".encode()


def _png(number: int) -> tuple[str, bytes]:
    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (320, 200), (number % 255, 80, 120)).save(out, "PNG")
    return "png", out.getvalue()


def judge_all(workspace: Workspace, executor: Executor) -> None:
    made = world(workspace, tasks=TASKS, people=0)
    grader = ByModel(JUDGE)
    ended = spread_judging(
        grader.ask,
        lambda: missing_verdicts(workspace.store, grader, made.comparisons, sweeps=SWEEPS),
        workspace=workspace,
        tasks=made.tasks,
        terms=Terms(run="cluster", pace=Pace(connections=20)),
        bench=Bench(),
        executor=executor,
    )
    assert (ended.left, ended.failures) == (0, 0), ended


def verdicts(workspace: Workspace) -> list[str]:
    return sorted(
        json.dumps(one.model_dump(mode="json", exclude=SAME), sort_keys=True) for one in workspace.store.each(Judgment)
    )


def renderings(workspace: Workspace) -> list[bytes]:
    return sorted(one.canonical() for one in workspace.store.each(Prepared))


def locally(folder: Path, files: Material) -> tuple[list[str], list[bytes], float]:
    """The same work in this process, on SQLite and a folder."""
    begun = time.monotonic()
    with Workspace.create(folder / "local") as workspace:
        _render(files, workspace, InProcess())
        judge_all(workspace, InProcess())
        return verdicts(workspace), renderings(workspace), time.monotonic() - begun


def on_the_cluster(
    folder: Path, database: str, bucket: str, files: Material
) -> tuple[list[str], list[bytes], dict[str, Any]]:
    nodes = Nodes(folder)
    nodes.start()
    time.sleep(8)
    with Workspace.create(folder / "shared", database=database, blobs=bucket) as workspace:
        assert not workspace.at.needs_folder
        facts: dict[str, Any] = {}
        for name, run, count, total in (
            ("renders", partial(_render, files), lambda: workspace.store.count(Prepared), RENDERS),
            ("judgments", judge_all, lambda: _done(workspace), JUDGMENTS),
        ):
            nodes.start()
            executor = Watched(RayCluster(f"127.0.0.1:{PORT}"))
            _wait_for(executor)
            begun = time.monotonic()
            with killing(nodes, count, at=total // 2) as killed:
                run(workspace, executor)
            assert killed, f"all {name} were done before a node could be killed"
            facts[name] = {
                "killed_at": killed[0],
                "by_node": sorted(executor.nodes.values()),
                "seconds": round(time.monotonic() - begun, 1),
            }
            assert len(executor.nodes) == 2, executor.nodes
        spent = Ledger(workspace.store).spent(run="cluster")
        facts["calls_answered"], facts["calls_unanswered"] = spent.usage.calls, spent.unanswered
        return verdicts(workspace), renderings(workspace), facts


def _render(files: Material, workspace: Workspace, executor: Executor) -> None:
    prepare_all(deliverables(workspace, files), workspace=workspace, executor=executor)


def _done(workspace: Workspace) -> int:
    return Work(workspace.store).counts(run="cluster").get(WorkState.DONE, 0)


def _wait_for(executor: Watched) -> None:
    deadline = time.monotonic() + 60
    while executor.places < 2:
        assert time.monotonic() < deadline, "the second node did not join"
        time.sleep(1)
        executor.__dict__.pop("places", None)
        executor._cluster.__dict__.pop("places", None)


def main(folder: Path) -> None:
    from moto.server import ThreadedMotoServer

    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line for every request would hide what went wrong
    store = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    store.start()
    host, port = store.get_host_and_port()
    keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1"}
    os.environ.update(keys | {"AWS_ENDPOINT_URL": f"http://{host}:{port}", "TMPDIR": str(folder)})
    import s3fs

    s3fs.S3FileSystem().mkdir("guildhall")
    files = material()
    with private_postgres() as server:
        there = on_the_cluster(folder, server.new_database(), "s3://guildhall/files", files)
        here = locally(folder, files)
    assert len(there[0]) == len(set(there[0])) == JUDGMENTS, len(there[0])
    assert len(there[1]) == len(here[1]), (len(there[1]), len(here[1]))
    assert there[0] == here[0], "a verdict differs"
    other = [(one, two) for one, two in zip(there[1], here[1], strict=True) if one != two]
    assert not other, (f"{len(other)} renderings differ", other[0])
    figures = {**there[2], "lost": 0, "twice": 0, "identical_to_local": True, "local_seconds": round(here[2], 1)}
    (folder / "figures.json").write_text(json.dumps(figures))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
