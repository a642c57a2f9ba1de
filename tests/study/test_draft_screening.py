"""Screening as background work: by rule always, by the model that the settings name, each draft once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from guildhall.domain.halls import Role
from guildhall.domain.reviews import Criterion, Opinion, Screening
from guildhall.engine.scripted import Answer, Turn, scripted
from guildhall.store.workspace import Workspace
from guildhall.study.reviewing import screen_next, unscreened
from guildhall.taskbank.review.desk import ReviewDesk
from tests.taskbank.reviewing import draft_task, expert

NOW = 1_700_000_000.0


@scripted("screening-content")
def content(turn: Turn) -> Answer:
    return Answer(text=json.dumps({str(one): {"opinion": "fine", "words": "Yes."} for one in Criterion}))


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Workspace]:
    """A workspace with one draft of words alone, in two versions."""
    with Workspace.create(tmp_path / "bank") as workspace:
        author = expert("author", Role.AUTHOR)
        desk = ReviewDesk(workspace.store, {"author": author})
        for version in (1, 2):
            task = draft_task(reference_files=(), expert_files=(), expert_text=f"Done, {version}.")
            desk.submit(task, author, now=NOW + version)
        yield workspace


def settle(bank: Workspace) -> int:
    rounds = 0
    while screen_next(bank, clock=lambda: NOW + 9):
        rounds += 1
        assert rounds < 9, "background work never comes to rest"
    return rounds


def test_only_the_newest_version_is_screened_and_only_once(bank: Workspace) -> None:
    assert settle(bank) == 1
    [made] = bank.store.find(Screening)
    assert (made.draft, made.screener) == ("memo@2", "rule")
    assert {one.criterion: one.opinion for one in made.advice}[Criterion.FILES] is Opinion.LOOK_AGAIN


def test_a_model_of_the_settings_is_asked_too(bank: Workspace) -> None:
    with (bank.path / "guildhall.toml").open("a") as settings:
        settings.write('\n[screening]\nmodel = "scripted/screening-content"\n')
    assert settle(bank) == 2
    assert {one.screener for one in bank.store.find(Screening)} == {"rule", "scripted/screening-content"}


def test_a_draft_the_budget_did_not_reach_waits_without_an_opinion(bank: Workspace) -> None:
    settle(bank)
    with (bank.path / "guildhall.toml").open("a") as settings:
        settings.write('\n[screening]\nmodel = "scripted/screening-content"\nlimits = { run_tokens = 1 }\n')
    assert settle(bank) == 1, "the first call is what reaches the limit"
    author = expert("author", Role.AUTHOR)
    second = draft_task("second", brief="Write another.", reference_files=(), expert_files=(), expert_text="x")
    ReviewDesk(bank.store, {"author": author}).submit(second, author, now=NOW + 20)
    settle(bank)
    assert [draft.key for draft in unscreened(bank, "scripted/screening-content")] == ["second@1"]
