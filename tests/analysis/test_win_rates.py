"""Win rates: the estimand, its intervals, its refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

from guildhall.analysis.breakdown import breakdown
from guildhall.analysis.outcomes import outcomes_from_arrays, read_outcomes
from guildhall.analysis.rated import CONVENTIONS
from guildhall.analysis.win_rates import INTERVALS, named_interval, win_rates
from guildhall.errors import ImpossibleValue, NothingJudged, UnknownName
from tests.analysis import twins

judgments = st.lists(
    st.fixed_dictionaries(
        {
            "task": st.integers(0, 6),
            "model": st.sampled_from(["ada", "bea"]),
            "sample": st.integers(1, 3),
            "grader": st.integers(0, 5),
            "score": st.sampled_from([0.0, 0.5, 1.0]),
        }
    ),
    min_size=1,
    max_size=60,
)


Rows = list[dict[str, Any]]


def rates(rows: Rows, **options: Any) -> Any:
    columns: Any = {name: [row[name] for row in rows] for name in rows[0]}
    return win_rates(outcomes_from_arrays(**columns), **options)


def simulated(*, tasks: int = 40, samples: int = 2, graders: int = 3, pool: int = 12, seed: int = 0) -> Rows:
    rng = default_rng(seed)
    rows = []
    lean = rng.normal(size=pool)
    for task in range(tasks):
        level = rng.normal()
        for sample in range(samples):
            for grader in rng.choice(pool, graders, replace=False):
                heard = level + lean[grader] + rng.logistic()
                score = 1.0 if heard > 0.4 else 0.5 if heard > -0.4 else 0.0
                rows.append({"task": task, "model": "ada", "sample": sample, "grader": int(grader), "score": score})
    return rows


@given(rows=judgments)
def test_rates_equal_those_of_nested_loops(rows):
    for one in rates(rows):
        for convention in CONVENTIONS:
            assert getattr(one, convention).value == pytest.approx(twins.win_rate(rows, one.model, convention))
        assert one.wins + one.ties + one.losses == sum(row["model"] == one.model for row in rows)


@given(rows=judgments)
def test_swapping_sides_mirrors_the_half_tie_rate_and_its_interval(rows):
    swapped = [{**row, "score": 1 - row["score"]} for row in rows]
    for one, other in zip(rates(rows), rates(swapped), strict=True):
        assert other.half_tie.value == pytest.approx(1 - one.half_tie.value)
        assert other.win.value == pytest.approx(1 - one.win_or_tie.value)
        assert (one.half_tie.interval is None) == (other.half_tie.interval is None)
        if one.half_tie.interval:
            assert other.half_tie.interval == pytest.approx([1 - end for end in reversed(one.half_tie.interval)])


@given(rows=judgments)
def test_an_interval_never_has_zero_width_and_never_leaves_the_unit_interval(rows):
    for kind in INTERVALS:
        for one in rates(rows, interval=kind):
            for convention in CONVENTIONS:
                measured = getattr(one, convention)
                assert (measured.interval is None) == (measured.why_no_interval is not None)
                if measured.interval:
                    low, high = measured.interval
                    assert 0 <= low < high <= 1
                    assert low - 1e-9 <= measured.value <= high + 1e-9


@given(rows=judgments)
def test_the_order_of_rows_does_not_matter(rows):
    shuffled = [rows[i] for i in default_rng(0).permutation(len(rows))]
    first = {one.model: one for one in rates(rows)}
    second = {one.model: one for one in rates(shuffled)}
    for model, one in first.items():
        assert second[model].half_tie.value == pytest.approx(one.half_tie.value)
        if one.half_tie.interval:
            assert second[model].half_tie.interval == pytest.approx(one.half_tie.interval)


def test_a_task_judged_ninety_times_weighs_as_much_as_one_judged_once():
    rows = [{"task": "a", "model": "m", "sample": 1, "grader": i, "score": 1.0} for i in range(90)]
    rows += [{"task": "b", "model": "m", "sample": 1, "grader": 0, "score": 0.0}]
    (one,) = rates(rows)
    assert one.half_tie.value == 0.5
    assert one.wins == 90


def test_five_tasks_all_lost_have_the_exact_upper_end():
    rows = [{"task": t, "model": "m", "sample": 1, "grader": t, "score": 0.0} for t in range(5)]
    (one,) = rates(rows)
    assert one.win.value == 0.0
    assert one.win.interval == pytest.approx((0.0, 1 - 0.025 ** (1 / 5)))


def test_under_three_tasks_there_is_no_interval_and_the_reason_is_given():
    rows = [{"task": t, "model": "m", "sample": 1, "grader": 0, "score": float(t)} for t in range(2)]
    for kind in ("t", "tasks", "two-level"):
        (one,) = rates(rows, interval=kind)
        assert one.half_tie.interval is None
        assert "2 task(s)" in one.half_tie.why_no_interval


def test_nothing_but_ties_leaves_the_half_tie_rate_without_an_interval():
    rows = [{"task": t, "model": "m", "sample": 1, "grader": 0, "score": 0.5} for t in range(30)]
    (one,) = rates(rows)
    assert one.half_tie.value == 0.5
    assert "tie" in one.half_tie.why_no_interval


def test_graders_who_judged_many_tasks_widen_the_interval_and_the_design_effect_is_told():
    rows = simulated(pool=5, tasks=60)
    (with_graders,) = rates(rows)
    (without,) = rates([{**row, "grader": i} for i, row in enumerate(rows)])
    assert with_graders.half_tie.design_effect > 1.2
    assert without.half_tie.design_effect == pytest.approx(1)
    assert with_graders.half_tie.half_width > 1.1 * without.half_tie.half_width
    assert "tasks and graders crossed (4.97 effective graders)" in with_graders.half_tie.method


def test_resampled_intervals_agree_with_the_t_interval_where_theory_says_so():
    rows = [{**row, "grader": i} for i, row in enumerate(simulated(tasks=150))]
    widths = {kind: rates(rows, interval=kind)[0].half_tie.half_width for kind in INTERVALS}
    assert widths["tasks"] == pytest.approx(widths["t"], rel=0.08)
    assert widths["two-level"] > widths["tasks"]
    assert widths["within-sample"] < widths["tasks"]


def test_the_within_sample_law_has_the_variance_of_its_resampling():
    rows = simulated(tasks=30)
    by_sample: dict[tuple[int, int], list[float]] = {}
    for row in rows:
        by_sample.setdefault((row["task"], row["sample"]), []).append(row["score"])
    variance = sum(np.var(grades) / len(grades) for grades in by_sample.values()) / len(by_sample) ** 2
    (one,) = rates(rows, interval="within-sample")
    assert one.half_tie.half_width == pytest.approx(1.96 * np.sqrt(variance), rel=0.05)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    rows = simulated()
    first, again, other = (rates(rows, interval="two-level", seed=s)[0].win.interval for s in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("score", [np.nan, 0.3, 2.0, -0.5, np.inf])
def test_a_score_that_is_none_is_refused(score):
    with pytest.raises(ImpossibleValue, match="score"):
        outcomes_from_arrays(task=["a", "b"], model=["m", "m"], score=[1.0, score])


def test_nothing_judged_is_refused(tmp_path):
    with pytest.raises(NothingJudged):
        win_rates(outcomes_from_arrays(task=[], model=[], score=[]))
    path = tmp_path / "rows.csv"
    path.write_text("task,model,score\na,m,\n")
    with pytest.raises(NothingJudged, match="1 were left out"):
        read_outcomes(path)


def test_a_row_without_a_model_is_refused_and_one_without_a_score_counted(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("task,model,score\na,,1\n")
    with pytest.raises(ImpossibleValue, match="model"):
        read_outcomes(path)
    path.write_text("task,model,score,field\na,m,1,law\nb,m,0,law\nc,m,,law\na,n,1,law\nb,n,0,art\n")
    assert [one.win.n_excluded for one in win_rates(read_outcomes(path))] == [1, 0]
    cells = breakdown(read_outcomes(path, by=["field"]), ["field"])
    assert {(one.model, one.levels["field"]): one.raw.win.n_excluded for one in cells} == {
        ("m", "law"): 1,
        ("n", "law"): 0,
        ("n", "art"): 0,
    }


def test_an_interval_nobody_knows_is_refused():
    with pytest.raises(UnknownName, match="two-level"):
        named_interval("bayes")


def test_a_95_percent_interval_holds_the_truth_about_95_percent_of_the_time():
    rng = default_rng(7)
    held = 0
    for _ in range(300):
        level = rng.normal(scale=1.0, size=40)
        share = 1 / (1 + np.exp(-level[:, None] - np.zeros(3)))
        scores = (rng.random((40, 3)) < share).astype(float)
        scored = zip(np.repeat(range(40), 3).tolist(), scores.ravel().tolist(), strict=True)
        low, high = rates([{"task": task, "model": "m", "score": score} for task, score in scored])[0].win.interval
        held += low <= 0.5 <= high
    assert 0.92 <= held / 300 <= 0.985
