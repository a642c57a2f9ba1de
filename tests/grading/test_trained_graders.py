"""Graders trained on people: a panel's votes, a calibrator's features, and figures that owe nothing to their fold."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from guildhall.analysis.calibrator import TrainingRows, calibrate_judges
from guildhall.analysis.panel_weights import Ballots, _out_of_fold, fit_panel, fit_weights, panel_agreement
from guildhall.analysis.splits import OverSplits, fold_by_cluster, margin_over_splits
from guildhall.domain.authors import ModelGrader
from guildhall.domain.judgments import Judgment
from guildhall.errors import GuildhallError, NotEnoughData
from guildhall.store.workspace import Workspace
from guildhall.study.training import weigh, weights_card
from tests.grading.judge_cases import ballots
from tests.grading.test_grade_command import STUDY, grade, person_judges
from tests.grading.test_grade_command import study as study

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def every(one: Ballots) -> np.ndarray:
    return np.ones(len(one.people), dtype=bool)


def test_members_who_agree_with_people_get_more_votes():
    one = ballots(0.8, 0.6, 0.6, 0.5)
    fit = fit_panel(one, folds=5, splits=3)
    assert fit.weights["a"] > 1.5 * max(fit.weights[name] for name in "bcd")
    assert sum(fit.weights.values()) == pytest.approx(4)
    assert fit.over_equal.mean.interval is not None and fit.over_equal.mean.interval[0] > 0
    card = weights_card(weigh(one, name="w", folds=5, seed=0, splits=3, now=NOW))
    assert "The fitted votes agree with people more often than equal votes." in card


def test_the_card_says_plainly_when_fitted_votes_gain_nothing():
    made = weigh(ballots(0.7, 0.7, 0.7), name="w", folds=5, seed=0, splits=2, now=NOW)
    assert "equal votes will do" in weights_card(made)
    assert all(0.7 < weight < 1.3 for weight in made.weights.values())
    again = weigh(ballots(0.7, 0.7, 0.7), name="w", folds=5, seed=0, splits=2, now=NOW)
    assert again == made and again.version == made.version


def test_whoever_votes_against_people_gets_no_say_and_nobody_left_means_equal_votes():
    assert fit_weights(ballots(0.8, 0.2), np.ones(200, dtype=bool), ridge=0.3)[1] == 0.0
    assert fit_weights(ballots(0.1, 0.2), np.ones(200, dtype=bool), ridge=0.3).tolist() == [1.0, 1.0]
    with pytest.raises(NotEnoughData):
        fit_panel(ballots(0.8))


def test_the_fit_is_where_a_slow_ascent_ends():
    one = ballots(0.8, 0.6, 0.7, n=60)
    votes = 2 * one.votes - 1
    target = (one.people[:, 2] / one.people.sum(axis=1))[one.sample]
    slow = np.zeros(3)
    for _ in range(20_000):
        chance = 1 / (1 + np.exp(-votes @ slow))
        pull = 3.0 * (slow - slow.mean()) + 0.01 * slow
        slow = np.maximum(0.0, slow + 0.002 * (votes.T @ (1.5 * (target - chance)) - pull))
    np.testing.assert_allclose(fit_weights(one, every(one), ridge=3.0), slow / slow.mean(), atol=1e-4)


def test_a_fold_s_own_labels_have_no_part_in_its_verdicts():
    one = ballots(0.8, 0.55, 0.6)
    folds = fold_by_cluster(one.cluster, folds=4, seed=2)
    turned = one.people.copy()
    turned[folds == 1] = turned[folds == 1][:, ::-1]
    other = Ballots(one.members, one.votes, one.sample, turned, one.cluster)
    before, after = _out_of_fold(one, folds), _out_of_fold(other, folds)
    np.testing.assert_allclose(after[folds == 1], 1 - before[folds == 1])


def test_equal_votes_are_a_plain_majority():
    one = ballots(0.7, 0.6, 0.6)
    majority = (one.votes.sum(axis=1) > 1.5).astype(float)
    shares = one.people / one.people.sum(axis=1, keepdims=True)
    right = np.where(majority == 1, shares[one.sample, 2], shares[one.sample, 0])
    np.testing.assert_allclose(panel_agreement(one, np.ones(3)), right.reshape(-1, 2).mean(axis=1))


def evidence(n: int = 160, *, hint: float = 0.0, seed: int = 0) -> TrainingRows:
    """One fair judge, rubric points that tell the truth with strength `hint` and are unknown for a tenth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    fair = np.where(rng.random(n) < 0.5, truth, rng.integers(0, 3, n)) / 2
    people = np.eye(3)[truth] * 3
    points = np.where(rng.random(n) < 0.1, np.nan, hint * (truth - 1) + rng.normal(0, 0.3, n))
    model = np.arange(n) % 4
    return TrainingRows({"fair": fair}, {"rubric": points}, people, np.arange(n) // 4, model, family=model // 2)


def test_further_features_are_learnt_from_where_they_tell_something():
    blind = calibrate_judges(evidence(), folds=4, splits=2)
    helped = calibrate_judges(evidence(hint=1.0), folds=4, splits=2)
    assert "rubric: missing" in helped.features
    (gain,) = helped.gains
    assert lower(gain.agreement_over_splits) > 0 and gain.agreement_over_splits.above_zero == 2
    assert lower(blind.gains[0].agreement_over_splits) < 0.05


def lower(margin: OverSplits) -> float:
    assert margin.mean.interval is not None
    return margin.mean.interval[0]


def test_whole_families_are_left_out_where_they_are_known():
    known = calibrate_judges(evidence(hint=1.0), folds=4, splits=1)
    assert known.unseen_families.value is not None and "family" in known.unseen_families.estimand
    unknown = calibrate_judges(TrainingRows(**{**vars(evidence()), "family": None}), folds=4, splits=1)
    assert unknown.unseen_families.value is None and "named" in str(unknown.unseen_families.why_no_interval)


def test_a_margin_over_splits_is_the_mean_of_the_splits_with_their_range():
    found = margin_over_splits(
        [np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, 0.0, -1.0])], np.arange(4), what="m", unit="task"
    )
    assert (found.mean.value, found.least, found.most, found.above_zero) == (0.0, -0.25, 0.25, 1)
    assert "2 splits" in found.mean.estimand


