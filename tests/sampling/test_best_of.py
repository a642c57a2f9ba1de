"""Best of N: unlabelled, in random order, read strictly, and nothing thrown away."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.domain.authors import ModelRun
from guildhall.domain.picks import Pick
from guildhall.domain.prepared import Prepared
from guildhall.domain.submissions import StopReason, Submission
from guildhall.domain.tasks import Task
from guildhall.domain.values import sha256
from guildhall.engine.terms import Terms
from guildhall.errors import UnreadableVerdict
from guildhall.judging.rubrics import pick_call, picking_judge, read_pick
from guildhall.sampling.derived import Picking, group_tries, pick_best
from guildhall.store.workspace import Workspace

TASK = Task(id="t", sector="Information", occupation="Editors", brief="Write a memo.")


def tries(count: int, **fields: Any) -> list[Submission]:
    return [
        Submission(
            task="t",
            author=ModelRun(name="secret-model-name", model="scripted/x", sample=number),
            text="word " * number,
            made_at=datetime(2026, 1, 1, tzinfo=UTC),
            **fields,
        )
        for number in range(1, count + 1)
    ]


class PlainPreparer:
    """Prepares submissions that consist of a message only."""

    def submission(self, submission: Submission, task: Task) -> Prepared:
        return Prepared(subject=submission.key, version="1", files=(), text=submission.text)

    def references(self, task: Task) -> Prepared:
        return Prepared(subject=sha256(b"r"), version="1", files=())


def pick(workspace: Workspace, submissions: list[Submission], judge: str = "scripted/picker") -> Picking:
    return pick_best(
        [TASK],
        submissions,
        judge=picking_judge("judge", judge),
        workspace=workspace,
        preparer=PlainPreparer(),  # type: ignore[arg-type]
        terms=Terms(run="picks"),
    )


def test_the_pick_its_reason_and_the_losers_are_kept(workspace):
    submissions = tries(5)
    (made,) = pick(workspace, submissions).picks
    assert set(made.order) == {submission.key for submission in submissions[:4]}, "the first four tries"
    assert made.chosen == submissions[3].key and "words" in made.reason
    assert workspace.store.find(Pick) == [made]


def test_asking_again_gives_the_same_pick_and_costs_nothing(workspace):
    first, again = pick(workspace, tries(3)), pick(workspace, tries(3))
    assert first.picks == again.picks and workspace.store.count(Pick) == 1


def test_the_order_is_random_by_seed_and_the_judge_sees_no_author():
    submissions = tries(4)
    orders = set()
    for seed in range(20):
        (group,), _ = group_tries([TASK], submissions, seed=seed)
        orders.add(tuple(one.key for one in group.order))
        shown = [PlainPreparer().submission(one, TASK) for one in group.order]
        references = PlainPreparer().references(TASK)
        call = pick_call(picking_judge("j", "scripted/picker"), TASK, references, shown, read_blob=lambda _: b"")
        assert "secret-model-name" not in call.model_dump_json()
    assert len(orders) > 5
    assert group_tries([TASK], submissions, seed=3) == group_tries([TASK], submissions, seed=3)


def test_failures_of_ours_and_replaced_tries_take_no_part():
    good = tries(2)
    broken = tries(1, stop=StopReason.PROVIDER_FAILED)
    newer = good[0].but(text="better", replaces=good[0].key)
    (group,), skipped = group_tries([TASK], [*good, *broken, newer], seed=1)
    assert {one.key for one in group.order} == {good[1].key, newer.key} and skipped == 0
    assert group_tries([TASK], tries(1), seed=1) == ([], 1)


@pytest.mark.parametrize("judge", ["scripted/echo", "scripted/refuses", "scripted/fails"])
def test_an_unreadable_or_failed_answer_is_kept_as_a_failure_and_picks_nobody(workspace, judge):
    (made,) = pick(workspace, tries(3), judge=judge).picks
    assert made.chosen is None and made.failure


@pytest.mark.parametrize(
    ("reply", "place"), [("Because.\n\nBEST[B]", 1), ("BEST[A]\n", 0), ("BEST[A]\nno\nBEST[C]", 2)]
)
def test_the_last_line_alone_is_the_verdict(reply, place):
    assert read_pick(reply, 3) == place


@pytest.mark.parametrize(
    "reply", ["", "BEST[A] it is", "not BEST[A]", "BEST[A]\nbecause", "BEST[D]", "best[a]", "**BEST[A]**"]
)
def test_anything_else_is_refused(reply):
    with pytest.raises(UnreadableVerdict):
        read_pick(reply, 3)


@given(st.text(max_size=60), st.integers(2, 6))
def test_no_reply_is_ever_read_as_a_place_that_was_not_shown(reply, count):
    with contextlib.suppress(UnreadableVerdict):
        assert 0 <= read_pick(reply, count) < count
