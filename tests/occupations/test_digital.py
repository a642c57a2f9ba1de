"""The digital share, on the cases the paper's text works out."""

from __future__ import annotations

import pytest

from guildhall.occupations.digital import TaskStatement, adjusted_scores, digital_share, task_weights
from guildhall.occupations.labels import agreement, by_rule
from guildhall.occupations.selection import is_catch_all
from guildhall.occupations.tasks import by_occupation, plain_words, reconciliations


def task(words: str, *, onet: str = "25-2055.00", title: str = "T", **ratings: float) -> TaskStatement:
    return TaskStatement(onet, title, words, ratings)


def test_special_education_teachers_weigh_tasks_by_how_often_they_occur() -> None:
    """43 tasks, 17 of them twice: 1/60 and 2/60, which the paper prints a tenth too small."""
    both = [f"shared {number}" for number in range(17)]
    first = [task(words, onet="25-2055.00") for words in [*both, *(f"k {n}" for n in range(13))]]
    second = [task(words, onet="25-2056.00") for words in [*both, *(f"e {n}" for n in range(13))]]
    weights, imputed, method = task_weights([*first, *second])
    assert (len(weights), imputed, method) == (43, 0, "task frequency")
    assert weights["k 0"] == pytest.approx(1 / 60) and weights["shared 0"] == pytest.approx(2 / 60)
    assert sum(weights.values()) == pytest.approx(1)


def test_a_score_is_the_mean_of_the_three_normalised_ratings() -> None:
    scores, imputed = adjusted_scores(
        [task("a", frequency=7, importance=5, relevance=100), task("b", frequency=3.5, importance=2.5, relevance=50)]
    )
    assert scores == {"a": pytest.approx(1.0), "b": pytest.approx(0.5)} and imputed == 0


def test_a_missing_rating_is_imputed_by_the_occupations_mean_of_it() -> None:
    rows = [
        task("a", frequency=7, importance=5, relevance=100),
        task("b", importance=5, relevance=100),
        task("c", frequency=3.5, importance=5, relevance=100),
    ]
    scores, imputed = adjusted_scores(rows)
    assert imputed == 1
    assert scores["b"] == pytest.approx((0.75 + 1 + 1) / 3)


def test_equal_tasks_of_two_parts_are_summed() -> None:
    rows = [
        task("same", onet="15-1299.04", frequency=7, importance=5, relevance=100),
        task("same", onet="15-1299.05", frequency=7, importance=5, relevance=100),
        task("other", onet="15-1299.05", frequency=7, importance=5, relevance=100),
    ]
    weights, _, method = task_weights(rows)
    assert method == "ratings" and weights["same"] == pytest.approx(2 / 3)


def test_the_share_counts_weights_and_leaves_unlabelled_tasks_out() -> None:
    rows = [task("write a report"), task("weld a frame"), task("something unlabelled")]
    labels = {"write a report": True, "weld a frame": False}
    found = digital_share(rows, lambda one: labels.get(one.task))
    assert found.share == pytest.approx(0.5) and found.tasks == 3


def test_an_occupation_without_tasks_has_no_share_and_says_so() -> None:
    found = digital_share([], by_rule)
    assert found.share is None and found.why_absent


@pytest.mark.parametrize(("title", "parts"), sorted(reconciliations().items()))
def test_each_of_the_twelve_reconciliations_gathers_the_tasks_of_its_parts(title: str, parts: tuple[str, ...]) -> None:
    statements = [task(f"task of {part}", onet=f"99-90{number:02}.00", title=part) for number, part in enumerate(parts)]
    statements.append(task("a stranger", onet="11-1111.00", title="Somebody Else"))
    gathered = by_occupation(statements, {"00-0000": title})["00-0000"]
    assert {one.title for one in gathered} == set(parts)
    assert not any(is_catch_all(part) for part in parts)


def test_there_are_twelve_reconciliations() -> None:
    assert len(reconciliations()) == 12


def test_a_catch_all_is_known_by_the_phrase() -> None:
    assert is_catch_all("Dentists, All Other Specialists") and not is_catch_all("Dentists, General")


def test_the_shipped_rule_tells_desk_work_from_handwork() -> None:
    assert by_rule(task("Analyze financial data and prepare reports."))
    assert not by_rule(task("Weld frames and load them onto vehicles."))


def test_labellers_are_compared_on_what_both_labelled() -> None:
    rows = [task("a"), task("b"), task("c")]
    first = {"a": True, "b": True, "c": None}
    found = agreement(lambda one: first[one.task], lambda one: one.task == "a", rows, named=("file", "rule"))
    assert (found.share, found.tasks, found.kappa) == (0.5, 2, 0.0)


def test_kappa_is_absent_where_chance_alone_agrees() -> None:
    found = agreement(lambda _: True, lambda _: True, [task("a"), task("b")], named=("one", "other"))
    assert found.share == 1.0 and found.kappa is None


def test_tasks_are_matched_by_their_words() -> None:
    assert plain_words("Plan, direct  or CO-ordinate.") == plain_words("plan direct or co ordinate")
