"""Ablations: two authors that differ in one setting only, on the same tasks."""

from __future__ import annotations

from guildhall.domain.estimates import Estimate
from guildhall.domain.values import Value


class Ablation(Value):
    """What one change of one setting did: changed minus base, paired by task, by each convention for ties."""

    setting: str
    base: str
    base_level: str
    changed: str
    changed_level: str
    difference: dict[str, Estimate]

    @property
    def title(self) -> str:
        """`prompt: plain to elicited`."""
        return f"{self.setting.replace('_', ' ')}: {self.base_level} to {self.changed_level}"

    @property
    def who(self) -> str:
        return self.base if self.base == self.changed else f"{self.changed} against {self.base}"
