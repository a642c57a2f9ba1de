"""Speed and cost from a file: averages as one JSON object, or one row per task and model.

The public tables of ClawWork as rows for speed and cost: costs, times and marks that others measured. Nobody timed an
expert there: a model estimated the hours of each task, and a model marked the work. Each row says so. Review was not
measured at all, and stays unknown.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from guildhall.analysis.files import read_table
from guildhall.analysis.savings import (
    Catastrophe,
    Savings,
    TaskLedger,
    savings_from_tasks,
    savings_from_totals,
)
from guildhall.analysis.savings_intervals import WhoJudged
from guildhall.analysis.tables import Coded, Floats, Table, encode
from guildhall.domain.estimates import Success
from guildhall.errors import ImpossibleValue, MissingColumn, NothingToCompare, UnreadableFile

CURRENCIES = {"speed": "minutes", "cost": "cost"}
"""What is called speed is counted in minutes; what is called cost, in dollars."""
_COUNTED = {
    Success.WIN: (("wins",), "judgments"),
    Success.WIN_OR_TIE: (("wins", "ties"), "judgments"),
    Success.ACCEPTED: (("accepted",), "rated"),
}

COLUMNS = ("review_minutes", "human_cost", "review_cost", "cost", "grader")
"""What a table of tasks may hold besides what it must; with `grader` a task has a row for each of them."""


def columns_for(w: Success) -> tuple[str, ...]:
    """What a table of tasks must hold."""
    successes, trials = _COUNTED[w]
    return ("task", "model", "human_minutes", "minutes", *successes, trials)


@dataclass(frozen=True)
class ModelSavings:
    """One model: `speed` and `cost`, each absent where the file holds nothing to compute it from."""

    model: str
    win_rate: float
    speed: Savings | None
    cost: Savings | None
    n_tasks: int | None = None
    n_excluded: int = 0


def read_savings(
    path: Path,
    *,
    w: Success = Success.WIN,
    tries: Sequence[int] = (1, 2, 3),
    catastrophe: Catastrophe | None = None,
    review_minutes: float | None = None,
    seed: int = 0,
    level: float = 0.95,
) -> list[ModelSavings]:
    """Savings of every model in the file; a `.json` file holds averages, any other a row per task and model (and
    grader)."""
    if path.suffix.lower() == ".json":
        return _from_totals(path, w=w, tries=tries, catastrophe=catastrophe)
    table = read_table(path, required=columns_for(w), optional=COLUMNS)
    if review_minutes is not None:
        table = with_review(table, review_minutes)
    return savings_of_table(table, w=w, tries=tries, catastrophe=catastrophe, seed=seed, level=level)


def savings_of_table(
    table: Table,
    *,
    w: Success = Success.WIN,
    tries: Sequence[int] = (1, 2, 3),
    catastrophe: Catastrophe | None = None,
    seed: int = 0,
    level: float = 0.95,
    rounds: int = 2000,
) -> list[ModelSavings]:
    """Savings of every model in a table with a row per task and model (and grader), in the columns the files have."""
    successes, trials = _COUNTED[w]
    model = table.coded("model")
    won = sum(table.numbers(name) for name in successes)
    judged = table.numbers(trials)
    found = []
    for code, name in enumerate(model.names):
        mine = model.codes == code
        ledgers = {
            currency: _ledger(table, unit, mine, np.asarray(won), judged) for currency, unit in CURRENCIES.items()
        }
        seen = {
            currency: savings_from_tasks(
                ledger,
                rng=np.random.default_rng([seed, code]),
                w=w,
                tries=tries,
                level=level,
                rounds=rounds,
                catastrophe=catastrophe if currency == "cost" else None,
            )
            for currency, ledger in ledgers.items()
            if ledger is not None
        }
        rate = next(iter(seen.values())).win_rate if seen else float("nan")
        kept = max((len(one.human) for one in ledgers.values() if one), default=0)
        given = len(np.unique(table.coded("task").codes[mine])) if "grader" in table else int(mine.sum())
        found.append(ModelSavings(name, rate, seen.get("speed"), seen.get("cost"), kept, given - kept))
    return found


def with_review(table: Table, minutes: float) -> Table:
    """The table with an assumed time of review, priced at each task's own cost a minute; it says that it is assumed."""
    a_minute = table.numbers("human_cost") / table.numbers("human_minutes") if "human_cost" in table else None
    assumed: dict[str, Coded | Floats] = {
        "review_minutes": np.full(table.n_rows, minutes),
        "review_by": encode([f"assumed: {minutes:g} minutes an attempt"] * table.n_rows),
    }
    if a_minute is not None:
        assumed["review_cost"] = minutes * a_minute
    return Table({**table.columns, **assumed}, table.n_rows)


