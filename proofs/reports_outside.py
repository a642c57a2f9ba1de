"""Speed and cost from tables that others published."""

from __future__ import annotations

import csv
import re
import statistics
import tempfile
from pathlib import Path

from guildhall.analysis.savings_files import CLAWWORK_COLUMNS, clawwork_rows, read_speed_and_cost
from guildhall.domain.estimates import Success
from guildhall.reports.other_pages import savings_page
from guildhall.reports.text import csv_text
from proofs import Figures, proof, realdata

PAPERS_REVIEW_MINUTES = 109


@proof(
    "reports-clawwork",
    "the real ClawWork costs, times and marks give a speed-and-cost page that says 'model-estimated hours' plainly",
)
def page_from_clawwork() -> Figures:
    source = realdata("gdpval/clawwork/task_completions_all_agents.csv")
    rows = clawwork_rows(source.parent)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "rows.csv"
        table.write_text(csv_text(CLAWWORK_COLUMNS, ([row[name] for name in CLAWWORK_COLUMNS] for row in rows)))
        unknown = read_speed_and_cost(table, w=Success.ACCEPTED)
        assumed = read_speed_and_cost(table, w=Success.ACCEPTED, review_minutes=PAPERS_REVIEW_MINUTES)
    page = savings_page(assumed, title="ClawWork")
    words = re.sub(r"<[^>]+>", " ", page)
    assert words.count("model-estimated hours") >= 3 and "no expert was timed" in words and "w = accepted" in words
    assert not re.search(r"(?:src|href)=\"(?!#)", page) and "<script" not in page
    for one in unknown.models:
        assert one.speed is not None and one.speed.try_once.value is None, "an unmeasured review is not guessed"
        assert one.speed.break_even_review is not None
    _by_hand(source, {one.model: one.speed.naive.value for one in unknown.models if one.speed})
    return {
        "rows": len(rows),
        "tasks": len({row["task"] for row in rows}),
        "mentions_of_model_estimated_hours": words.count("model-estimated hours"),
        "models": {
            one.model: {
                "accepted": round(one.win_rate, 4),
                "naive_speed": one.speed and one.speed.naive.value,
                "naive_cost": one.cost and one.cost.naive.value,
                "try_once_speed_at_109_minutes_of_review": one.speed and one.speed.try_once.value,
                "break_even_review_minutes": one.speed and one.speed.break_even_review,
            }
            for one in assumed.models
        },
    }


def _by_hand(completions: Path, naive: dict[str, float | None]) -> None:
    """The naive ratio of one agent again, from the files by the shortest way."""
    import json

    hours = {
        row["task_id"]: row["hours_estimate"]
        for row in map(json.loads, (completions.parent / "task_values.jsonl").read_text().splitlines())
    }
    agent = "Gemini 3.1 Pro Preview"
    seconds: dict[str, list[float]] = {}
    for row in csv.DictReader(completions.open()):
        if row["agent"] == agent and row["work_submitted"] == "True" and row["evaluation_score"]:
            seconds.setdefault(row["task_id"], []).append(float(row["wall_clock_seconds"]))
    human = statistics.mean(3600 * hours[task] for task in seconds)
    model = statistics.mean(statistics.mean(own) for own in seconds.values())
    found = naive[agent]
    assert found is not None and abs(found - human / model) < 1e-9 * found, (found, human / model)
