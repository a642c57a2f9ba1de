"""How a run of sampling is to be carried out, as a study file or the command line says it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from guildhall.domain.prices import Price
from guildhall.domain.values import Value
from guildhall.engine.executor import Executor, Processes
from guildhall.engine.prices import Prices
from guildhall.engine.sandboxes import Sandbox
from guildhall.engine.terms import Limits, Pace, Terms


class SamplingSettings(Value):
    """The `[sampling]` section: how work is paced, and the room it is done in. The room alone is part of a work's key.

    `at_once` agents work at a time in each of `processes` processes.
    """

    sandbox: str = "bubblewrap"
    environment: Path | None = None
    allow: tuple[str, ...] = ()
    sandbox_config: Path | None = None
    at_once: Annotated[int, Field(ge=1, le=500)] = 4
    processes: Annotated[int, Field(ge=1, le=64)] = 1
    limits: Limits = Limits(item_seconds=3600.0, item_turns=200)
    pace: Pace = Pace()

    def place(self) -> Sandbox:
        return Sandbox(kind=self.sandbox, environment=self.environment, allow=self.allow, config=self.sandbox_config)

    def executor(self) -> Executor | None:
        return Processes(self.processes) if self.processes > 1 else None

    def terms(self, run: str, prices: dict[str, Price] | None = None) -> Terms:
        return Terms(run=run, limits=self.limits, pace=self.pace, prices=Prices(prices))