def _ledger(table: Table, unit: str, mine: Any, won: Any, judged: Any) -> TaskLedger | None:
    """One model's tasks in one currency, those with every figure known; None where the currency is not there at all.

    Rows of several graders are one task, in the order in which tasks first appear.
    """
    names = (f"human_{unit}", unit)
    if any(name not in table for name in names):
        return None
    human, model = (table.numbers(name)[mine] for name in names)
    review = table.numbers(f"review_{unit}")[mine] if f"review_{unit}" in table else None
    columns = [human, model, won[mine], np.where(judged[mine] > 0, judged[mine], np.nan)]
    known = ~np.isnan(np.column_stack([*columns, *([] if review is None else [review])])).any(axis=1)
    if not known.any():
        return None
    human, model, successes, trials = (column[known] for column in columns)
    review = None if review is None else review[known]
    if "grader" not in table:
        return TaskLedger(human, review, model, successes, trials)
    _, first, at = np.unique(table.coded("task").codes[mine][known], return_index=True, return_inverse=True)
    at, first = np.argsort(np.argsort(first))[at], np.sort(first)
    return TaskLedger(
        human[first],
        None if review is None else review[first],
        model[first],
        np.bincount(at, successes).astype(np.float64),
        np.bincount(at, trials).astype(np.float64),
        WhoJudged(at, table.coded("grader").codes[mine][known], successes, trials),
    )


def _from_totals(
    path: Path, *, w: Success, tries: Sequence[int], catastrophe: Catastrophe | None
) -> list[ModelSavings]:
    data = _object(path)
    found = []
    for row in data["models"]:
        rate = _number(path, row, "win_rate")
        both: dict[str, Savings | None] = {}
        for currency, unit in CURRENCIES.items():
            if row.get(unit) is None:
                both[currency] = None
                continue
            both[currency] = savings_from_totals(
                human=_number(path, data, f"human_{unit}"),
                review=_number(path, data, f"review_{unit}") if f"review_{unit}" in data else None,
                model=_number(path, row, unit),
                win_rate=rate,
                w=w,
                tries=tries,
                catastrophe=catastrophe if currency == "cost" else None,
            )
        found.append(ModelSavings(str(row.get("model", "")), rate, both["speed"], both["cost"]))
    return found


