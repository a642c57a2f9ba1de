"""Each model's own rate on each task, from which differences are taken paired by task."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.rated import Groups
from guildhall.analysis.win_rates import groups
from guildhall.domain.estimates import Convention
from guildhall.domain.report import TaskRates
from guildhall.domain.studies import Study


def rates_by_task(outcomes: Outcomes, waves: Iterable[Study]) -> TaskRates:
    """Rates by model and task, tasks under the version that the studies pin."""
    keys = {name: key for study in waves for name, key in study.pins.items()}
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
