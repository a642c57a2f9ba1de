"""The smaller parts of automatic grading: rubric marks, gradability, preference data, and a trained grader's card."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from guildhall.analysis.calibrator import (
    TrainingRows,
    calibrate_judges,
    confusion_chances,
    decided,
    fit_multinomial,
    log_loss,
)
from guildhall.analysis.splits import fold_by_cluster
from guildhall.domain.authors import Expert, ModelGrader
from guildhall.domain.judges import Gradability, ItemOutcome, ItemVerdict, RubricMark
from guildhall.domain.prepared import VERSION, Prepared, PreparedFile
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef, Rubric, RubricItem, Task
from guildhall.domain.values import sha256
from guildhall.engine.terms import Terms
from guildhall.errors import NotEnoughData
from guildhall.grading.design import expert_submission
from guildhall.grading.judges.desk import JudgeDesk
from guildhall.grading.judges.example_making import preference_rows
from guildhall.grading.judges.gradability import rule_reasons, ungradable
from guildhall.grading.judges.rubric import RubricAsked, ask_rubric, missing_marks
from guildhall.study.training import model_card, train
from guildhall.taskbank.importing import read_source
from tests.grading.scripted_judges import SECRETS, TextPreparer, judge_plan, world

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RUBRIC = Rubric(
    items=(
        RubricItem(text="States totals quarterly", points=6),
        RubricItem(text="Contains invented figures", points=-4),
        RubricItem(text="Includes bibliography", points=2),
    )
)


def task(**fields: object) -> Task:
    made = {"id": "t", "sector": "Information", "occupation": "Editors", "brief": "Edit.", **fields}
    return Task.model_validate(made)


def mark(*items: ItemVerdict) -> RubricMark:
    grader = ModelGrader(name="r", model="scripted/word-counter")
    return RubricMark(study="s", task="t", submission=sha256(b"s"), grader=grader, items=items, whole=True, made_at=NOW)


def test_a_score_counts_signed_points_over_positive_ones():
    met, partly, missed = ItemOutcome.MET, ItemOutcome.PARTLY, ItemOutcome.NOT_MET
    good = mark(ItemVerdict(item=1, points=6, outcome=met), ItemVerdict(item=2, points=-4, outcome=missed))
    bad = mark(ItemVerdict(item=1, points=6, outcome=partly), ItemVerdict(item=2, points=-4, outcome=met))
    assert (good.raw_points, good.score) == (6, 1.0)
    assert (bad.raw_points, bad.score) == (-1, 0.0), "held at zero, the raw sum kept"
    torn = mark(ItemVerdict(item=1, points=6, failure="unreadable"))
    assert torn.raw_points is None and torn.score is None and torn.failed == 1


@pytest.mark.parametrize("whole", [True, False])
def test_submissions_are_marked_once_and_again_only_where_items_failed(workspace, whole):
    plan = judge_plan("word-counter", model="scripted/word-counter")
    about = task(rubric=RUBRIC)
    work = Submission(task="t", author=Expert(), text="It states totals quarterly.", made_at=NOW)
    workspace.store.add_all([about, work])
    desk = JudgeDesk(workspace, TextPreparer(workspace), [about])  # type: ignore[arg-type]

    def wanted() -> list[RubricAsked]:
        return list(missing_marks(workspace.store, [work], plan, whole=whole, sweeps=2, again=True))

    ended = ask_rubric(plan, wanted(), study="s", whole=whole, desk=desk, terms=Terms(run="r"))
    assert (ended.verdicts, ended.failures) == (6, 0) and not wanted()
    kept = workspace.store.find(RubricMark)
    assert len(kept) == 2 and kept[0].score == pytest.approx(6 / 8) and kept[0].whole is whole


def test_tasks_are_ungradable_by_rule_and_by_hand(workspace):
    music = task(id="music", brief="Find royalty-free music online and cut it.")
    sound = task(id="sound", expert_files=(FileRef(name="mix.wav"),))
    plain = task(id="plain")
    assert rule_reasons(plain) == () and "internet" in rule_reasons(music)[0]
    assert rule_reasons(sound) and not rule_reasons(sound, takes=("image", "audio"))
    workspace.store.add(Gradability(task="plain", gradable=False, reason="fonts", by="ann", made_at=NOW))
    workspace.store.add(Gradability(task="music", gradable=True, reason="it was given", by="ann", made_at=NOW))
    found = ungradable(workspace.store, [music, sound, plain])
    assert set(found) == {"sound", "plain"} and found["plain"] == "fonts (by ann)"


def test_a_brief_that_speaks_of_programs_and_asks_for_a_memo_can_be_graded():
    brief = "Describe how the Node.js service in app.js is deployed."
    memo, program = (task(id="t", brief=brief, expert_files=(FileRef(name=name),)) for name in ("memo.docx", "app.zip"))
    assert rule_reasons(memo) == () and "other languages" in rule_reasons(program)[0]
    assert "other languages" in rule_reasons(task(id="t", brief=brief, expert_files=()))[0]
    beside = memo.but(reference_files=(FileRef(name="app.js"),))
    assert "other languages" in rule_reasons(beside)[0]


def test_twelve_of_the_220_public_tasks_are_ungradable_and_three_of_them_for_their_language(realdata):
    tasks = read_source(realdata / "gdpval" / "gdpval_tasks_220.jsonl").tasks
    out = {one.id: rule_reasons(one) for one in tasks if rule_reasons(one)}
    assert (len(tasks), len(out)) == (220, 12)
    by_language = [one.occupation for one in tasks if any("other languages" in why for why in out.get(one.id, ()))]
    assert by_language == ["Software Developers"] * 3


def test_a_task_whose_letters_come_out_as_boxes_is_ungradable(workspace):
    about = task(id="boxes", expert_files=(FileRef(name="memo.pdf", digest=sha256(b"memo")),))
    expert = expert_submission(about)
    assert expert is not None and not ungradable(workspace.store, [about])
    file = PreparedFile(kind="pdf", ending=".pdf", findings={"missing-glyph": 3})
    workspace.store.add(Prepared(subject=expert.key, version=VERSION, files=(file,)))
    assert "font" in ungradable(workspace.store, [about])["boxes"]


def test_preference_data_holds_no_author_and_no_tie(workspace):
    made = world(workspace, tasks=5)
    desk = JudgeDesk(workspace, TextPreparer(workspace), made.tasks)  # type: ignore[arg-type]
    chat = list(preference_rows(made.comparisons, desk, shape="chat"))
    reward = list(preference_rows(made.comparisons, desk, shape="reward"))
    assert len(chat) == len(reward) <= 10 and all(0 < row["margin"] <= 1 for row in reward)
    assert chat[0]["chosen"][0]["content"] == reward[0]["chosen"]
    for secret in SECRETS:
        assert secret not in repr(chat)


def planted(n: int, seed: int = 0) -> TrainingRows:
    """One good judge and one that is only fair; three people a sample."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    good = np.where(rng.random(n) < 0.8, truth, rng.integers(0, 3, n)) / 2
    people = np.zeros((n, 3))
    for _ in range(3):
        people[np.arange(n), np.where(rng.random(n) < 0.9, truth, rng.integers(0, 3, n))] += 1
    fair = np.where(rng.random(n) < 0.6, truth, rng.integers(0, 3, n)) / 2
    verdicts = {"good": np.where(rng.random(n) < 0.1, np.nan, good), "fair": fair}
    return TrainingRows(verdicts, {}, people, np.arange(n), np.zeros(n, dtype=np.intp))


