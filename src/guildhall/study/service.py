"""The grading service as `[gradings]` of the workspace's settings describes it: its judges, its limits, its quotas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, model_validator

from guildhall.domain.judges import JudgePlan
from guildhall.domain.prices import Price
from guildhall.domain.values import Value
from guildhall.engine.prices import Prices
from guildhall.engine.terms import Limits, Pace, Terms
from guildhall.errors import InputError
from guildhall.grading.judges.asking import MOST_SWEEPS, SWEEPS
from guildhall.grading.judges.baselines import BASELINES
from guildhall.grading.judges.graders import AutomaticGrader, ByBaseline, ByModel
from guildhall.store.settings import read_section
from guildhall.store.workspace import Workspace

Positive = Annotated[int, Field(ge=1)]


class ServiceSettings(Value):
    """`[gradings]`: who judges, how often, at which cost a grading at most, and how much a token may ask for.

    Without the section there is one judge, `rubric-and-format`, which needs no model.
    """

    judges: tuple[JudgePlan, ...] = ()
    baselines: tuple[str, ...] = ("rubric-and-format",)
    sweeps: Annotated[int, Field(ge=1, lt=MOST_SWEEPS)] = SWEEPS
    limits: Limits = Limits()
    pace: Pace = Pace()
    prices: dict[str, Price] = {}
    most_bytes: Positive = 200 << 20
    """The largest package, packed; what it unpacks to may be five times as much."""
    most_files: Positive = 2000
    gradings_per_day: Positive = 20
    bytes_per_day: Positive = 2 << 30

    @model_validator(mode="after")
    def _judges_are_known(self) -> Self:
        if unknown := sorted(set(self.baselines) - set(BASELINES)):
            raise ValueError(f"no baseline is called {unknown[0]!r}; known: {', '.join(sorted(BASELINES))}")
        names = [*(plan.name for plan in self.judges), *self.baselines]
        if len(set(names)) < len(names):
            raise ValueError("two judges share one name")
        return self

    def graders(self) -> Mapping[str, AutomaticGrader]:
        """Every judge of the service, by name."""
        return {plan.name: ByModel(plan) for plan in self.judges} | {name: ByBaseline(name) for name in self.baselines}

    def grader(self, name: str) -> AutomaticGrader:
        known = self.graders()
        if name not in known:
            raise InputError(f"no judge of this service is called {name!r}; it has {', '.join(known) or 'none'}")
        return known[name]

    def terms(self, run: str) -> Terms:
        """What a grading may spend; it is booked on its own name."""
        return Terms(run=run, limits=self.limits, pace=self.pace, prices=Prices(self.prices))


def service_of(workspace: Workspace) -> ServiceSettings:
    """The grading service of a workspace, as its settings stand now."""
    return read_section(workspace.path, "gradings", ServiceSettings) or ServiceSettings()
