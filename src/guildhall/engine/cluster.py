"""Work on a Ray cluster: the same items as on one machine, dealt to whichever node has room.

Nothing durable lives in Ray. A node that dies takes down what it was doing and nothing else: its batches are run again
elsewhere, and items it had finished are found finished in the store.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar

from guildhall.engine.executor import ONLY_A_CORE, Ended, Needs, attempt
from guildhall.errors import InputError, MissingTool

A = TypeVar("A")
B = TypeVar("B")

SANDBOX, OFFICE = "guildhall_sandbox", "guildhall_office"
"""Custom resources a node may declare: how many sandboxes, how many LibreOffices it can run at a time."""


class RayCluster:
    """A running Ray cluster, joined when the first work is dealt.

    At most `places` batches are under way at any time, however many there are to do: what a batch may use of a
    provider's connections is therefore known beforehand, and their sum over the cluster too. A batch whose node or
    process died is tried again, up to `tries` times.
    """

    def __init__(self, address: str | None = None, *, tries: int = 5) -> None:
        self.address, self.tries = address, tries

    @cached_property
    def places(self) -> int:
        """The cores of the cluster as it is now; nodes that join later help out, but do not raise the number."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def map(
        self, function: Callable[[A], B], arguments: Iterable[A], *, needs: Needs = ONLY_A_CORE
    ) -> Iterator[Ended[A, B]]:
        ray = self._ray
        task = ray.remote(attempt).options(
            num_cpus=1,
            resources=self._declared(needs),
            max_retries=self.tries - 1,
            scheduling_strategy="SPREAD",
        )
        waiting, places = iter(arguments), needs.at_most(self.places)
        flying: dict[Any, A] = {}
        while True:
            for argument in islice(waiting, places - len(flying)):
                flying[task.remote(function, argument)] = argument
            if not flying:
                return
            (ended, *_), _ = ray.wait(list(flying), num_returns=1)
            yield self._outcome(ended, flying.pop(ended))

    def _outcome(self, ended: Any, argument: A) -> Ended[A, Any]:
        try:
            found: Ended[A, Any] = self._ray.get(ended)
        except self._ray.exceptions.RayError as error:
            return Ended(argument, error=error)
        return found

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
            ray.init(
                address=self.address or "auto",
                ignore_reinit_error=True,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        except (ConnectionError, RuntimeError) as error:
            fix = "start one with `ray start --head` and name it with --address HOST:PORT"
            raise MissingTool("a running Ray cluster", needed_for="--executor ray", fix=fix) from error
        return ray
