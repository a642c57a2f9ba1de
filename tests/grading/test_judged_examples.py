"""Judged examples in a judge's prompt: never of its own task, never an author, and worth what they are worth."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from guildhall.domain.examples import ExampleCollection, JudgedExample
from guildhall.domain.judges import ExamplesFrom, JudgePlan
from guildhall.domain.prepared import Prepared, PreparedFile
from guildhall.domain.tasks import Task
from guildhall.domain.values import sha256
from guildhall.engine.terms import Terms
from guildhall.errors import GuildhallError
from guildhall.grading.judges.asking import Kept
from guildhall.grading.judges.desk import JudgeDesk
from guildhall.grading.judges.example_making import collect_examples
from guildhall.grading.judges.graders import ByModel
from guildhall.grading.judges.queue import judge
from guildhall.grading.judges.verdicts import build_question
from guildhall.judging.comparing import judge_of
from guildhall.judging.examples import Examples, shown_examples, traces_of
from guildhall.study.accounting import gain_of
from guildhall.study.judge_rows import JudgedWork
from tests.grading.scripted_judges import SECRETS, SEEN, TextPreparer, World, brevity, judge_plan, world
from tests.grading.test_grade_command import STUDY, grade, person_judges
from tests.grading.test_grade_command import study as study

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def example(task: str, words: str = "", **fields: object) -> JudgedExample:
    made = {"task": task, "brief": words, "sides": ("a", "b"), "verdict": "A", "people": 3, "digests": (), **fields}
    return JudgedExample.model_validate(made)


def collection(*examples: JudgedExample) -> ExampleCollection:
    return ExampleCollection(name="e", study="s", examples=examples, seed=1, made_at=NOW)


def task(name: str, brief: str = "Edit.") -> Task:
    return Task(id=name, sector="Information", occupation="Editors", brief=brief)


def test_the_nearest_in_words_comes_first():
    found = Examples(
        collection(
            example("wine", "wine cellar stock list and prices"),
            example("tax", "tax return of a small business with depreciation schedule"),
            example("tax-2", "depreciation schedule of the business"),
            example("wine-2", "prices of the cellar"),
        )
    ).nearest(task("other", "A depreciation schedule for the tax return"), ["business"], set(), 2)
    assert [one.task for one in found] == ["tax", "tax-2"]


def test_no_example_shares_task_fold_or_digest_with_what_is_judged():
    many = collection(*(example(f"t-{n}", "same words", digests=(sha256(bytes([n])),)) for n in range(60)))
    search = Examples(many)
    for n in range(60):
        traces = {sha256(bytes([(n + 1) % 60]))}
        found = search.nearest(task(f"t-{n}", "same words"), [], traces, 60)
        assert found, "there are others"
        assert f"t-{n}" not in {one.task for one in found}
        assert many.fold(f"t-{n}") not in {many.fold(one.task) for one in found}
        assert not [one for one in found if traces & set(one.digests)]


def test_work_is_known_again_by_submission_file_and_message():
    file = PreparedFile(kind="pdf", ending=".pdf", scrubbed=sha256(b"file"))
    work = Prepared(subject=sha256(b"s"), version="1", files=(file,), text="Enclosed.")
    assert traces_of(sha256(b"s"), work) == {sha256(b"s"), sha256(b"file"), sha256(b"Enclosed.")}


def test_examples_keep_to_their_share_of_the_context():
    long = example("t", "brief " * 9000, sides=("side " * 9000, "side " * 9000))
    for context in (8_000, 128_000):
        assert len(shown_examples([long] * 3, context_tokens=context, count=3)) < 0.1 * context * 3 + 1_000
    assert shown_examples([], context_tokens=8_000, count=3) == ""


def desk_of(workspace, made: World) -> JudgeDesk:
    return JudgeDesk(workspace, TextPreparer(workspace), made.tasks)  # type: ignore[arg-type]


def with_examples(workspace, made: World, name: str) -> JudgePlan:
    """A judge that is shown examples from everything people judged in this world."""
    kept = collect_examples(made.comparisons, desk_of(workspace, made), name="e", study="w", seed=0, now=NOW)
    version = workspace.blobs.put(kept.canonical())
    shown = ExamplesFrom(file=Path("examples.json"), count=4, version=version)
    return judge_plan(name).but(name=f"{name}-with-examples", examples=shown)


def gain(workspace, made: World, name: str):
    plans = with_examples(workspace, made, name), judge_plan(name)
    for plan in plans:
        judge(ByModel(plan), made.comparisons, desk=desk_of(workspace, made), terms=Terms(run="r"), sweeps=1)
    return gain_of(JudgedWork(workspace, made.study, made.makers), plans[0].name, plans[1].name)


def test_a_judge_that_learns_from_examples_gains_by_them(workspace):
    found = gain(workspace, world(workspace, tasks=25, taste=brevity), "learner")
    assert found.interval is not None and found.interval[0] > 0.3


def test_a_judge_that_ignores_examples_gains_nothing(workspace):
    found = gain(workspace, world(workspace, tasks=8, taste=brevity), "perfect")
    assert found.value == 0.0


def test_requests_with_examples_name_no_author_and_show_nothing_of_their_own_task(workspace):
    SEEN.clear()
    made = world(workspace, tasks=12)
    plan = with_examples(workspace, made, "learner")
    desk = desk_of(workspace, made)
    judge(ByModel(plan), made.comparisons, desk=desk, terms=Terms(run="r"), sweeps=1)
    assert len(SEEN) == 48 and sum("# Judged examples" in request for request in SEEN) == 48
    for request in SEEN:
        assert not [secret for secret in SECRETS if secret in request]
        examples, _, own = request.rpartition("# The request")
        name = own.split()[2].rstrip(".")
        assert f"Edit text {name}.\n" not in examples and f"t-{name}\n" not in examples


def test_both_orders_are_shown_the_same_examples_and_no_examples_is_the_default(workspace):
    made = world(workspace, tasks=12)
    plan, desk = with_examples(workspace, made, "perfect"), desk_of(workspace, made)
    one, other = list(Kept(workspace.store, ()).missing(made.comparisons[:1], sweeps=1, again=False))
    shown = [build_question(plan, asked, desk).messages[1].text.partition("# The request")[0] for asked in (one, other)]
    assert shown[0] == shown[1] and "They decided" in shown[0]
    assert "example" not in build_question(judge_plan("perfect"), one, desk).messages[1].text.casefold()


def test_another_collection_or_count_is_another_judge():
    plain = JudgePlan(name="j", model="scripted/test-perfect")
    shown = ExamplesFrom(file=Path("e.json"), count=3, version=sha256(b"1"))
    kinds = [
        plain,
        plain.but(examples=shown),
        plain.but(examples=shown.but(count=2)),
        plain.but(examples=shown.but(version=sha256(b"2"))),
    ]
    assert len({judge_of(plan, places=2).key for plan in kinds}) == 4
    moved = plain.but(examples=shown.but(file=Path("elsewhere/e.json")))
    assert judge_of(moved, places=2).key == judge_of(kinds[1], places=2).key


def test_a_reason_that_guesses_an_author_is_left_out(workspace):
    made = world(workspace, tasks=2)
    desk = desk_of(workspace, made)
    kept = collect_examples(made.comparisons, desk, name="e", study="w", seed=0, now=NOW)
    assert {one.reason for one in kept.examples} <= {"as it seems to me", ""}
    assert any(one.reason for one in kept.examples) and kept.grader_kinds == ("simulated",)
    from guildhall.domain.judgments import Judgment

    for one in workspace.store.find(Judgment):
        told = one.but(reason="surely Model-Plum or model-pear", replaces=one.key)
        workspace.store.add(told)
    again = collect_examples(made.comparisons, desk, name="e", study="w", seed=0, now=NOW)
    assert {one.reason for one in again.examples} == {""}
    assert not [secret for secret in SECRETS if secret in again.model_dump_json()]


def test_the_study_file_names_a_collection_and_may_pin_its_version(workspace, study, tmp_path):
    grade(workspace, study, "plan")
    person_judges(workspace)
    made = grade(workspace, study, "examples", "--out", str(tmp_path / "examples.json"))
    assert len(made["examples"]) == 4 and made["version"] in (tmp_path / "examples.md").read_text()
    text = STUDY.replace(
        "[grading]\n", '[[judges]]\nname = "shown"\nmodel = "scripted/word-counter"\nEXAMPLES\n[grading]\n'
    )
    study.write_text(text.replace("EXAMPLES", 'examples = { file = "examples.json", count = 2 }'))
    judged = grade(workspace, study, "judge", "--judge", "shown")["shown"]
    assert judged["verdicts"] == 16 and grade(workspace, study, "judge", "--judge", "shown")["shown"]["verdicts"] == 0
    grade(workspace, study, "judge", "--judge", "counter")
    found = grade(workspace, study, "account", "--judge", "shown", "--against", "counter")
    assert found["gains"]["shown"]["counter"]["value"] == 0.0
    pinned = 'examples = { file = "examples.json", version = "000000000000" }'
    study.write_text(text.replace("EXAMPLES", pinned))
    with pytest.raises(GuildhallError, match=r"is version .* 000000000000"):
        grade(workspace, study, "plan")
    (tmp_path / "examples.json").write_text(json.dumps({"name": "x"}))
    with pytest.raises(GuildhallError, match="grade examples"):
        grade(workspace, study, "plan")
