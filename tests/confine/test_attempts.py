"""The quick attempts to break out; all of them, with the slow ones, are in the proof `sandbox-attempts`."""

from __future__ import annotations

import pytest
from proofs.sandbox_attempts import Attempt, attempts, bait, judge

from guildhall.confine.launch import why_no_bubblewrap

SLOW_KINDS = {"time", "processes"}

pytestmark = pytest.mark.skipif(why_no_bubblewrap() is not None, reason="bubblewrap does not work on this machine")


@pytest.fixture(scope="module")
def facts():
    with bait() as laid_out:
        yield laid_out


@pytest.mark.parametrize("attempt", [one for one in attempts() if one.kind not in SLOW_KINDS], ids=lambda one: one.name)
def test_an_attempt_is_contained(attempt: Attempt, facts: dict[str, str]):
    assert judge(attempt, facts).wrong == ()


@pytest.mark.parametrize("attempt", [one for one in attempts() if one.kind == "memory"], ids=lambda one: one.name)
def test_an_attempt_on_memory_is_contained_by_the_watch_alone(attempt: Attempt, facts: dict[str, str]):
    judged = judge(attempt, facts, kernel_limits=False)
    assert (judged.wrong, judged.limits_held_by) == ((), "watch")


def test_there_are_more_than_thirty_attempts_of_every_kind():
    kinds = {one.kind for one in attempts()}
    assert len(attempts()) > 30
    assert kinds >= {
        "network",
        "host files",
        "/proc",
        "processes",
        "disk",
        "memory",
        "time",
        "links",
        "setuid",
        "signals",
    }
