"""Three budgets on a bank: what each takes grows, what it leaves unsure shrinks, and unknown prices stay unknown."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from guildhall.engine.prices import Prices
from guildhall.errors import UnknownName
from guildhall.study.file import new_study, read_study
from guildhall.study.planning import BUDGETS, budgets_of, gold_file
from tests.study.made import task

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MODELS = ["scripted/careful", "scripted/careless"]


def test_each_budget_takes_more_and_shows_more() -> None:
    tasks = [task(number, hourly_wage_usd=40.0) for number in range(220)]
    look, ranking, publication = budgets_of(tasks, MODELS, Prices(), at=NOW)
    assert (look.calls, ranking.calls, publication.calls) == (2 * 44 * 25, 2 * 220 * 25, 2 * 660 * 25)
    assert look.hours < ranking.hours < publication.hours
    assert publication.people_usd == pytest.approx(40 * publication.hours) and look.model_usd == 0.0
    widths = [one.width for one in (look, ranking, publication)]
    assert all(widths) and sorted(widths, key=lambda width: -(width or 0)) == widths
    assert (
        ranking.smallest_difference
        and look.smallest_difference
        and ranking.smallest_difference < look.smallest_difference
    )


def test_one_wage_or_price_that_nobody_knows_leaves_the_sum_unknown() -> None:
    tasks = [task(0, hourly_wage_usd=40.0), task(1)]
    found = budgets_of(tasks, ["scripted/careful", "openai-api/own/any"], Prices(), at=NOW)
    assert {one.people_usd for one in found} == {one.model_usd for one in found} == {None}
    assert {one.tasks for one in found} == {2}, "a smaller bank is done whole"


@pytest.mark.parametrize("budget", [one.name for one in BUDGETS])
def test_a_budgets_file_is_a_study_file(tmp_path: Path, budget: str) -> None:
    text = gold_file("g", 'A "title"', ["openai/gpt-5", "ollama/qwen:7b"], budget, judge="openai/gpt-5")
    found = read_study(new_study(tmp_path / "g.toml", study_id="g", title="T", text=text))
    assert [one.name for one in found.authors] == ["gpt-5", "qwen-7b"] and found.people and len(found.judges) == 1
    with pytest.raises(UnknownName, match="known: look, ranking, publication"):
        gold_file("g", "T", MODELS, "lock-in", judge=None)
