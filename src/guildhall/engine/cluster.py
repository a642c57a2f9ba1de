"""Work on a Ray cluster: the same items as on one machine, dealt to whichever node is ready for them and has room.

Nothing durable lives in Ray. A node is looked at before it gets work. One that dies takes down what it was doing and
nothing else: its batches are dealt again, and items it had finished are found finished in the store.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

from guildhall.engine.executor import ONLY_A_CORE, Ended, Needs, attempt
from guildhall.engine.readiness import NodeReport, look_here
from guildhall.errors import InputError, MissingTool, NodesNotReady
from guildhall.store.records import Store
from guildhall.store.work import Work, this_machine
from guildhall.store.workspace import Address

A = TypeVar("A")
B = TypeVar("B")

SANDBOX, OFFICE = "guildhall_sandbox", "guildhall_office"
"""Custom resources a node may declare: how many sandboxes, how many LibreOffices it can run at a time."""
OFFICE_BYTES = 1 << 30
"""What a LibreOffice may take, asked of Ray where a node has that much."""
LOOK_EVERY_S, LONGEST_LOOK_S, HEAD_AWAY_S, CANCEL_S = 2.0, 60.0, 20.0, 15.0
logger = logging.getLogger(__name__)


@dataclass
class _Flight:
    """A batch under way: on which node, and how many nodes died under it before."""

    argument: Any
    node: str = ""
    deaths: int = 0


class RayCluster:
    """A running Ray cluster, joined when the first work is dealt.

    At most `places` batches are under way at any time, however many there are to do: what a batch may use of a
    provider's connections is therefore known beforehand, and their sum over the cluster too. A batch whose process
    died is tried again by Ray, and one whose node died is dealt again, up to `tries` times.
    """

    def __init__(self, address: str | None = None, *, tries: int = 5) -> None:
        self.address, self.tries = address, tries
        self._ready: dict[str, NodeReport] = {}
        self._refused: dict[str, NodeReport] = {}
        self._looked_at = 0.0

    @cached_property
    def places(self) -> int:
        """The cores of the cluster as it is now; nodes that join later help out, but do not raise the number."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def map(
        self, function: Callable[[A], B], arguments: Iterable[A], *, needs: Needs = ONLY_A_CORE
    ) -> Iterator[Ended[A, B]]:
        ray, stream = self._ray, iter(arguments)
        if (first := next(stream, None)) is None:
            return
        waiting, places = chain([first], stream), needs.at_most(self.places)
        workspace = getattr(first, "workspace", None)
        options = {"num_cpus": 1, "max_retries": self.tries - 1, **self._asked_for(needs)}
        task = ray.remote(_on_this_node)
        again: deque[_Flight] = deque()
        flying: dict[Any, _Flight] = {}
        self._looked_at = 0.0  # what this work needs was perhaps not looked for yet
        self._ready.clear()
        try:
            for number in range(1, 1 << 62):
                self._look_at_nodes(workspace, needs, flying)
                while len(flying) < places and (room := self._room(flying)) is not None:
                    flight = again.popleft() if again else _Flight(next(waiting, None))
                    if flight.argument is None:
                        break
                    flight.node = room
                    named = task.options(
                        name=f"{_name(function)} {number}.{len(flying)}", **options, **_only_on(ray, room)
                    )
                    flying[named.remote(function, flight.argument)] = flight
                if not flying and not again:
                    return
                ended, _ = ray.wait(list(flying), num_returns=1, timeout=1.0) if flying else ([], None)
                for reference in ended:
                    flight = flying.pop(reference)
                    outcome = self._outcome(reference, flight, workspace)
                    if outcome is None:
                        again.append(replace(flight, deaths=flight.deaths + 1))
                    else:
                        yield outcome
        finally:
            self._cancel(list(flying))

    def _outcome(self, reference: Any, flight: _Flight, workspace: Address | None) -> Ended[Any, Any] | None:
        """How a batch ended; None when its node died and it is to be dealt again."""
        errors = self._ray.exceptions
        try:
            ended, logs = self._ray.get(reference)
        except errors.RayError as error:
            gone = isinstance(error, errors.TaskUnschedulableError | errors.NodeDiedError) or not self._lives(flight)
            if gone and flight.deaths + 1 < self.tries:
                return None
            return Ended(flight.argument, error=error)
        if workspace is not None and logs:
            (workspace.path / "logs").mkdir(exist_ok=True)
            for name, body in logs.items():
                (workspace.path / "logs" / name).write_bytes(body)
        found: Ended[Any, Any] = replace(ended, argument=flight.argument)
        return found

    def _lives(self, flight: _Flight) -> bool:
        self._look_at_head()  # which alone knows, and is asked for minutes when it is gone
        return any(node["NodeID"] == flight.node and node["Alive"] for node in self._ray.nodes())

    def _room(self, flying: dict[Any, _Flight]) -> str | None:
        """The ready node with the most cores free of our batches; None while all are busy."""
        busy = Counter(flight.node for flight in flying.values())
        free = {node: report.cores - busy[node] for node, report in self._ready.items()}
        best = max(free, key=lambda node: free[node], default=None)
        return best if best is not None and free[best] > 0 else None

    def _look_at_nodes(self, workspace: Address | None, needs: Needs, flying: dict[Any, _Flight]) -> None:
        """Look at nodes that joined, and take back at once what nodes held that are gone."""
        if time.monotonic() - self._looked_at < LOOK_EVERY_S:
            return
        self._look_at_head()
        alive = {node["NodeID"]: node for node in self._ray.nodes() if node["Alive"]}
        gone = {node: self._ready.pop(node) for node in list(self._ready) if node not in alive}
        for node, report in gone.items():
            held = sum(flight.node == node for flight in flying.values())
            back = self._take_back(report, workspace)
            logger.warning("node %s is gone with %d batches (%d items); others do them", report.host, held, back)
        new = [node for node in alive if node not in self._ready and node not in self._refused]
        for report in self._reports([alive[node] for node in new], workspace, needs):
            for words in report.notes:
                logger.warning("node %s: %s", report.host, words)
            (self._refused if report.faults else self._ready)[report.node] = report
            if report.faults:
                logger.warning("no work goes to a node that is not ready:\n%s", report.line)
        if not self._ready and not any(flight.node in alive for flight in flying.values()):
            raise NodesNotReady([self._refused[node].line for node in self._refused if node in alive])
        self._looked_at = time.monotonic()

    def _look_at_head(self) -> None:
        """Without its head Ray ends the whole process in the end; better to stop in good order."""
        began = time.monotonic()
        while not self._head_answers():
            if time.monotonic() - began > HEAD_AWAY_S:
                fix = "start it again, then run the same command: what was finished is kept"
                raise MissingTool("the head of the Ray cluster", needed_for="work on it", fix=fix)
            time.sleep(1.0)

    def _head_answers(self) -> bool:
        host, _, port = str(self._ray.get_runtime_context().gcs_address).rpartition(":")
        try:
            socket.create_connection((host, int(port)), timeout=2).close()
        except OSError:
            return False
        return True

    def _take_back(self, report: NodeReport, workspace: Address | None) -> int:
        others = {this_machine(), *(one.machine for one in self._ready.values())}
        if workspace is None or report.machine in others:  # a process of a machine that lives is seen to be dead
            return 0
        with closing(Store.open(workspace.database_url)) as store:
            return Work(store).take_back(report.machine)

    def _reports(self, nodes: list[Any], workspace: Address | None, needs: Needs) -> Iterator[NodeReport]:
        if not nodes:
            return
        ray = self._ray
        here = look_here(workspace, needs, mark=None)
        task = ray.remote(look_here)
        options = {"num_cpus": 0, "max_retries": 0, "name": "look at node"}
        asked = {
            task.options(**options, **_only_on(ray, node["NodeID"])).remote(workspace, needs, mark=here.mark): node
            for node in nodes
        }
        answered, _ = ray.wait(list(asked), num_returns=len(asked), timeout=LONGEST_LOOK_S)
        for reference, node in asked.items():
            report = replace(here, notes=(), faults=(f"did not answer within {LONGEST_LOOK_S:.0f} s",))
            if reference in answered:
                try:
                    report = ray.get(reference)
                except ray.exceptions.RayError as error:
                    report = replace(report, faults=(str(error).strip().splitlines()[-1][:200],))
            where = {"node": node["NodeID"], "host": node["NodeManagerAddress"]}
            yield replace(report, **where, cores=int(node["Resources"].get("CPU", 0))).beside(here)

    def _cancel(self, flying: list[Any]) -> None:
        """Stopped half-way, every node is told; what it claimed is given back."""
        ray = self._ray
        if not flying or not self._head_answers():
            return
        with suppress(Exception):  # the cluster itself may be what ended
            for reference in flying:
                ray.cancel(reference, force=False)
            _, left = ray.wait(flying, num_returns=len(flying), timeout=CANCEL_S)
            for reference in left:
                ray.cancel(reference, force=True)

    def _asked_for(self, needs: Needs) -> dict[str, Any]:
        """Resources as Ray takes them: those that a node declares, and memory for LibreOffice where there is enough."""
        most = max((node["Resources"].get("memory", 0) for node in self._ray.nodes() if node["Alive"]), default=0)
        wanted = needs.offices * OFFICE_BYTES
        memory = {"memory": wanted} if 0 < wanted <= most else {}
        return {"resources": self._declared(needs), **memory}

    def _declared(self, needs: Needs) -> dict[str, int]:
        """Needs that some node declares; where no node says how much it can take, its cores are the measure.

        What no node can ever give is refused: Ray would wait for such a node for ever.
        """
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        most = {name: max((node.get(name, 0) for node in nodes), default=0) for name in (SANDBOX, OFFICE)}
        wanted = {SANDBOX: needs.sandboxes, OFFICE: needs.offices}
        declared = {name: count for name, count in wanted.items() if count and most[name]}
        for name, count in declared.items():
            if count > most[name]:
                raise InputError(
                    f"a batch takes {count} of {name} and no node of the cluster has more than {most[name]:g}; lower "
                    "`at_once` in the study file, or start a node with more"
                )
        return declared

    @cached_property
    def _ray(self) -> Any:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
        except ModuleNotFoundError as error:
            fix = "install it with `pip install 'guildhall[ray]'`"
            raise MissingTool("Ray", needed_for="--executor ray", fix=fix) from error
        try:
            if self.address and "://" not in self.address:  # asked by ourselves: Ray tries a dead address for minutes
                host, _, port = self.address.rpartition(":")
                socket.create_connection((host, int(port)), timeout=5).close()
            ray.init(
                address=self.address or "auto",
                ignore_reinit_error=True,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        except (OSError, ValueError, RuntimeError) as error:
            fix = "start one with `ray start --head` and name it with --address HOST:PORT"
            raise MissingTool("a running Ray cluster", needed_for="--executor ray", fix=fix) from error
        return ray


def _only_on(ray: Any, node: str) -> dict[str, Any]:
    return {"scheduling_strategy": ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)}


def _name(function: Any) -> str:
    return str(getattr(getattr(function, "func", function), "__name__", "work"))


def _on_this_node(function: Callable[[Any], Any], argument: Any) -> tuple[Ended[Any, Any], dict[str, bytes]]:
    """Work on one argument, which stays here, and the logs that were written where the workspace's folder is not."""
    ended = replace(attempt(function, argument), argument=None)
    workspace, logs = getattr(argument, "workspace", None), {}
    if isinstance(workspace, Address) and (folder := workspace.logs_apart()) is not None and folder.exists():
        for file in sorted(folder.iterdir()):
            logs[file.name] = file.read_bytes()
            file.unlink()
    return ended, logs
