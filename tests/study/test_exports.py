"""Nothing that graders filled in is thrown away: every stored field of a judgment is in exports, and so in the API."""

from __future__ import annotations

import io
import json
from typing import Any

import polars as pl

from guildhall.domain.authors import ModelRun, Person
from guildhall.domain.judgments import CRITERIA, Comparison, Judgment
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.grading.design import expert_submission
from guildhall.store.verdict_parts import read_verdicts
from guildhall.store.workspace import Workspace
from guildhall.study.exports import COLUMNS, KEYS, SAID, exported, said
from guildhall.study.policy import count_groups
from tests.study.made import MOMENT, task

WHERE = {
    "comparison": "comparison",
    "grader": "grader",
    "order": "order",
    "ranks": "ranks",
    "failure": None,  # what failed is counted under its rule, and has no row
    "reason": "reason",
    "tie_kind": "tie_kind",
    "strength": "strength",
    "confidence": "sure",
    "criteria": "criterion_style",
    "usability": "edit_minutes",
    "specification": "brief_is",
    "guess": "guess",
    "sweep": "sweep",
    "exposure": "exposure",
    "planned": "planned",
    "active_s": "clock_s",
    "wall_s": "wall_s",
    "correction": "correction",
    "usage": "usage",
    "omissions": "omitted",
    "replaces": "replaces",
    "made_at": "made_at",
    "origin": "origin",
}
"""Field of a judgment -> the column that holds it."""


def full(order: tuple[str, str], comparison: str, **others: Any) -> Judgment:
    """A judgment with something in every field."""
    return Judgment.model_validate(
        {
            "comparison": comparison,
            "grader": Person(code_name="g-1"),
            "order": order,
            "ranks": (1, 2),
            "reason": "The total, =SUM, is wrong.",
            "strength": 2,
            "confidence": 80,
            "criteria": {**dict.fromkeys(CRITERIA, 1), "style": -2, "format": None},
            "usability": [
                {"place": "A", "acceptance": "usable after edits", "edit_minutes": 12},
                {"place": "B", "acceptance": "not usable", "edit_minutes": 90},
            ],
            "specification": "under-specified",
            "guess": "B",
            "sweep": 1,
            "exposure": 1,
            "active_s": 60,
            "wall_s": 90,
            "correction": {"active_s": 50, "reason": "the telephone rang"},
            "usage": {"calls": 1, "cost_usd": 0.5, "price_date": "2026-01-01"},
            "omissions": {"A": 3, "B": 7},
            "origin": "elsewhere/votes.csv",
            "made_at": MOMENT,
            **others,
        }
    )


def kept(workspace: Workspace) -> Study:
    one = task(0)
    expert = expert_submission(one)
    assert expert is not None
    model = Submission(task=one.id, author=ModelRun(name="alpha", model="made/alpha"), text="A note.")
    compared = Comparison(study="s", task=one.id, submissions=(expert.key, model.key))
    workspace.store.add_all([one, expert, model, compared])
    first = full((model.key, expert.key), compared.key)
    second = full((expert.key, model.key), compared.key, replaces=first.key, exposure=None)
    workspace.store.add_all([first, second])
    study = Study(id="s", title="S", seed=1, tasks=(one.key,), authors=(), design={})
    workspace.store.add(study)
    return study


def test_every_field_of_a_judgment_has_a_column_and_no_value_is_lost(workspace: Workspace) -> None:
    assert set(WHERE) == set(Judgment.model_fields), "a field was added: say which column of the export holds it"
    assert {name for name in WHERE.values() if name} <= {*COLUMNS, *SAID}
    study = kept(workspace)
    verdicts = read_verdicts(workspace.store, ["s"], parts=workspace.verdict_parts)
    [row] = said(workspace.store, next(count_groups(workspace, study, verdicts)).pairs).to_dicts()
    [judgment] = [one for one in workspace.store.each(Judgment) if one.replaces]
    assert (row["judgment"], row["replaces"]) == (judgment.key, judgment.replaces)
    assert (row["order"], row["ranks"]) == (" ".join(judgment.order), "1 2")
    assert (row["reason"], row["strength"], row["sure"]) == (judgment.reason, 2, 80.0)
    assert (row["usable"], row["edit_minutes"], row["omitted"]) == ("not usable", 90.0, 7), "those of the model's side"
    assert (row["criterion_style"], row["criterion_accuracy"], row["criterion_format"]) == (-2, 1, None)
    assert (row["brief_is"], row["sweep"], row["planned"]) == ("under-specified", 1, True)
    assert (row["clock_s"], row["wall_s"], row["correction"]) == (60.0, 90.0, "the telephone rang")
    usage = json.loads(row["usage"])
    assert (usage["calls"], usage["cost_usd"], usage["price_date"]) == (1, 0.5, "2026-01-01")
    assert row["origin"] == judgment.origin == "elsewhere/votes.csv"
    assert row["made_at"].startswith(f"{MOMENT:%Y-%m-%d}")


def test_until_unblinding_an_export_holds_what_graders_said_and_no_digest(workspace: Workspace) -> None:
    study = kept(workspace)
    table = pl.read_parquet(io.BytesIO(exported(workspace, study, "parquet").content))
    assert table.columns == [*COLUMNS, *SAID]
    [row] = table.to_dicts()
    assert row["edit_minutes"] == 90.0 and row["reason"] and not any(row[name] for name in KEYS)
    text = exported(workspace, study, "csv").content.decode()
    assert not any(one.key in text for one in workspace.store.each(Submission))
