"""Agreement: definitions, the exact law against brute force, floors, tests of standing in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

from guildhall.analysis.agreement import (
    agreement,
    agreement_by_model,
    cross_disagreement_law,
    mean_over_models,
    pair_disagreement_law,
)
from guildhall.analysis.agreement_report import (
    agreement_report,
    alternative_annotator_test,
    best_constant,
    discrimination_within_model,
    named_interval,
    within_points,
)
from guildhall.analysis.ratings_table import (
    RatingsTable,
    Types,
    ratings_from_table,
    types_from_counts,
    types_from_matrix,
)
from guildhall.analysis.tables import Table, encode
from guildhall.errors import ImpossibleValue, NothingJudged, UnknownName
from tests.analysis import twins

SCORES = [0.0, 0.5, 1.0]


def ratings(rows: list[tuple[Any, ...]], *, task: bool = False) -> RatingsTable:
    names = ["sample", "model", "rater", "kind", "score", *(["task"] if task else [])]
    columns = zip(*rows, strict=True)
    return ratings_from_table(Table({n: encode(c) for n, c in zip(names, columns, strict=True)}, len(rows)))


def rated(samples: list[tuple[list[float], list[float]]], *, models: int = 1) -> RatingsTable:
    rows: list[tuple[Any, ...]] = []
    for i, (human, auto) in enumerate(samples):
        model = f"m{i % models}"
        rows += [(i, model, f"h{j}", "human", score) for j, score in enumerate(human)]
        rows += [(i, model, f"a{j}", "auto", score) for j, score in enumerate(auto)]
    return ratings(rows)


def simulated(n: int = 200, *, people: int = 3, verdicts: int = 2, noise: float = 1.0, seed: int = 0) -> RatingsTable:
    rng = default_rng(seed)
    samples = []
    for _ in range(n):
        level = rng.normal()

        def judged(k: int, spread: float, level: float = level) -> list[float]:
            return [SCORES[int(x > -0.4) + int(x > 0.4)] for x in level + spread * rng.logistic(size=k)]

        samples.append((judged(people, 0.5), judged(verdicts, noise)))
    return rated(samples, models=2)


votes = st.lists(st.sampled_from(SCORES), max_size=4)


@given(samples=st.lists(st.tuples(votes, votes), min_size=1, max_size=12).filter(lambda s: any(h or a for h, a in s)))
def test_agreements_equal_those_of_loops_over_all_pairs(samples):
    found = agreement(rated(samples))
    for measured, values in (
        (found.human_human, [twins.pair_agreement(h) for h, _ in samples if len(h) >= 2]),
        (found.auto_auto, [twins.pair_agreement(a) for _, a in samples if len(a) >= 2]),
        (found.human_auto, [twins.cross_agreement(h, a) for h, a in samples if h and a]),
    ):
        assert measured.n_samples == len(values)
        assert measured.value == (pytest.approx(np.mean(values)) if values else None)


@pytest.mark.parametrize("corrected", [True, False])
def test_the_exact_law_is_what_resampling_draw_by_draw_gives(corrected):
    samples = [[0.0, 0.5, 1.0], [0.0, 0.0, 1.0], [0.5, 0.5, 0.5], [1.0, 1.0, 0.5], [0.0, 1.0], [1.0, 0.5, 0.5, 0.0]]
    counts = np.array([[sample.count(score) for score in SCORES] for sample in samples])
    law = pair_disagreement_law(types_from_counts(counts), corrected=corrected)
    drawn = 1 - twins.resampled_agreement(samples, rounds=4000, corrected=corrected, seed=1)
    assert law is not None
    assert law.mean == pytest.approx(drawn.mean(), abs=4 * drawn.std() / 60)
    assert law.sd == pytest.approx(drawn.std(), rel=0.05)
    assert law.interval(0.9) == pytest.approx(np.quantile(drawn, [0.05, 0.95]), abs=0.03)


def test_the_corrected_law_is_centred_on_the_estimate_and_the_literal_one_is_not():
    found = simulated()
    value = agreement(found).human_human.value
    low, high = agreement(found, interval="fixed-samples").human_human.interval or (0, 0)
    assert value is not None
    assert low < value < high
    assert (low + high) / 2 == pytest.approx(value, abs=0.003)
    literal = agreement(found, interval="as-published").human_human
    assert literal.interval is not None
    assert literal.interval[0] > value
    assert "does not cover" in literal.method


def test_three_ratings_of_a_kind_shrink_by_a_third_under_the_literal_bootstrap():
    types = Types(np.array([[1, 1, 1], [2, 0, 1]]), np.array([5, 5]))
    literal, corrected = (pair_disagreement_law(types, corrected=c) for c in (False, True))
    assert literal is not None
    assert corrected is not None
    assert literal.mean == pytest.approx(2 / 3 * corrected.mean)


def test_the_law_of_human_auto_agreement_has_the_moments_of_two_independent_resamplings():
    rng = default_rng(3)
    human, auto = rng.integers(0, 3, (40, 3)), rng.integers(0, 3, (40, 2))
    counts = np.hstack([[[np.sum(row == v) for v in range(3)] for row in side] for side in (human, auto)])
    law = cross_disagreement_law(types_from_counts(counts))
    drawn = []
    for _ in range(3000):
        h = np.take_along_axis(human, rng.integers(0, 3, (40, 3)), axis=1)
        a = np.take_along_axis(auto, rng.integers(0, 2, (40, 2)), axis=1)
        drawn.append(np.abs(h[:, :, None] - a[:, None, :]).mean() / 2)
    assert law is not None
    assert law.mean == pytest.approx(np.mean(drawn), abs=0.003)
    assert law.sd == pytest.approx(np.std(drawn), rel=0.06)


@given(matrix=st.lists(st.lists(st.integers(-1, 2), min_size=3, max_size=3), min_size=1, max_size=30))
def test_types_of_a_matrix_are_the_types_of_its_counts(matrix):
    halves = np.array(matrix, dtype=np.int8)
    counts = np.stack([(halves == v).sum(axis=1) for v in range(3)], axis=1)
    first, second = types_from_matrix(halves), types_from_counts(counts)
    assert dict(zip(map(tuple, first.counts.tolist()), first.times.tolist(), strict=True)) == dict(
        zip(map(tuple, second.counts.tolist()), second.times.tolist(), strict=True)
    )


def test_a_task_column_makes_the_task_the_unit_and_copies_of_a_task_do_not_narrow_the_interval():
    rng = default_rng(5)
    rows: list[tuple[Any, ...]] = []
    for task in range(30):
        scores = [SCORES[i] for i in rng.integers(0, 3, 3)]
        rows += [(f"{task}-{c}", "m", f"h{j}", "human", s, task) for c in range(4) for j, s in enumerate(scores)]
    by_task, by_sample = ratings(rows, task=True), ratings([row[:5] for row in rows])
    one, other = agreement(by_task).human_human, agreement(by_sample).human_human
    assert (one.unit, other.unit) == ("task", "sample")
    assert one.value == other.value
    assert (one.half_width or 0) > 1.7 * (other.half_width or 0)


def test_one_rater_alone_has_no_agreement_and_the_reason_is_given():
    found = agreement(rated([([1.0], [0.5]), ([0.0], [1.0]), ([0.5], [0.0])]))
    assert found.human_human.value is None
    assert "no sample has a pair" in (found.human_human.why_no_interval or "")
    assert found.human_human.n_excluded == 3
    assert found.human_auto.value == pytest.approx(1 / 3 + 1 / 6 - 1 / 6)


def test_perfect_agreement_has_an_exact_lower_end_and_no_within_sample_interval():
    found = rated([([1.0, 1.0], [1.0]), ([0.0, 0.0], [0.0])] * 10)
    low, high = agreement(found).human_human.interval or (0, 0)
    assert [low, high] == pytest.approx([0.025 ** (1 / 20), 1.0])
    assert agreement(found, interval="fixed-samples").human_human.interval is None


def test_models_are_shown_apart_and_their_mean_weighs_them_equally():
    found = simulated(60)
    by_model = agreement_by_model(found)
    assert set(by_model) == {"m0", "m1"}
    mean = np.mean([one.human_auto.value for one in by_model.values()])
    assert mean_over_models(by_model)["human_auto"] == pytest.approx(mean)


def test_a_grader_that_always_says_the_same_does_not_beat_the_best_constant():
    constant = best_constant(rated([([0.0, 0.0, 1.0], [0.0]), ([0.0, 0.5], [0.0]), ([1.0, 0.0], [0.0])] * 10))
    assert constant is not None
    assert constant.verdict == "always-human"
    assert not constant.beaten
    good = best_constant(simulated(noise=0.3))
    assert good is not None
    assert good.beaten


@given(
    samples=st.lists(
        st.tuples(st.sampled_from(SCORES), st.sampled_from(SCORES), st.sampled_from("ab")), min_size=2, max_size=25
    )
)
def test_discrimination_equals_the_share_of_ordered_pairs(samples):
    rows: list[tuple[Any, ...]] = []
    for i, (human, auto, model) in enumerate(samples):
        rows += [(i, model, "h", "human", human), (i, model, "a", "auto", auto)]
    measured = discrimination_within_model(ratings(rows))
    comparable = any(m == n and h != g for h, _, m in samples for g, _, n in samples)
    if comparable:
        assert measured.value == pytest.approx(twins.auc(*zip(*samples, strict=True)))
    else:
        assert measured.value is None
        assert measured.why_no_interval


def test_a_grader_like_a_person_is_within_points_of_people_and_a_coin_is_not():
    alike = within_points(simulated(600, noise=0.5, verdicts=1), d=0.05)
    assert alike.within
    assert alike.upper_bound is not None
    coin = within_points(simulated(600, noise=8.0, verdicts=1), d=0.05)
    assert coin.within is False
    assert within_points(rated([([1.0, 0.0], [1.0])]), d=0.05).within is None


def test_holding_each_person_out_gives_the_paired_gap():
    human, verdict = [0.0, 0.5, 1.0, 1.0], 0.5
    by_hand = np.mean(
        [
            np.mean([1 - abs(human[i] - other) for j, other in enumerate(human) if j != i])
            - np.mean([1 - abs(verdict - other) for j, other in enumerate(human) if j != i])
            for i in range(4)
        ]
    )
    assert within_points(rated([(human, [verdict])] * 3), d=0.1).gap.value == pytest.approx(by_hand)


def test_the_alternative_annotator_test_passes_a_copy_of_the_consensus_and_fails_a_coin():
    good = alternative_annotator_test(simulated(400, noise=0.2, verdicts=3))
    assert good is not None
    assert good.passes
    coin = alternative_annotator_test(simulated(400, noise=9.0, verdicts=1))
    assert coin is not None
    assert not coin.passes
    assert alternative_annotator_test(rated([([1.0], [1.0])] * 5)) is None


def test_the_report_says_everything_at_once():
    report = agreement_report(simulated(80), within=0.1)
    assert report.within is not None
    assert set(report.chance_corrected) == {"alpha_nominal", "alpha_ordinal", "alpha_interval", "gwet_ac1", "gwet_ac2"}


def test_an_unknown_kind_a_bad_score_and_an_empty_cell_are_refused():
    with pytest.raises(UnknownName, match="robot"):
        ratings([(1, "m", "r", "robot", 1.0)])
    with pytest.raises(ImpossibleValue, match="score"):
        ratings([(1, "m", "r", "human", 0.7)])
    with pytest.raises(ImpossibleValue, match="rater"):
        ratings([(1, "m", "", "human", 1.0)])
    with pytest.raises(NothingJudged):
        ratings([(1, "m", "r", "human", "")])
    with pytest.raises(UnknownName, match="fixed-samples"):
        named_interval("bayes")


@pytest.mark.parametrize(("interval", "least"), [("population", 0.92), ("fixed-samples", 0.9)])
def test_intervals_of_human_human_agreement_hold_the_truth_about_as_often_as_they_say(interval, least):
    """The population's agreement for `population`, these samples' own expected agreement for `fixed-samples`."""
    rng = default_rng(11)
    mixes = rng.dirichlet([1.0, 0.6, 1.0], size=50_000)
    distance = np.abs(np.subtract.outer([0, 0.5, 1], [0, 0.5, 1]))
    own = 1 - np.einsum("ni,ij,nj->n", mixes, distance, mixes)
    held, rounds = 0, 150
    for _ in range(rounds):
        which = rng.integers(0, len(mixes), 80)
        rows: list[Any] = [([SCORES[v] for v in rng.choice(3, 3, p=mixes[i])], []) for i in which]
        low, high = agreement(rated(rows), interval=interval).human_human.interval or (0, 0)
        held += low <= (own.mean() if interval == "population" else own[which].mean()) <= high
    assert least <= held / rounds <= 1.0