def test_the_fit_matches_the_observed_shares_where_there_is_nothing_to_learn():
    counts = np.array([[5.0, 2.0, 3.0]] * 40)
    fit = fit_multinomial(np.random.default_rng(0).normal(size=(40, 2)), counts, ridge=1000.0)
    assert fit.probabilities(np.zeros((1, 2)))[0] == pytest.approx([0.5, 0.2, 0.3], abs=1e-3)


def test_the_fit_is_where_a_slow_ascent_ends():
    rng = np.random.default_rng(3)
    features, outcome = rng.normal(size=(80, 2)), rng.integers(0, 3, 80)
    counts = np.eye(3)[outcome]
    fit = fit_multinomial(features, counts, ridge=2.0)
    design = np.column_stack([np.ones(80), (features - features.mean(0)) / features.std(0)])
    slow = np.zeros((3, 2))
    for _ in range(4000):
        scores = np.column_stack([np.zeros(80), design @ slow])
        chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        penalty = 2.0 * slow
        penalty[0] = 0.0
        slow += 0.01 * (design.T @ (counts - chances)[:, 1:] - penalty)
    np.testing.assert_allclose(fit.coefficients, slow, atol=1e-5)


def test_a_calibrator_is_close_to_the_good_judge_and_beats_both_in_log_loss():
    fitted = calibrate_judges(planted(400), folds=5, seed=0)
    good = next(gain for gain in fitted.gains if gain.judge == "good")
    assert good.agreement.value is not None and good.agreement.value > -0.02
    assert all(gain.log_loss.value is not None and gain.log_loss.value > 0 for gain in fitted.gains)
    assert fitted.unseen_models.value is None, "there is only one model"


def test_folds_keep_clusters_whole_and_confusion_tables_see_only_other_folds():
    cluster = np.repeat(np.arange(20), 3)
    folds = fold_by_cluster(cluster, folds=4, seed=1)
    assert all(len(set(folds[cluster == one])) == 1 for one in range(20)) and set(folds) == {0, 1, 2, 3}
    with pytest.raises(NotEnoughData):
        fold_by_cluster(np.arange(3), folds=5, seed=0)
    people = np.eye(3)[np.zeros(60, dtype=int)]
    people[folds == 0] = [0, 0, 1]
    chances = confusion_chances(np.zeros(60), people, folds)
    assert (chances[folds == 0][:, 0] > 0.9).all(), "what its own fold holds is not learnt"
    assert decided(np.array([[0.4, 0.2, 0.4], [0.1, 0.2, 0.7]])).tolist() == [0.5, 1.0]
    assert log_loss(np.array([[0.5, 0.25, 0.25]]), np.array([[2.0, 0.0, 0.0]]))[0] == pytest.approx(np.log(2))


def test_a_trained_grader_says_plainly_when_it_gains_nothing(tmp_path: Path):
    trained = train(planted(200), name="cal", folds=5, seed=0, now=NOW)
    card = model_card(trained)
    assert trained.version in card and "seed 0" in card and "good" in card
    assert "not shown to agree" in card or "more often than the best" in card
    again = train(planted(200), name="cal", folds=5, seed=0, now=NOW)
    assert again == trained and again.version == trained.version
