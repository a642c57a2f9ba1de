"""What a report rests on: counted judgments of one group of graders, the others beside, and facts that chapters ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import polars as pl

from guildhall.analysis.counting import Counted
from guildhall.analysis.drift import Drift
from guildhall.analysis.pairs import Pairs
from guildhall.analysis.tables import Table
from guildhall.analysis.tasks_and_models import tasks_and_models
from guildhall.analysis.win_rates import WinRate, win_rates
from guildhall.domain.policy import GraderGroup
from guildhall.domain.studies import Study


class Need(StrEnum):
    """A table of facts beside the judgments; it is read only where a chapter needs it. Its columns:

    `severity`: `submission, task, model` (null for a person's work), `severity, grader, control, drawn`.
    `files`: `author, task, submission, ending, rules`: delivered files with the faults that checks found in each.
    `tells`: `submission`: work that still hints at its maker.
    `picks`: `author, chosen, order`: tries a judge picked from.
    `reasons`: `coder, judgment, label`: justifications by the label that names their main reason.
    `justifications`: `judgment, side, model, task, words`: what graders wrote, by whose work lost or won.
    """

    SEVERITY = "severity"
    FILES = "files"
    TELLS = "tells"
    PICKS = "picks"
    REASONS = "reasons"
    JUSTIFICATIONS = "justifications"


@dataclass(frozen=True)
class Evidence:
    """All a chapter may look at. It opens nothing: the same evidence gives the same section anywhere."""

    study: Study
    counted: Counted
    tasks: pl.DataFrame
    """The study's tasks with their facts: `key, id, sector, occupation, hours, wage, references, expert, ...`."""
    others: Mapping[GraderGroup, Counted] = field(default_factory=dict)
    """Other groups that judged the same study under the same rules: never pooled with these."""
    facts: Mapping[Need, pl.DataFrame] = field(default_factory=dict)
    submissions: int = 0
    """Works that were shown in comparisons with the baseline's."""
    omissions: int = 0
    """Files or parts of files that could not be shown, over all sides of counted judgments."""
    comparisons: int = 0
    earlier: Evidence | None = None
    """The earlier wave where the two may be pooled: its pairs are among these."""
    drift: Drift | None = None
    """What the anchors of a later wave say."""
    level: float = 0.95
    seed: int = 0

    @property
    def pairs(self) -> Pairs:
        return self.counted.pairs

    @cached_property
    def rates(self) -> list[WinRate]:
        """Every model's rates against the baseline: a report tells one value of each."""
        return win_rates(self.counted.outcomes, level=self.level)

    @cached_property
    def tasks_and_models(self) -> Table | None:
        """What savings rest on: a row for each task and model; None where no hours or times are known."""
        return tasks_and_models(self.pairs, self.tasks)

    @property
    def group(self) -> GraderGroup:
        return self.counted.policy.graders

    @property
    def baseline(self) -> str:
        return self.counted.policy.baseline

    def waves(self) -> Iterator[Study]:
        """The studies whose pairs are here, the earliest first."""
        if self.earlier is not None:
            yield from self.earlier.waves()
        yield self.study