def test_a_study_s_own_features_reach_the_calibrator_which_then_says_chances(workspace, study, tmp_path):
    grade(workspace, study, "judge")
    grade(workspace, study, "rubric", "--judge", "counter", "--whole")
    person_judges(workspace)
    out = tmp_path / "c.json"
    made = grade(workspace, study, "calibrate", "--folds", "2", "--splits", "2", "--out", str(out))
    wanted = {
        "counter: shown first less second",
        "counter: spread over sweeps",
        "counter, whole: rubric points",
        "format findings",
        "log length ratio",
    }
    assert wanted <= set(made["features"])
    assert "none" not in out.with_suffix(".md").read_text()
    chances = grade(workspace, study, "apply", str(out))
    assert len(chances) == 4 and all(one["seen"] for one in chances)
    assert all(one["loss"] + one["tie"] + one["win"] == pytest.approx(1) for one in chances)
    out.write_text(out.read_text().replace("log length ratio", "the weather"))
    with pytest.raises(GuildhallError, match=r"the weather.*which this study does not have"):
        grade(workspace, study, "apply", str(out))


TWO_JUDGES = STUDY.replace("[grading]\n", '[[judges]]\nname = "other"\nmodel = "scripted/word-counter"\n[grading]\n')


def test_fitted_votes_are_an_artefact_the_study_file_names(workspace, study, tmp_path):
    study.write_text(TWO_JUDGES)
    grade(workspace, study, "judge")
    person_judges(workspace)
    fitted = grade(workspace, study, "weigh", "--folds", "2", "--splits", "2", "--out", str(tmp_path / "w.json"))
    assert set(fitted["weights"]) == {"counter", "other"} and (tmp_path / "w.md").exists()
    study.write_text(TWO_JUDGES + '[grading.panel]\nweights_from = "w.json"\n')
    why = ("--changed", "--why", "votes are fitted to what people said")
    assert grade(workspace, study, "judge", "--judge", "panel", *why)["panel"]["verdicts"] == 16
    used = {str(one.settings.get("fitted")) for one in panels(workspace)}
    assert used == {fitted["version"]}
    study.write_text(STUDY + '[grading.panel]\nweights_from = "w.json"\n')
    with pytest.raises(GuildhallError, match="other members"):
        grade(workspace, study, "judge", "--judge", "panel")
    (tmp_path / "w.json").write_text(json.dumps({"weights": {}}))
    with pytest.raises(GuildhallError, match="grade weigh"):
        grade(workspace, study, "judge", "--judge", "panel")


def panels(workspace: Workspace) -> list[ModelGrader]:
    found = [one.grader for one in workspace.store.find(Judgment)]
    return [one for one in found if isinstance(one, ModelGrader) and one.name == "panel"]


def test_votes_are_fitted_from_a_plain_file_too(tmp_path: Path, workspace, study):
    rows = ["sample,model,task,rater,kind,score"]
    for number in range(12):
        truth = number % 2
        rows += [f"{number},m,t{number},ann,human,{truth}", f"{number},m,t{number},good,auto,{truth}"]
        rows.append(f"{number},m,t{number},bad,auto,{int(number % 3 == 0)}")
    file = tmp_path / "ratings.csv"
    file.write_text("\n".join(rows))
    made = grade(workspace, study, "weigh", str(file), "--folds", "3", "--out", str(tmp_path / "w.json"))
    assert made["weights"]["good"] > made["weights"]["bad"] and made["best_member"] == "good"
