"""Speed and cost: the paper's table, the sum forms, shrinkage, refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.analysis.crossed import SHARE_OF_CELLS, crossed
from guildhall.analysis.savings import (
    CAVEATS,
    Catastrophe,
    TaskLedger,
    fit_beta_binomial,
    savings_from_tasks,
    savings_from_totals,
)
from guildhall.analysis.savings_files import clawwork_rows, read_savings, read_speed_and_cost
from guildhall.analysis.savings_intervals import WhoJudged, graders_spreads, moved_wins, telling
from guildhall.analysis.spreads import LIKE_THESE, THESE
from guildhall.domain.estimates import Estimate, Success
from guildhall.errors import ImpossibleValue, NothingToCompare, UnreadableFile
from guildhall.reports.chapters.savings import savings_section
from guildhall.reports.other_pages import savings_page
from tests.reports.made import SAVINGS

TABLE_2 = {  # model: win rate, then naive, try once, try n for speed and for cost
    "gpt-4o": (0.125, (327, 0.87, 0.46), (5172, 0.90, 0.53)),
    "o4-mini": (0.291, (186, 1.02, 1.06), (1265, 1.06, 1.22)),
    "o3": (0.352, (161, 1.08, 1.28), (480, 1.13, 1.47)),
    "gpt-5": (0.390, (90, 1.12, 1.39), (474, 1.18, 1.63)),
}


def ledger(n_tasks: int = 40, *, judged: int = 9, seed: int = 0) -> TaskLedger:
    rng = np.random.default_rng(seed)
    chance = rng.beta(2, 3, n_tasks)
    return TaskLedger(
        human=rng.lognormal(5.5, 0.5, n_tasks),
        review=rng.lognormal(4.5, 0.3, n_tasks),
        model=rng.lognormal(2.0, 0.3, n_tasks),
        won=rng.binomial(judged, chance).astype(float),
        judged=np.full(n_tasks, float(judged)),
    )


@pytest.mark.parametrize("model", TABLE_2)
def test_the_papers_table_comes_back_within_a_hundredth(model):
    win_rate, speed, cost = TABLE_2[model]
    for human, review, (naive, once, limit) in ((404, 109, speed), (361, 86, cost)):
        found = savings_from_totals(human=human, review=review, model=human / naive, win_rate=win_rate)
        assert found.try_once.value == pytest.approx(once, abs=0.01)
        assert found.limit.value == pytest.approx(limit, abs=0.01)


def test_the_real_reference_numbers_say_the_same(realdata):
    reference = json.loads((realdata / "gdpval" / "paper_reference_numbers.json").read_text())
    for row in reference["table2"]:
        assert TABLE_2[row["model"]][0] == row["win"]


@given(w=st.floats(0.01, 0.99), n=st.integers(1, 30), review=st.floats(0, 200), model=st.floats(0.1, 100))
def test_the_sum_form_equals_the_closed_form_where_that_is_defined(w, n, review, model):
    found = savings_from_totals(human=404, review=review, model=model, win_rate=w, tries=(n,))
    spent = (model + review) * (1 - (1 - w) ** n) / w + (1 - w) ** n * 404
    assert found.try_n[n].value == pytest.approx(404 / spent)


def test_many_tries_approach_the_limit_and_a_model_that_never_wins_has_none():
    found = savings_from_totals(human=404, review=109, model=4, win_rate=0.4, tries=(200,))
    assert found.try_n[200].value == pytest.approx(found.limit.value)
    hopeless = savings_from_totals(human=404, review=109, model=4, win_rate=0.0)
    assert hopeless.limit.value is None
    assert hopeless.limit.why_no_interval == "the model never succeeds"


def test_a_model_that_costs_nothing_has_no_naive_ratio_and_still_saves():
    free = savings_from_totals(human=200, review=50, model=0, win_rate=0.5)
    assert free.naive.value is None
    assert free.naive.why_no_interval == "nothing is spent this way, so the ratio has no bound"
    assert free.try_once.value == pytest.approx(200 / 150)
    unreviewed = savings_from_totals(human=200, review=None, model=0, win_rate=0.5)
    assert unreviewed.naive.value is None
    assert unreviewed.break_even_review == 100


@pytest.mark.parametrize(("free", "why"), [(40, "no bound"), (39, "a resample may hold none")])
def test_tasks_that_cost_nothing_leave_the_other_ratios_standing(free, why):
    paid = ledger()
    mine = replace(paid, model=np.where(np.arange(40) < free, 0.0, paid.model))
    found = savings_from_tasks(mine, rng=np.random.default_rng(0))
    assert (found.naive.value is None) == (free == 40)
    assert found.naive.interval is None
    assert why in str(found.naive.why_no_interval)
    assert found.try_once.interval is not None


def test_at_the_break_even_review_time_trying_once_saves_nothing():
    found = savings_from_totals(human=404, review=109, model=4, win_rate=0.4)
    level = savings_from_totals(human=404, review=found.break_even_review, model=4, win_rate=0.4)
    assert level.try_once.value == pytest.approx(1)
    assert found.break_even_win_rate is not None
    level = savings_from_totals(human=404, review=109, model=4, win_rate=found.break_even_win_rate)
    assert level.try_once.value == pytest.approx(1)


def test_a_price_on_catastrophes_lowers_every_ratio():
    harm = Catastrophe(cost=10_000, rate=0.03, caught=0.5)
    safe = savings_from_tasks(ledger(), rng=np.random.default_rng(0), rounds=50)
    harmed = savings_from_tasks(ledger(), rng=np.random.default_rng(0), rounds=50, catastrophe=harm)
    for before, after in ((safe.naive, harmed.naive), (safe.try_n[3], harmed.try_n[3]), (safe.limit, harmed.limit)):
        assert (after.value or 0) < (before.value or 0)


def test_try_once_from_tasks_is_the_ratio_of_means_by_the_obvious_loop():
    data = ledger()
    assert data.review is not None
    spent = [
        m + r + (1 - k / n) * h
        for h, r, m, k, n in zip(data.human, data.review, data.model, data.won, data.judged, strict=True)
    ]
    found = savings_from_tasks(data, rng=np.random.default_rng(0), rounds=200)
    assert found.try_once.value == pytest.approx(data.human.sum() / sum(spent))
    assert found.try_once.interval is not None
    assert found.try_once.interval[0] < data.human.sum() / sum(spent) < found.try_once.interval[1]


@pytest.mark.parametrize("model", [(2.0, 2.000001, 30.0), (1e-9, 1e-9, 1e-9, 40.0)])
def test_a_ratio_that_one_task_carries_has_no_interval_and_says_why(model):
    n = len(model)
    ledger = TaskLedger(
        human=np.full(n, 240.0), review=np.ones(n), model=np.array(model), won=np.ones(n), judged=np.full(n, 3.0)
    )
    found = savings_from_tasks(ledger, rng=np.random.default_rng(1))
    assert found.naive.value is not None and found.naive.interval is None
    assert "hardly anything varies" in (found.naive.why_no_interval or "")


@given(st.integers(0, 10_000), st.integers(2, 30), st.floats(0.01, 3.0))
def test_an_interval_of_a_ratio_is_finite_and_holds_the_ratio(seed, n, spread):
    rng = np.random.default_rng(seed)
    human, model = np.exp(rng.normal(5, spread, n)), np.exp(rng.normal(0, spread, n))
    ledger = TaskLedger(human=human, review=None, model=model, won=np.ones(n), judged=np.ones(n))
    found = savings_from_tasks(ledger, rng=rng, rounds=400).naive
    assert (found.interval is None) == bool(found.why_no_interval)
    if found.interval is not None:
        low, high = found.interval
        assert found.value is not None and 0 < low < found.value < high < 1e12 * found.value


def test_few_wins_leave_a_ratio_open_as_far_as_their_exact_interval_says():
    many = ledger()
    few = replace(many, won=np.where(np.arange(40) < 2, 1.0, 0.0))
    found = savings_from_tasks(few, rng=np.random.default_rng(0), rounds=200).try_once
    assert "few wins or losses: exact on" in found.method
    moved = moved_wins(few, level=0.95)
    assert moved is not None
    assert moved.fewest.win_rate < few.win_rate < moved.most.win_rate
    low, high = (
        savings_from_tasks(one, rng=np.random.default_rng(0), rounds=50).try_once.value or 0.0
        for one in (moved.fewest, moved.most)
    )
    assert found.interval is not None
    assert found.interval[0] < low < (found.value or 0) < high < found.interval[1]
    assert "exact" not in savings_from_tasks(many, rng=np.random.default_rng(0), rounds=50).try_once.method


def test_a_model_that_never_won_may_still_win_now_and_then():
    none = replace(ledger(), won=np.zeros(40))
    found = savings_from_tasks(none, rng=np.random.default_rng(0), rounds=200)
    assert none.review is not None
    spent = none.model + none.review + none.human
    assert found.try_once.interval is not None
    assert found.try_once.interval[1] > 1.02 * none.human.mean() / spent.mean()


def test_shrinkage_recovers_a_planted_beta():
    rng = np.random.default_rng(1)
    won = rng.binomial(9, rng.beta(2, 3, 20_000)).astype(float)
    mean, correlation = fit_beta_binomial(won, np.full(20_000, 9.0), np.ones((1, 20_000)))
    assert mean[0] == pytest.approx(0.4, abs=0.01)
    assert correlation[0] == pytest.approx(1 / 6, abs=0.01)


def test_one_judgment_a_task_gives_no_interval_beyond_one_try():
    found = savings_from_tasks(ledger(judged=1), rng=np.random.default_rng(0), rounds=100)
    assert found.try_once.interval is not None
    assert found.try_n[2].interval is None
    assert "hard tasks from bad luck" in (found.try_n[2].why_no_interval or "")


def test_the_limit_is_plug_in_and_says_how_many_tasks_were_never_won():
    limit = savings_from_tasks(ledger(), rng=np.random.default_rng(0), rounds=50, w=Success.WIN_OR_TIE).limit
    assert limit.interval is None
    assert "never won" in (limit.why_no_interval or "")
    assert "win_or_tie" in limit.estimand


def test_impossible_inputs_are_refused():
    with pytest.raises(ImpossibleValue):
        savings_from_totals(human=404, review=109, model=4, win_rate=1.4)
    with pytest.raises(NothingToCompare):
        TaskLedger(*(np.array([]),) * 5)
    with pytest.raises(ImpossibleValue):
        TaskLedger(*(np.array([float("nan")]),) * 5)


KINDNESS = 1.0


def crossed_ledger(rng: np.random.Generator, *, tasks: int = 60, graders: int = 6, each: int = 3) -> TaskLedger:
    """Tasks judged by some of the same few graders, who differ in kindness."""
    task = np.repeat(np.arange(tasks), each)
    grader = np.concatenate([rng.choice(graders, each, replace=False) for _ in range(tasks)])
    easy, kind = rng.normal(-0.4, 1.0, tasks), rng.normal(0.0, KINDNESS, graders)
    won = (rng.random(len(task)) < 1 / (1 + np.exp(-easy[task] - kind[grader]))).astype(float)
    return TaskLedger(
        human=rng.lognormal(5.5, 0.5, tasks),
        review=rng.lognormal(4.0, 0.3, tasks),
        model=rng.lognormal(2.0, 0.3, tasks),
        won=np.bincount(task, won).astype(float),
        judged=np.full(tasks, float(each)),
        votes=WhoJudged(task, grader, won, np.ones(len(task))),
    )


def true_ratio(n: int) -> float:
    """E[H] / E[T_n] of `crossed_ledger`, over all tasks and graders there might be."""
    at, weight = np.polynomial.hermite_e.hermegauss(60)
    weight = weight / weight.sum()
    fails = 1 - (1 / (1 + np.exp(0.4 - at[:, None] - KINDNESS * at))) @ weight
    human, attempt = np.exp(5.5 + 0.125), np.exp(4.045) + np.exp(2.045)
    return float(human / (sum(weight @ fails**k for k in range(n)) * attempt + (weight @ fails**n) * human))


def test_ratios_hold_for_graders_like_these_where_few_judged_every_task():
    rng, runs = np.random.default_rng(7), 120
    held, alone = np.zeros(2), np.zeros(2)
    for _ in range(runs):
        drawn = crossed_ledger(rng)
        for held_in, one in ((held, drawn), (alone, replace(drawn, votes=None))):
            found = savings_from_tasks(one, rng=np.random.default_rng(1), rounds=200, tries=(1, 3))
            for at, n in enumerate((1, 3)):
                low, high = found.try_n[n].interval or (0.0, 0.0)
                held_in[at] += low < true_ratio(n) < high
    assert (held >= 0.87 * runs).all(), f"{held} of {runs}: less often than 95 % ever gives (p < .001)"
    assert (alone <= 0.85 * runs).all(), "tasks alone would have done, so this test shows nothing"


def test_what_graders_add_to_a_ratio_is_found_from_what_each_verdict_moves_by_the_obvious_loop():
    drawn = crossed_ledger(np.random.default_rng(3), tasks=12)
    assert drawn.votes is not None and drawn.review is not None
    spent = drawn.model + drawn.review + (1 - drawn.won / drawn.judged) * drawn.human
    [found] = graders_spreads(drawn, [spent], [drawn.human])

    attempt = drawn.model + drawn.review

    def logarithm(won: list[float]) -> float:
        lost = 1 - np.array(won) / drawn.judged
        return float(np.log(drawn.human.sum() / (attempt + lost * drawn.human).sum()))

    moved, asked = [], drawn.won.tolist()
    for task in drawn.votes.task.tolist():
        more = [won + 1e-6 * (at == task) for at, won in enumerate(asked)]
        moved.append((logarithm(more) - logarithm(asked)) / 1e-6)
    weight = np.array(moved)
    share = float(weight @ drawn.votes.won / weight.sum())
    through = weight * (drawn.votes.won - share)
    of_task = drawn.human / drawn.human.sum() - spent / spent.sum()
    left = np.array([of_task[t] - through[drawn.votes.task == t].sum() for t in range(12)])
    twin = crossed(
        through + (left / drawn.judged)[drawn.votes.task],
        drawn.votes.task,
        drawn.votes.grader,
        weight=weight,
        through_graders=through,
        share_of_cells=SHARE_OF_CELLS,
    )
    assert found is not None and found.of_graders > 0
    assert (found.variance, found.of_graders) == pytest.approx((twin.variance, twin.of_graders), rel=1e-4)


def test_two_graders_or_many_without_a_name_say_nothing_of_graders_like_these():
    two = crossed_ledger(np.random.default_rng(0), graders=2, each=2)
    six = crossed_ledger(np.random.default_rng(0))
    assert two.votes is not None and six.votes is not None
    blank = replace(six, votes=six.votes._replace(grader=np.where(six.votes.task < 10, -1, six.votes.grader)))
    for one, why in ((two, "graders like these need 2.5"), (blank, "do not name theirs")):
        found, tasks_alone = (
            savings_from_tasks(each, rng=np.random.default_rng(0), rounds=200).try_once
            for each in (one, replace(one, votes=None))
        )
        assert found.target == THESE and why in found.method
        assert found.interval == pytest.approx(tasks_alone.interval)
    assert savings_from_tasks(six, rng=np.random.default_rng(0), rounds=200).try_once.target == LIKE_THESE


def test_a_file_with_a_row_for_each_grader_says_the_same_ratio_with_a_wider_interval(tmp_path: Path) -> None:
    drawn = crossed_ledger(np.random.default_rng(5))
    assert drawn.votes is not None and drawn.review is not None
    facts = [f"{h},{m},{r}" for h, m, r in zip(drawn.human, drawn.model, drawn.review, strict=True)]
    header = "task,model,human_minutes,minutes,review_minutes,wins,judgments"
    by_grader, by_task = tmp_path / "graders.csv", tmp_path / "tasks.csv"
    rows = [f"t{t},north,{facts[t]},{won},{n},g{g}" for t, g, won, n in zip(*drawn.votes, strict=True)]
    by_grader.write_text("\n".join([f"{header},grader", *rows]))
    rows = [f"t{t},north,{one},{drawn.won[t]},{drawn.judged[t]}" for t, one in enumerate(facts)]
    by_task.write_text("\n".join([header, *rows]))
    people, alone = (read_savings(path)[0] for path in (by_grader, by_task))
    assert people.n_tasks == alone.n_tasks == 60 and people.n_excluded == 0
    assert people.speed is not None and alone.speed is not None
    wide, narrow = people.speed.try_once, alone.speed.try_once
    assert wide.value == pytest.approx(narrow.value) and wide.interval is not None and narrow.interval is not None
    assert wide.interval[1] / wide.interval[0] > 1.1 * narrow.interval[1] / narrow.interval[0]
    assert wide.target == LIKE_THESE and narrow.target is None


def outside_rows(tmp_path: Path) -> Path:
    path = tmp_path / "outside.csv"
    header = "task,model,human_minutes,human_cost,minutes,cost,accepted,rated,hours_by,success_by\n"
    rows = [f"t{n},north,{60 * n},{50 * n},{n},0.5,{n % 2},1,model-estimated hours,a model" for n in range(1, 9)]
    path.write_text(header + "\n".join(rows) + "\n")
    return path


def test_review_that_nobody_measured_is_not_guessed_but_what_breaks_even_is_known(tmp_path: Path) -> None:
    [found] = read_speed_and_cost(outside_rows(tmp_path), w=Success.ACCEPTED).models
    assert found.speed is not None and found.cost is not None
    assert found.speed.naive.value == pytest.approx(60) and found.speed.naive.interval is None
    assert found.speed.try_once.value is None and "measured" in (found.speed.try_once.why_no_interval or "")
    assert found.speed.break_even_review == pytest.approx(0.5 * 270 - 4.5)
    assert found.cost.naive.interval is not None


def test_an_assumed_review_is_named_as_assumed_on_the_page(tmp_path: Path) -> None:
    found = read_speed_and_cost(outside_rows(tmp_path), w=Success.ACCEPTED, review_minutes=60)
    page = savings_page(found, title="What <north> saves")
    assert "assumed: 60 minutes an attempt" in page and "model-estimated hours" in page
    assert "no expert was timed" in page and "What &lt;north&gt; saves" in page
    [model] = found.models
    assert model.speed is not None and model.speed.try_once.value is not None


def test_clawwork_tables_become_rows_that_say_whose_hours_they_are(tmp_path: Path) -> None:
    (tmp_path / "task_completions_all_agents.csv").write_text(
        "agent,task_id,date,attempt,work_submitted,evaluation_score,money_earned,wall_clock_seconds\n"
        "north,t1,2026-01-01,1,True,0.9,1,60\nnorth,t1,2026-01-01,2,True,0.2,0,120\n"
        "north,t2,2026-01-01,1,False,,0,60\n"
    )
    (tmp_path / "token_costs_by_task.csv").write_text(
        "agent,task_id,sessions,input_tokens,output_tokens,total_cost_usd,llm_calls\nnorth,t1,2,10,10,0.4,3\n"
    )
    (tmp_path / "task_values.jsonl").write_text('{"task_id": "t1", "hours_estimate": 2.0, "task_value_usd": 90}\n')
    [row] = clawwork_rows(tmp_path)
    assert (row["human_minutes"], row["minutes"], row["cost"], row["accepted"], row["rated"]) == (120, 1.5, 0.2, 1, 2)
    assert row["hours_by"] == "model-estimated hours" and row["review_by"].startswith("unknown")
    with pytest.raises(UnreadableFile, match="ClawWork"):
        clawwork_rows(tmp_path / "nowhere")


def test_an_interval_that_leaves_everything_open_is_not_told_and_says_why() -> None:
    """What was printed as "0.00 to 63546257830660743888896.00" on three tasks."""
    open_ = Estimate(value=9252.67, interval=(1e-14, 6.3e22), estimand="e", method="m", n_tasks=3)
    told = telling(open_)
    assert told.interval is None and told.value == 9252.67
    assert told.why_no_interval == "3 tasks leave open by more than 10,000 times what it is"
    narrow = replace(open_, interval=(0.5, 4999.0))
    assert telling(narrow) == narrow
    assert telling(replace(open_, interval=(0.0, 1.0))).interval is None


def test_the_papers_three_caveats_stand_beside_the_figures() -> None:
    for caveat, words in zip(CAVEATS, ("said of their own work", "likely paid more", "failed try"), strict=True):
        assert words in caveat
    section = savings_section(SAVINGS)
    assert section is not None and " ".join(CAVEATS) in section.words
