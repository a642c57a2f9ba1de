"""Staged review: who may do what, what a task still needs, and when it may enter a study."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.domain.halls import Check, Member, Role
from guildhall.domain.reviews import Anchor, DecisionKind, Stage
from guildhall.domain.tasks import ReviewState, Specification, Task
from guildhall.errors import InputError, ReviewRefused, UnknownName
from guildhall.store.audit import broken_links, history
from guildhall.study.file import new_study
from guildhall.study.studies import OpenStudy
from guildhall.taskbank.review.admission import require_reviewed, why_not_in_a_study
from guildhall.taskbank.review.board import audit_due, board
from guildhall.taskbank.review.desk import HOLD_S
from guildhall.taskbank.review.differences import Change, changed_facts, file_changes, line_differences
from guildhall.taskbank.review.eligibility import unmet_requirements
from guildhall.taskbank.review.histories import all_histories, events, history_of
from guildhall.taskbank.review.roster import promoted, roster_report
from guildhall.taskbank.review.standing import Lane, drawn_for_audit, standing_of
from tests.taskbank.reviewing import VETTED, Hall, draft_task, expert


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    made = Hall(tmp_path / "workspace")
    yield made
    made.workspace.close()


@pytest.fixture
def hall_on_each(tmp_path: Path, database_url: str) -> Iterator[Hall]:
    """The hall on SQLite and on PostgreSQL."""
    made = Hall(tmp_path / "workspace", database=database_url)
    yield made
    made.workspace.close()


def lane(hall: Hall) -> Lane:
    return standing_of(history_of(hall.store, "memo")).lane


def test_three_stages_by_three_reviewers_lead_to_acceptance(hall_on_each: Hall) -> None:
    hall = hall_on_each
    hall.submit()
    standing = standing_of(history_of(hall.store, "memo"))
    assert standing.stage is Stage.GENERALIST and "3 more reviews" in standing.missing[1]
    for reviewer, following in zip(
        (hall.generalist, hall.specialist, hall.third), (Stage.OCCUPATION, Stage.FINAL, None), strict=True
    ):
        with pytest.raises(InputError, match="cannot be accepted"):
            hall.desk.decide("memo", DecisionKind.ACCEPTED, hall.lead, now=hall.now)
        hall.review(reviewer)
        assert standing_of(history_of(hall.store, "memo")).stage is following
    hall.desk.decide("memo", DecisionKind.ACCEPTED, hall.lead, now=hall.now)
    assert hall.store.get(Task, "memo@1").review is ReviewState.ACCEPTED
    assert lane(hall) is Lane.ACCEPTED


def test_a_change_request_goes_to_the_author_and_back_to_the_stage_that_asked(hall: Hall) -> None:
    hall.submit()
    hall.review(hall.generalist)
    hall.review(hall.specialist, "changes requested")
    assert lane(hall) is Lane.CHANGES
    with pytest.raises(InputError, match="waits for no review"):
        hall.review(hall.third)
    hall.submit(brief=draft_task().brief + " Add a forecast.")
    assert standing_of(history_of(hall.store, "memo")).stage is Stage.OCCUPATION
    hall.review(hall.specialist)
    hall.review(hall.third)
    assert standing_of(history_of(hall.store, "memo")).complete
    assert [review.draft for review in history_of(hall.store, "memo").reviews] == [
        "memo@1",
        "memo@1",
        "memo@2",
        "memo@2",
    ]


def test_the_final_pass_must_be_of_the_newest_version(hall: Hall) -> None:
    hall.submit()
    hall.pass_all()
    hall.submit(title="A better title")
    standing = standing_of(history_of(hall.store, "memo"))
    assert (standing.stage, standing.complete) == (Stage.FINAL, False)


@pytest.mark.parametrize(
    ("reviewer", "why"),
    [
        (expert("author", Role.REVIEWER), "wrote this task"),
        (expert("pen", author_names=("author",)), "wrote this task"),
        (expert("colleague", employer_mark="1" * 64), "works where its author works"),
        (expert("declared", conflicts=("memo",)), "has declared a conflict"),
        (expert("grader", Role.GRADER), "is not a reviewer"),
        (expert("new", years=3.9), "does not yet meet the requirements"),
        (expert("untrained", vetting=VETTED.but(training=Check.OPEN)), "does not yet meet the requirements"),
    ],
)
def test_no_author_colleague_or_unfit_person_reviews(hall: Hall, reviewer: object, why: str) -> None:
    hall.submit()
    for act in (hall.desk.take, lambda task, who, now: hall.review(who)):
        with pytest.raises(ReviewRefused, match=why):
            act("memo", reviewer, now=hall.now)  # type: ignore[arg-type]


def test_only_the_occupation_reviews_at_its_stage_and_nobody_at_two_stages(hall: Hall) -> None:
    hall.submit()
    hall.review(hall.specialist)
    with pytest.raises(ReviewRefused, match="not of the task's occupation"):
        hall.review(hall.generalist)
    with pytest.raises(ReviewRefused, match="at another stage"):
        hall.review(hall.specialist)


def test_a_task_is_held_by_one_reviewer_until_it_is_in_given_back_or_run_out(hall: Hall) -> None:
    hall.submit()
    hold = hall.desk.take("memo", hall.third, now=hall.now)
    with pytest.raises(InputError, match="third is reviewing"):
        hall.desk.take("memo", hall.fourth, now=hall.now)
    with pytest.raises(InputError, match="third is reviewing"):
        hall.submit(title="Not now")
    [card] = board(hall.store, now=hall.now)
    assert (card.holder, card.since) == ("third", hold.since)
    hall.desk.give_back("memo", hall.manager, now=hall.now)
    hall.desk.take("memo", hall.fourth, now=hall.now)
    hall._now += HOLD_S
    assert hall.desk.take("memo", hall.third, now=hall.now).holder == "third"
    hall.review(hall.third)
    assert hall.desk.holds.of("memo", now=hall.now) is None


def test_open_comments_stand_in_the_way_until_who_made_them_settles_them(hall: Hall) -> None:
    hall.submit()
    hall.pass_all()
    anchor = Anchor(file="expert/memo.docx", page=2)
    comment = hall.desk.comment("memo", hall.fourth, "The total is off.", now=hall.now, anchor=anchor)
    assert "1 open comment to be resolved" in standing_of(history_of(hall.store, "memo")).missing
    with pytest.raises(ReviewRefused, match="did not make this comment"):
        hall.desk.answer("memo", comment.key, hall.author, "It is right.", now=hall.now, resolves=True)
    with pytest.raises(ReviewRefused, match="has no part in this comment"):
        hall.desk.answer("memo", comment.key, hall.third, "Indeed.", now=hall.now)
    hall.desk.answer("memo", comment.key, hall.author, "It is right: see row 4.", now=hall.now)
    hall.desk.answer("memo", comment.key, hall.fourth, "So it is.", now=hall.now, resolves=True)
    assert standing_of(history_of(hall.store, "memo")).complete
    told = [event.what for event in events(history_of(hall.store, "memo"))]
    assert told[-3:] == [
        "commented on expert/memo.docx, page 2 of version 1",
        "answered a comment",
        "resolved a comment",
    ]


def test_a_comment_on_a_file_that_is_not_there_is_refused(hall: Hall) -> None:
    hall.submit()
    with pytest.raises(UnknownName, match=r"other\.docx"):
        hall.desk.comment("memo", hall.fourth, "See.", now=hall.now, anchor=Anchor(file="expert/other.docx", page=1))
    with pytest.raises(ReviewRefused, match="wrote this task"):
        hall.desk.comment("memo", hall.author, "Mine.", now=hall.now)


def test_accepted_ratings_are_means_over_reviewers_by_their_last_word(hall: Hall) -> None:
    hall.submit()
    hall.review(hall.generalist, difficulty=2, hours=4.0, specification="well-specified")
    hall.review(hall.specialist, "changes requested", difficulty=1, quality=1)
    hall.submit(title="Second")
    hall.review(hall.specialist, difficulty=4, hours=3.0, specification="well-specified")
    hall.review(hall.third, difficulty=3, specification="over-specified")
    hall.desk.decide("memo", DecisionKind.ACCEPTED, hall.manager, now=hall.now)
    task = hall.store.get(Task, "memo@2")
    assert (task.ratings.difficulty, task.ratings.quality, task.expert_hours) == (3.0, 5.0, 3.0)
    assert task.ratings.specification is Specification.WELL


def test_a_failed_audit_starts_the_stages_anew_and_bars_the_task_from_studies(hall: Hall) -> None:
    hall.submit()
    hall.pass_all()
    hall.desk.decide("memo", DecisionKind.ACCEPTED, hall.lead, now=hall.now)
    task = hall.store.get(Task, "memo@1")
    assert why_not_in_a_study(hall.store, task) is None
    hall.desk.decide("memo", DecisionKind.AUDIT_FAILED, hall.manager, now=hall.now, words="The ledger is wrong.")
    with pytest.raises(InputError, match="changes requested"):
        require_reviewed(hall.store, task)
    hall.submit(title="Mended")
    assert standing_of(history_of(hall.store, "memo")).stage is Stage.GENERALIST


@pytest.mark.parametrize("state", ReviewState)
def test_a_task_that_calls_itself_unfinished_enters_no_study(hall: Hall, state: ReviewState) -> None:
    barred = why_not_in_a_study(hall.store, draft_task(review=state)) is not None
    assert barred == (state not in {ReviewState.UNREVIEWED, ReviewState.ACCEPTED})


def test_a_study_leaves_out_what_is_not_reviewed_and_refuses_it_by_name(hall: Hall, tmp_path: Path) -> None:
    hall.store.add(draft_task("public"))
    hall.store.add(draft_task("unfinished", review=ReviewState.IN_REVIEW))
    path = new_study(tmp_path / "study.toml", study_id="s", title="S")
    assert [task.id for task in OpenStudy.open(path, hall.workspace).tasks] == ["public"]
    path.write_text(path.read_text().replace("# ids = [", "ids = [").replace('"task-1", "task-2"', '"unfinished"'))
    with pytest.raises(InputError, match="'unfinished' may not enter a study"):
        OpenStudy.open(path, hall.workspace).tasks  # noqa: B018 - looking at them is the act


def test_of_many_reviewers_who_take_a_task_at_once_one_holds_it(hall_on_each: Hall) -> None:
    hall = hall_on_each
    hall.submit()
    rivals = [expert(f"rival-{number}") for number in range(8)]

    def take(reviewer: Member) -> str | None:
        try:
            return hall.desk.take("memo", reviewer, now=1_700_000_100.0).holder
        except InputError:
            return None

    with ThreadPoolExecutor(8) as pool:
        holders = [name for name in pool.map(take, rivals) if name]
    assert len(holders) == 1
    assert holders[0] == getattr(hall.desk.holds.of("memo", now=1_700_000_101.0), "holder", None)


def test_only_a_lead_or_a_manager_decides_and_a_rejection_says_why(hall: Hall) -> None:
    hall.submit()
    with pytest.raises(ReviewRefused, match="neither lead reviewer nor manager"):
        hall.desk.decide("memo", DecisionKind.REJECTED, hall.third, now=hall.now, words="No.")
    with pytest.raises(InputError, match="say why"):
        hall.desk.decide("memo", DecisionKind.REJECTED, hall.lead, now=hall.now)
    hall.desk.decide("memo", DecisionKind.REJECTED, hall.lead, now=hall.now, words="It is trivial.")
    with pytest.raises(InputError, match="what was decided is not revised"):
        hall.submit()


def test_every_act_is_a_line_of_the_log(hall: Hall) -> None:
    hall.submit()
    hall.desk.take("memo", hall.third, now=hall.now)
    hall.review(hall.third)
    assert [row["action"] for row in reversed(history(hall.store, subject="memo"))] == [
        "draft submitted: version 1",
        "review taken: generalist",
        "reviewed: generalist, pass",
    ]
    assert broken_links(hall.store) == []


@given(share=st.floats(0, 1), seed=st.integers(0, 9))
def test_audit_draws_keep_to_their_share_and_to_their_seed(share: float, seed: int) -> None:
    drawn = [drawn_for_audit(f"task-{number}@1", share=share, seed=seed) for number in range(400)]
    assert abs(sum(drawn) / 400 - share) < 0.12
    assert drawn == [drawn_for_audit(f"task-{number}@1", share=share, seed=seed) for number in range(400)]


def test_an_audit_is_due_until_the_team_has_looked(hall: Hall) -> None:
    hall.submit()
    hall.pass_all()
    assert not audit_due(history_of(hall.store, "memo"), share=1)
    hall.desk.decide("memo", DecisionKind.ACCEPTED, hall.lead, now=hall.now)
    assert audit_due(history_of(hall.store, "memo"), share=1)
    assert not audit_due(history_of(hall.store, "memo"), share=0)
    hall.desk.decide("memo", DecisionKind.AUDIT_HELD, hall.manager, now=hall.now, words="Checked every figure.")
    assert not audit_due(history_of(hall.store, "memo"), share=1)


def test_requirements_are_those_of_the_paper() -> None:
    assert unmet_requirements(expert("fit", years=4.0)) == ()
    bare = expert("bare", occupations=(), years=None, vetting=VETTED.but(quiz=Check.FAILED, interview=Check.OPEN))
    assert unmet_requirements(bare) == ("an occupation", "4 years of experience", "interview", "quiz")


def test_an_author_who_is_not_vetted_cannot_submit(hall: Hall) -> None:
    with pytest.raises(ReviewRefused, match="background check"):
        unvetted = hall.author.but(vetting=VETTED.but(background_check=Check.OPEN))
        hall.desk.submit(draft_task(), unvetted, now=hall.now)


def test_promotion_goes_one_step_at_a_time() -> None:
    author = expert("one", Role.AUTHOR)
    reviewer = promoted(author)
    lead = promoted(reviewer)
    assert (reviewer.role, reviewer.lead, lead.lead) == (Role.REVIEWER, False, True)
    with pytest.raises(InputError, match="lead reviewer already"):
        promoted(lead)
    with pytest.raises(InputError, match="years of experience"):
        promoted(author.but(years=1.0))


def test_the_roster_tells_acceptance_rates_and_occupations_short_of_experts(hall: Hall) -> None:
    hall.submit()
    hall.pass_all()
    hall.desk.decide("memo", DecisionKind.ACCEPTED, hall.lead, now=hall.now)
    report = roster_report(list(hall.people.values()), all_histories(hall.store))
    author = next(one for one in report.experts if one.code_name == "author")
    assert (author.acceptance_rate, author.reviews_per_task, author.reviews_made) == (1.0, 3.0, 0)
    third = next(one for one in report.experts if one.code_name == "third")
    assert third.acceptance_rate is None and third.reviews_made == 1
    assert report.short == {"Editors": 1}


def test_differences_show_words_facts_and_files(hall: Hall) -> None:
    hall.submit(brief="One\nTwo\nThree\n")
    other = draft_task().expert_files[0].but(digest="c" * 64)
    hall.submit(brief="One\n2\nThree\n", expert_files=(other,), expert_hours=3.0)
    before, after = history_of(hall.store, "memo").drafts
    lines = line_differences(before.task.brief, after.task.brief)
    assert [(line.change, line.text) for line in lines if line.change is not Change.SAME] == [
        (Change.REMOVED, "Two"),
        (Change.ADDED, "2"),
    ]
    assert [(fact.name, fact.before, fact.after) for fact in changed_facts(before, after)] == [("Hours", "2", "3")]
    changes = {one.name: one.change for one in file_changes(before.task, after.task)}
    assert changes == {"reference/ledger.csv": Change.SAME, "expert/memo.docx": Change.CHANGED}


@given(before=st.lists(st.sampled_from("abc")), after=st.lists(st.sampled_from("abc")))
def test_a_difference_with_all_its_context_holds_both_texts(before: list[str], after: list[str]) -> None:
    lines = line_differences("\n".join(before), "\n".join(after), context=1000)
    shown = [line for line in lines if not line.gap]
    if len(shown) == len(lines):
        assert [line.text for line in shown if line.change is not Change.ADDED] == before
        assert [line.text for line in shown if line.change is not Change.REMOVED] == after


def test_the_mean_years_are_those_of_qualified_experts_who_said() -> None:
    people = [
        expert("one", years=6.0),
        expert("two", years=10.0),
        expert("new", years=1.0),
        expert("silent", years=None),
    ]
    assert roster_report(people, []).mean_years == 8.0
    assert roster_report([expert("new", years=1.0)], []).mean_years is None


def test_each_stage_asks_its_own_question_and_a_pass_says_yes_to_it(hall: Hall) -> None:
    hall.submit()
    with pytest.raises(InputError, match="the project's requirements"):
        hall.review(hall.generalist, answers={})
    with pytest.raises(UnknownName, match="doable"):
        hall.review(hall.generalist, answers={"requirements": True, "doable": True})
    hall.review(hall.generalist)
    with pytest.raises(InputError, match=r"you said no to: Could another of the occupation do it with the context"):
        hall.review(hall.specialist, answers={"representative": True, "doable": False})
    hall.review(hall.specialist, "changes requested", answers={"representative": True, "doable": False})
    [_, said] = history_of(hall.store, "memo").reviews
    assert said.answers == {"representative": True, "doable": False}