def _object(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UnreadableFile(path, "there is no such file", fix="check the path") from error
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise UnreadableFile(path, f"not readable as JSON ({error})") from error
    rows = data.get("models") if isinstance(data, dict) else None
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise UnreadableFile(path, "not an object with a list of `models`", fix="see the how-to on savings")
    return dict(data)


def _number(path: Path, row: dict[str, Any], name: str) -> float:
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MissingColumn(path.name, name, found=[key for key, one in row.items() if isinstance(one, int | float)])
    return float(value)


COMPLETIONS, COSTS, VALUES = "task_completions_all_agents.csv", "token_costs_by_task.csv", "task_values.jsonl"
HOURS_BY = "model-estimated hours"
CLAWWORK_COLUMNS = (
    *("task", "model", "human_minutes", "human_cost", "minutes", "cost", "accepted", "rated"),
    *("hours_by", "review_by", "success_by"),
)


def clawwork_rows(folder: Path, *, accept_at: float = 0.6) -> list[dict[str, Any]]:
    """One row per task and agent; an attempt whose mark reaches `accept_at` counts as accepted.

    Minutes are a mean over attempts; dollars are those of all sessions on the task, shared among its attempts.
    """
    if not 0 < accept_at <= 1:
        raise ImpossibleValue("accept_at", accept_at, allowed="above 0 and at most 1")
    worth = {row["task_id"]: row for row in _lines(folder / VALUES)}
    dollars = {(row["agent"], row["task_id"]): float(row["total_cost_usd"]) for row in _rows(folder / COSTS)}
    attempts: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for row in _rows(folder / COMPLETIONS):
        if row["work_submitted"] == "True" and row["evaluation_score"] and row["wall_clock_seconds"]:
            attempts[row["agent"], row["task_id"]].append(row)
    made = [
        _row(agent, task, tried, worth[task], dollars.get((agent, task)), accept_at)
        for (agent, task), tried in sorted(attempts.items())
        if task in worth
    ]
    if not made:
        raise NothingToCompare("savings")
    return made


def _row(
    agent: str, task: str, tried: list[dict[str, str]], worth: dict[str, Any], dollars: float | None, accept_at: float
) -> dict[str, Any]:
    seconds = [float(one["wall_clock_seconds"]) for one in tried]
    return {
        "task": task,
        "model": agent,
        "human_minutes": 60 * float(worth["hours_estimate"]),
        "human_cost": float(worth["task_value_usd"]),
        "minutes": sum(seconds) / len(seconds) / 60,
        "cost": "" if dollars is None else dollars / len(tried),
        "accepted": sum(float(one["evaluation_score"]) >= accept_at for one in tried),
        "rated": len(tried),
        "hours_by": HOURS_BY,
        "review_by": "unknown: nobody measured it",
        "success_by": f"marked {accept_at:g} or better by a model",
    }


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with _opened(path) as file:
        yield from csv.DictReader(file)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with _opened(path) as file:
        for line in file:
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise UnreadableFile(path, f"a line is not JSON ({error})") from error


def _opened(path: Path) -> Any:
    try:
        return path.open(encoding="utf-8", newline="")
    except FileNotFoundError as error:
        raise UnreadableFile(path, "there is no such file", fix="give the folder of the ClawWork tables") from error


TRIES = tuple(range(1, 11))
"""What a curve over the number of tries shows."""
SAID = ("hours_by", "review_by", "success_by")
UNSAID = "not said by the file"


class SpeedAndCost(NamedTuple):
    """Every model's ratios under one meaning of `w`, which every caption names.

    `hours_by` says who knows how long the work takes a person, `review_by` how the time of review is known, or that it
    is not, and `success_by` who says whether an attempt will do.
    """

    models: Sequence[ModelSavings]
    w: Success
    hours_by: str
    review_by: str
    success_by: str


def read_speed_and_cost(
    path: Path,
    *,
    w: Success,
    tries: Sequence[int] = TRIES,
    review_minutes: float | None = None,
    seed: int = 0,
    level: float = 0.95,
) -> SpeedAndCost:
    """Speed and cost from a file with one row per task and model.

    Columns `hours_by`, `review_by` and `success_by` say where hours, review and verdicts come from, and stand on the
    page. `review_minutes` is an assumption in place of a measurement, priced at each task's own cost a minute.
    """
    table = read_table(path, required=columns_for(w), optional=(*COLUMNS, *SAID))
    if review_minutes is not None:
        table = with_review(table, review_minutes)
    models = savings_of_table(table, w=w, tries=tries, seed=seed, level=level)
    return SpeedAndCost(models, w, *(_words(table, column) for column in SAID))


def _words(table: Table, column: str) -> str:
    return " and ".join(table.coded(column).names) or UNSAID if column in table else UNSAID
