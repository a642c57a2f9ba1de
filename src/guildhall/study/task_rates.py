"""Each task's own rates, kept with the findings so that two reports can be compared paired by task."""

from __future__ import annotations

import numpy as np

from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.rated import Convention, Groups
from guildhall.analysis.win_rates import groups
from guildhall.domain.findings import TaskRates
from guildhall.domain.studies import Study


def task_rates(outcomes: Outcomes, study: Study) -> TaskRates:
    """Rates by model and task, tasks under the version the study froze."""
    keys = study.pins
    rates: dict[Convention, dict[str, tuple[float | None, ...]]] = {"win": {}, "win_or_tie": {}}
    for code, group in groups(outcomes):
        judged = np.unique(group.task).tolist()
        for convention, by_model in rates.items():
            own: list[float | None] = [None] * len(outcomes.task.names)
            for task, mean in zip(judged, Groups([group]).task_means(convention).tolist(), strict=True):
                own[task] = mean
            by_model[outcomes.model.names[code]] = tuple(own)
    tasks = tuple(keys.get(name, name) for name in outcomes.task.names)
    return TaskRates(tasks=tasks, win=rates["win"], win_or_tie=rates["win_or_tie"])
