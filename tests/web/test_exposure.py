"""With `exposure_limit = 1` nobody sees two sets of one task, however they give sets back; told by the pages' bytes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from guildhall.domain.judgments import Judgment
from guildhall.store.workspace import Workspace
from guildhall.web.pages.severity import DECLINE_REASONS
from tests.web.live import Live, Visitor
from tests.web.studies import make_task, open_study

TASKS = 4
REASON = "It answers what was asked for."


@contextmanager
def three_pairs_a_task(folder: Path) -> Iterator[Live]:
    """Each task has three pairs; in each of them the expert's file recurs."""
    with Workspace.create(folder / "workspace") as workspace:
        rules = {"graders_per_set": 2, "lease_hours": 1, "severity_raters": 0}
        open_study(workspace, [make_task(number) for number in range(TASKS)], models=3, people=rules)
    served = Live(folder / "workspace").start()
    try:
        yield served
    finally:
        served.stop()


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with three_pairs_a_task(tmp_path) as served:
        yield served


def taken(visitor: Visitor) -> str | None:
    """The seat that the button for the next set leads to; None when nothing is left."""
    found = re.match(r"/sets/(\w+)/brief", visitor.post("/sets/claim").headers["location"])
    return found[1] if found else None


def opened(visitor: Visitor, seat: str) -> bool:
    """Whether the deliverables come into sight when the grader asks for them."""
    visitor.get(f"/sets/{seat}/brief?aware=1")
    visitor.post(f"/sets/{seat}/brief")
    page = visitor.get(f"/sets/{seat}")
    return page.status_code == 200 and "/f/" in page.text


def submitted(visitor: Visitor, seat: str, *, version: int = 0) -> None:
    visitor.post(f"/sets/{seat}/draft", {"overall": "A", "reason": REASON, "draft_version": str(version)})
    assert visitor.post(f"/sets/{seat}/submit", {"guess": "A"}).headers["location"].endswith("/receipt")


def given_back_at_random(live: Live, *, seed: int) -> tuple[Counter[str], Counter[str]]:
    """One grader in two browsers, forty times: how often each task was seen, and each way of giving back used."""
    rng, seen, member = Random(seed), Counter[str](), live.invite()
    one, other = live.client(member), live.client(member)
    ways = Counter[str]()
    given_back: list[str] = []
    while sum(ways.values()) < 40 and (seat := taken(one)) is not None:
        assert taken(other) == seat, "a second browser holds no second place"
        way = rng.choice(["declined", "declined unopened", "lapsed", "submitted", "conflict"])
        ways[way] += 1
        if way != "declined unopened":
            assert opened(rng.choice([one, other]), seat)
            seen[live.site.queue.seat(seat).slot.task] += 1
        if way == "submitted":
            submitted(one, seat)
            one.get(f"/sets/{seat}?amend=1")
        elif way == "lapsed":
            live.skew_s += 2 * 3600
        else:
            reason = DECLINE_REASONS[0] if way == "conflict" else rng.choice(DECLINE_REASONS[1:])
            other.post(f"/sets/{seat}/decline", {"reason": reason})
            given_back.append(seat)
        assert not [gone for gone in given_back if opened(one, gone)], "what was given back stays shut"
    return seen, ways


def test_no_way_of_giving_back_shows_a_task_twice(live: Live) -> None:
    seen, ways = given_back_at_random(live, seed=4)
    assert seen == Counter({f"task-{number}": 1 for number in range(TASKS)}) and len(ways) > 2, (seen, ways)


def test_what_was_given_back_or_judged_unread_is_kept_as_surplus_and_its_place_is_free(live: Live) -> None:
    conflicted, hasty, next_one = (live.client(live.invite()) for _ in range(3))
    first, second = taken(conflicted), taken(hasty)
    assert first and second and opened(conflicted, first)
    conflicted.post(f"/sets/{first}/decline", {"reason": DECLINE_REASONS[0]})
    for visitor, seat in ((conflicted, first), (hasty, second)):
        submitted(visitor, seat)
        assert live.site.queue.seat(seat).state == "surplus"
    kept = live.workspace.store.find(Judgment)
    assert [one.planned for one in kept] == [False, False] and live.site.queue.progress("study")["held"] == 0
    # Whoever was to blame has met the task; the places are there for others.
    later = taken(next_one)
    assert later and opened(next_one, later)
    submitted(next_one, later)
    assert live.site.queue.progress("study")["done"] == 1


def test_an_amended_judgment_and_a_lapsed_one_taken_up_again_add_no_exposure(live: Live) -> None:
    member = live.invite()
    visitor = live.client(member)
    seat = taken(visitor)
    assert seat and opened(visitor, seat)
    live.skew_s += 2 * 3600
    other = taken(visitor)
    assert other not in {None, seat}
    submitted(visitor, seat)
    visitor.post(f"/sets/{seat}/draft", {"overall": "B", "reason": REASON, "draft_version": "1", "amend": "1"})
    visitor.post(f"/sets/{seat}/submit", {"amend": "1", "why": "I looked again."})
    tasks = [one.slot.task for one in live.site.queue.seats_of(member.id)]
    assert len(tasks) == len(set(tasks)) == 2
    assert {one.exposure for one in live.workspace.store.find(Judgment)} == {1}


def test_who_rates_severity_is_asked_in_words_that_name_no_maker(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "workspace") as workspace:
        rules = {"graders_per_set": 1, "control_share": 0.9}
        open_study(workspace, [make_task(number) for number in range(3)], people=rules)
    served = Live(tmp_path / "workspace").start()
    try:
        first, rater = (served.client(served.invite()) for _ in range(2))
        while (seat := taken(first)) is not None and opened(first, seat):
            submitted(first, seat)
        seat = rater.post("/sets/claim", {"rating": "1"}).headers["location"].split("/")[2]
        assert opened(rater, seat)
        page = rater.get(f"/sets/{seat}").text
        assert "this deliverable is the better" in page and not re.search(r"\bmodels?\b|\bhuman\b", page)
        said = {"severity": "I disagree: this deliverable is the better", "reason": REASON}
        assert rater.post(f"/sets/{seat}/severity", said).headers["location"].endswith("/receipt")
    finally:
        served.stop()
