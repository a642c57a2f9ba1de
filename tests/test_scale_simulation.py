"""The simulation of many nodes: bounded by what it has, the same for the same seed, and the note tells what it says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.scale_simulation import SCENARIOS, Costs, Place, Work, as_markdown, grid, least_hours, simulate

NOTE = Path(__file__).parent.parent / "docs" / "design" / "scale.md"
SMALL = Work(tasks=200, models=10)


@pytest.mark.parametrize("nodes", [1, 10, 100])
def test_no_run_is_shorter_than_its_scarcest_resource_allows_nor_much_longer(nodes: int) -> None:
    work, place = Work(), Place(nodes=nodes)
    run = simulate(work, Costs(), place, seed=3)
    least = least_hours(work, Costs(), place)
    assert least <= run.hours <= 1.1 * least + 1


def test_more_nodes_never_make_it_slower_and_the_bottleneck_moves() -> None:
    runs = [run for name, run in grid(Work(), Costs(), seed=1) if name == "as it is"]
    assert [run.hours for run in runs] == sorted((run.hours for run in runs), reverse=True)
    assert runs[0].bottleneck == "sandbox slots" and runs[-1].bottleneck != "sandbox slots"


def test_what_dies_is_done_again_and_paid_again() -> None:
    safe = simulate(SMALL, Costs(), Place(nodes=5, days_between_failures=1e9), seed=1)
    frail = simulate(SMALL, Costs(), Place(nodes=5, days_between_failures=0.5), seed=1)
    assert safe.redone == 0 and frail.redone > 0
    assert frail.model_usd - safe.model_usd == pytest.approx(frail.redone * Costs().sample_usd)


def test_all_work_is_paid_for_exactly_once_where_nothing_dies() -> None:
    run = simulate(SMALL, Costs(), replace(SCENARIOS["as it is"], nodes=7, days_between_failures=1e9), seed=9)
    assert run.model_usd == pytest.approx(SMALL.submissions * (0.60 + 9 * 0.05), rel=1e-3)


def test_the_note_tells_what_the_simulation_says() -> None:
    assert as_markdown(grid(Work(), Costs(), seed=1)) in NOTE.read_text()
