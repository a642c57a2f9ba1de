"""The public tables of ClawWork as rows for speed and cost: costs, times and marks that others measured.

Nobody timed an expert there: a model estimated the hours of each task, and a model marked the work. Each row says so.
Review was not measured at all, and stays unknown.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from guildhall.errors import ImpossibleValue, NothingToCompare, UnreadableFile

COMPLETIONS, COSTS, VALUES = "task_completions_all_agents.csv", "token_costs_by_task.csv", "task_values.jsonl"
HOURS_BY = "model-estimated hours"
COLUMNS = (
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
