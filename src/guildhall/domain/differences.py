"""Two reports side by side: differences paired by task, and the gate a release passes or does not."""

from __future__ import annotations

from enum import StrEnum

from guildhall.domain.estimates import Estimate
from guildhall.domain.values import Value


class ReportSide(Value):
    """One of two reports that are compared."""

    study: str
    title: str
    design_digest: str
    grader_kind: str
    simulated: bool
    tasks: int


class ModelDifference(Value):
    """One model of the second report against its counterpart in the first: second minus first, paired by task.

    `first` and `second` are the rates each report prints, over all of its own tasks.
    """

    model: str
    against: str
    first: dict[str, Estimate]
    second: dict[str, Estimate]
    difference: dict[str, Estimate]
    could_see: dict[str, float | None] = {}
    """The smallest difference that this comparison would tell from none four times out of five."""


class GateOutcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"


class GateFinding(Value):
    """One condition held against one model. Undecided is not passed: an estimate without an interval opens no gate."""

    condition: str
    estimate: str
    model: str
    outcome: GateOutcome
    words: str


class StudyDifference(Value):
    """Everything `report --compare` says. Models that stand in one report only are named, and compared with nothing."""

    first: ReportSide
    second: ReportSide
    baseline: str
    tasks_shared: int
    models: tuple[ModelDifference, ...]
    only_first: tuple[str, ...] = ()
    only_second: tuple[str, ...] = ()
    gate: tuple[GateFinding, ...] = ()
    version: str

    @property
    def passed(self) -> bool:
        """Whether every condition was decided, and decided well; true as well where there was none."""
        return all(finding.outcome is GateOutcome.PASSED for finding in self.gate)
