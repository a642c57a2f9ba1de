"""The quotient in both modes: published figures come back, corrected ones keep what the public system lost."""

from __future__ import annotations

import json

import numpy as np
import pytest

from guildhall.analysis.boswell.quotient import Reference, corrected_quotients, published_quotients
from guildhall.analysis.boswell.run_figures import run_figures
from guildhall.analysis.boswell.uncertainty import quotient_uncertainty
from guildhall.peer.loading import read_public_run
from tests.peer.runs import SQUARE, made_run, markdown_of

RUNS = ["20250306-173332-pol_sci_1", "20250306-214359-pol_sci_2"]


@pytest.mark.parametrize("folder", RUNS)
def test_every_stored_quotient_of_a_public_run_comes_back(realdata, folder):
    path = realdata / "boswell" / folder / "full_results.json"
    stored = json.loads(path.read_text())["boswell_quotient"]["model_scores"]
    quotients = published_quotients(read_public_run(path))
    assert {s.model for s in quotients.scores} == set(stored)
    for model, scores in stored.items():
        assert quotients.of(model).quotient == pytest.approx(scores["boswell_quotient"], abs=0.005)
        assert quotients.of(model).rank == scores["rank"]


def test_as_published_the_slowest_model_loses_its_zero_and_gains():
    run = made_run(SQUARE, essay_s={"ada": 100.0}, mark_s={"ada": 50.0})
    published, corrected = published_quotients(run), corrected_quotients(run)
    assert published.of("ada").efficiency is None
    assert published.of("ada").grade.endswith("(2/3)")
    slow = made_run(SQUARE, essay_s={"ada": 500.0}, mark_s={"ada": 500.0})
    assert corrected_quotients(slow).of("ada").efficiency == 0.0
    assert corrected.of("ada").components == "2/3"  # three essays of others are too few for evaluation


def test_another_models_slowness_leaves_a_corrected_quotient_alone():
    fast, slow = made_run(SQUARE), made_run(SQUARE, essay_s={"dee": 900.0})
    assert corrected_quotients(fast).of("ada").exact == corrected_quotients(slow).of("ada").exact
    assert published_quotients(fast).of("ada").exact != published_quotients(slow).of("ada").exact


def test_a_cached_call_is_not_timed():
    run = made_run(SQUARE)
    cached = run.but(essays=tuple(e.model_dump() | {"cached": True, "seconds": 0.001} for e in run.essays))
    marks = tuple(
        mark.but(essay=new.key)
        for mark in run.marks
        for old, new in zip(run.essays, cached.essays, strict=True)
        if mark.essay == old.key
    )
    rebuilt = cached.but(marks=tuple(mark.model_dump() for mark in marks))
    half = 100 * (1 - 5.0 / Reference().mark_s)
    assert corrected_quotients(rebuilt).of("ada").efficiency == pytest.approx(half)


def test_own_marks_stay_out_of_performance_unless_asked_for():
    run = made_run(SQUARE)
    assert corrected_quotients(run).of("bob").performance == pytest.approx(100 * 3.25 / 4.25)
    with_own = corrected_quotients(run, reference=Reference(own_marks=True))
    assert with_own.of("dee").performance == pytest.approx(100 * ((1.0 + 0.375) / 2) / 4.25)


def test_marks_without_a_grade_count_as_nothing_where_the_public_code_counts_zero():
    run = made_run(SQUARE)
    assert corrected_quotients(run).of("cyd").performance == pytest.approx(100 * 2.125 / 4.25)
    assert published_quotients(run).of("cyd").performance == pytest.approx(100 * 2.25 / 4.25)
    assert published_quotients(run, na=0.0).of("cyd").performance == pytest.approx(100 * 2.125 / 4.25)
    lone = made_run({("a", "a"): "A", ("a", "b"): "I cannot grade this.", ("b", "a"): "A", ("b", "b"): "A"})
    assert published_quotients(lone, na=0.0).of("a").performance == pytest.approx(100 * 2.0 / 4.25)
    assert corrected_quotients(lone).of("a").performance is None


def test_equal_quotients_share_a_rank():
    even = made_run({(a, g): "B" for a in "abcde" for g in "abcde"})
    assert {scores.rank for scores in corrected_quotients(even).scores} == {1}


def test_intervals_hold_the_quotient_and_equal_models_cannot_be_ranked():
    grades = {(a, g): "AABBC"["abcde".index(a)] for a in "abcde" for g in "abcde"}
    run = made_run(grades)
    quotients = corrected_quotients(run)
    sure = quotient_uncertainty(run, quotients, rng=np.random.default_rng(1), draws=100)
    for scores in quotients.scores:
        interval, ranks = sure.interval[scores.model], sure.rank_interval[scores.model]
        assert ranks is not None and scores.exact is not None
        if interval is None:
            assert "no spread" in sure.why_none[scores.model]
        else:
            assert interval[0] - 1e-9 <= scores.exact <= interval[1] + 1e-9
        assert ranks[0] <= scores.rank <= ranks[1]
    few = made_run({(a, g): "B" for a in "abc" for g in "abc"})
    absent = quotient_uncertainty(few, corrected_quotients(few), rng=np.random.default_rng(1))
    assert absent.interval["a"] is None
    assert absent.why_none["a"] == "3 graders whose marks could be read; at least 4 are needed"


def test_a_run_without_any_readable_grade_is_reported_and_not_refused():
    run = made_run({(a, g): "Lovely. Words, words, words." for a in "abc" for g in "abc"})
    found = run_figures(run, draws=10)
    assert {(s.performance, s.evaluation, s.components) for s in found.quotients.scores} == {(None, None, "1/3")}
    assert found.leniency is not None and found.leniency.fit is None
    assert "nothing stated | 9" in markdown_of(found)


@pytest.mark.parametrize("graders", ["ab", "abc"])
def test_a_run_of_few_graders_over_many_works_gives_no_warning_and_claims_no_order(graders):
    grades = {(a, g): "ABCD"[("abcdefgh".index(a) + ord(g)) % 4] for a in "abcdefgh" for g in graders}
    run = made_run(grades)
    sure = quotient_uncertainty(run, corrected_quotients(run), rng=np.random.default_rng(1), draws=60)
    assert {sure.interval[name] for name in "abcdefgh"} == {None}
    run = made_run(grades | {(a, "d"): "I cannot grade this." for a in "abcdefgh"})
    quotient_uncertainty(run, corrected_quotients(run), rng=np.random.default_rng(1), draws=60)
