"""Each model on each task as one row: hours, wages, review times, prices and verdicts, for speed and cost."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.tables import Coded, Floats, Table
from guildhall.domain.tasks import Task, TaskKey
from guildhall.reports.tables import csv_text
from guildhall.store.records import Store
from guildhall.study.rows import NOT_ASKED, Rows


def tasks_and_models(store: Store, rows: Rows) -> Table | None:
    """One row per task and model, in the columns `guildhall analyze savings` reads.

    Review is a task's mean active time at a grader's first sight of it, priced at the wage of the task's occupation;
    a model's minutes and dollars are means over its samples, as the ledger booked them.
    """
    n_tasks, n_models = len(rows.wording.names), len(rows.model.names)
    pair = rows.model.codes.astype(np.int64) * n_tasks + rows.wording.codes
    pairs, at = np.unique(pair, return_inverse=True)
    model, task = np.divmod(pairs, n_tasks)
    hours, wage = _hours_and_wages(store, rows)
    review = _review_minutes(rows)
    spent = _spent(rows, n_models * n_tasks)
    known = ~np.isnan(hours[task]) & ~np.isnan(spent["minutes"][pairs])
    if not known.any():
        return None
    asked = rows.accepted != NOT_ASKED
    columns: dict[str, Coded | Floats] = {
        "task": Coded(task[known].astype(np.int32), _task_names(rows)),
        "model": _named(model[known], rows.model.names),
        "human_minutes": 60 * hours[task],
        "human_cost": (hours * wage)[task],
        "minutes": spent["minutes"][pairs],
        "cost": spent["cost"][pairs],
        "wins": _count(at, rows.score == 1.0),
        "ties": _count(at, rows.score == 0.5),
        "judgments": _count(at, np.ones(len(rows), dtype=np.bool_)),
        "accepted": _count(at, rows.accepted == 1),
        "rated": _count(at, asked),
    }
    if review is not None:
        columns |= {"review_minutes": review[task], "review_cost": (review / 60 * wage)[task]}
    kept = {name: cells if isinstance(cells, Coded) else cells[known] for name, cells in columns.items()}
    return Table(kept, int(known.sum()))


def _task_names(rows: Rows) -> tuple[str, ...]:
    """A task's id; its key where several of its wordings were judged."""
    keys = [TaskKey(name) for name in rows.wording.names]
    times = Counter(key.id for key in keys)
    return tuple(key.id if times[key.id] == 1 else key for key in keys)


def _named(codes: NDArray[Any], names: tuple[str, ...]) -> Coded:
    """Codes over the names that occur: the expert is nobody's row."""
    used, renumbered = np.unique(codes, return_inverse=True)
    return Coded(renumbered.astype(np.int32), tuple(names[code] for code in used.tolist()))


def _count(at: NDArray[Any], which: NDArray[np.bool_]) -> Floats:
    return np.asarray(np.bincount(at, which), dtype=np.float64)


def _hours_and_wages(store: Store, rows: Rows) -> tuple[Floats, Floats]:
    tasks = store.get_all(Task, rows.wording.names)
    return (
        np.array([task.expert_hours for task in tasks], dtype=np.float64),
        np.array([task.hourly_wage_usd for task in tasks], dtype=np.float64),
    )


def _review_minutes(rows: Rows) -> Floats | None:
    """Each task's mean; a judgment of several works counts once. None where no time was taken."""
    _, first = np.unique(rows.judgment, return_index=True)
    seen = first[(rows.exposure[first] == 1) & ~np.isnan(rows.active_s[first])]
    if not len(seen):
        return None
    return _means(rows.wording.codes[seen], rows.active_s[seen] / 60, len(rows.wording.names))


def _spent(rows: Rows, size: int) -> dict[str, Floats]:
    """Mean minutes and dollars of each (model, task), over the samples that were judged; NaN where unknown."""
    first = rows.deliverables.first
    pair = rows.model.codes[first].astype(np.int64) * len(rows.wording.names) + rows.wording.codes[first]
    return {"minutes": _means(pair, rows.seconds[first] / 60, size), "cost": _means(pair, rows.cost_usd[first], size)}


def _means(group: NDArray[Any], values: Floats, size: int) -> Floats:
    """The mean of each group's known values; NaN for a group without one."""
    known = ~np.isnan(values)
    times = np.bincount(group[known], minlength=size)
    total = np.bincount(group[known], values[known], minlength=size)
    means: Floats = np.divide(total, times, out=np.full(size, np.nan), where=times > 0)
    return means


def table_csv(table: Table) -> str:
    """The table as a file that `guildhall analyze savings` reads."""
    words = {name: table.coded(name) for name in ("task", "model")}
    numbers = {name: table.numbers(name).tolist() for name in table.columns if name not in words}
    named = [[column.names[code] for code in column.codes.tolist()] for column in words.values()]
    known = [[_cell(value) for value in cells] for cells in numbers.values()]
    return csv_text([*words, *numbers], zip(*named, *known, strict=True))


def _cell(value: float) -> float | str:
    return "" if math.isnan(value) else value
