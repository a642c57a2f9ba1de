"""Each model's own rate on each task, from which differences are taken paired by task."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.rated import Groups
from guildhall.domain.estimates import Convention
from guildhall.domain.report import TaskRates
from guildhall.domain.studies import Study


def rates_by_task(outcomes: Outcomes, waves: Iterable[Study]) -> TaskRates:
    """Rates by model and task, tasks under the version that the studies pin."""
    keys = {name: key for study in waves for name, key in study.pins.items()}
    groups = Groups(outcomes)
    models = [outcomes.model.names[code] for code in groups.codes.tolist()]
    place = np.repeat(np.arange(len(groups)), groups.n_tasks), groups.names_of_tasks
    rates: dict[str, dict[str, tuple[float | None, ...]]] = {}
    conventions: tuple[Convention, ...] = ("win", "win_or_tie")
    for convention in conventions:
        means = np.full((len(groups), len(outcomes.task.names)), None, dtype=object)
        means[place] = groups.task_means(convention).tolist()
        rates[convention] = dict(zip(models, map(tuple, means.tolist()), strict=True))
    tasks = tuple(keys.get(name, name) for name in outcomes.task.names)
    return TaskRates(tasks=tasks, win=rates["win"], win_or_tie=rates["win_or_tie"])
