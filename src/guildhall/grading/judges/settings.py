"""How automatic grading is to be carried out, as a study file says it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from guildhall.domain.prices import Price
from guildhall.domain.values import Id, Value
from guildhall.engine.prices import Prices
from guildhall.engine.sandboxes import Sandbox
from guildhall.engine.terms import Limits, Pace, Terms
from guildhall.grading.judges.asking import MOST_SWEEPS, SWEEPS
from guildhall.grading.judges.spreading import Bench


class PanelSettings(Value):
    """`[grading.panel]`: the study's judges as one; `draw` of them by seed sit on each sweep, or all of them.

    Votes are equal, or given in `weights`, or fitted to people's judgments and read from the file `weights_from`.
    """

    name: Id = "panel"
    draw: Annotated[int, Field(ge=1)] | None = None
    weights: dict[str, Annotated[float, Field(ge=0)]] = {}
    weights_from: Path | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.weights and self.weights_from is not None:
            raise ValueError("weights are given or read from a file, not both")
        return self


class GradingSettings(Value):
    """`[grading]`: how often every order is asked, in what sets, and at which cost at most.

    `makers` names the family an author belongs to where its model string does not: author name -> maker. `sandbox` and
    `environment` are where judges with tools work, `at_once` of them at a time; from inside they reach no network.
    """

    submissions: Literal["study", "all"] = "study"
    """Only what the study's own authors made, or everything the workspace holds for its tasks, wherever it was made."""
    sweeps: Annotated[int, Field(ge=1, lt=MOST_SWEEPS)] = SWEEPS
    set_size: Annotated[int, Field(ge=2, le=10)] = 2
    baselines: tuple[str, ...] = ("always-human", "always-tie", "rubric-and-format")
    panel: PanelSettings | None = None
    makers: dict[str, str] = {}
    sandbox: str = "bubblewrap"
    environment: Path | None = None
    sandbox_config: Path | None = None
    at_once: Annotated[int, Field(ge=1, le=500)] = 4
    limits: Limits = Limits()
    pace: Pace = Pace()

    def place(self) -> Sandbox:
        return Sandbox(kind=self.sandbox, environment=self.environment, config=self.sandbox_config)

    def bench(self) -> Bench:
        return Bench(self.place(), self.at_once)

    def terms(self, run: str, prices: dict[str, Price] | None = None) -> Terms:
        return Terms(run=run, limits=self.limits, pace=self.pace, prices=Prices(prices))
