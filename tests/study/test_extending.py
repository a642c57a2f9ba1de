"""A model joins later: anchors are drawn and judged again unseen, drift is estimated, and pooling has a limit."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from guildhall.cli.main import app
from guildhall.documents.looking import Documents
from guildhall.domain.design import Extension
from guildhall.domain.judgments import Comparison
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.errors import InputError, NothingJudged, UnreadableFile
from guildhall.grading.opening import open_hall
from guildhall.grading.simulation import simulate_hall
from guildhall.judging.preparing import Preparer
from guildhall.store.wordings import newest_study
from guildhall.store.workspace import Workspace
from guildhall.study.extending import draw_anchors, judged_pairs
from guildhall.study.file import read_study
from guildhall.study.reporting import study_report
from guildhall.study.studies import OpenStudy
from tests.study.made import judged_by_program, judged_study, task
from tests.study.told import figures, outcomes, section

BASE = """
[study]
id = "base"
title = "The first wave"
seed = 3
[[authors]]
name = "alpha"
model = "scripted/careful"
samples = 1
[people]
simulated_graders = 8
graders_per_set = 2
minimum_reason_words = 0
"""
GOOD, BAD = [1.0, 1.0, 0.5], [0.0, 0.0, 0.5]


@given(keys=st.sets(st.integers(0, 10**6).map(lambda n: f"{n:064x}"), min_size=1), share=st.floats(0.1, 1))
def test_anchors_are_a_seeded_share_and_stay_when_pairs_are_added(keys: set[str], share: float) -> None:
    drawn = draw_anchors(keys, share=share, seed=1)
    assert share * len(keys) <= len(drawn) < share * len(keys) + 1
    assert drawn == draw_anchors(sorted(keys), share=share, seed=1) and set(drawn) <= keys
    more = draw_anchors(keys | {"f" * 64}, share=share, seed=1)
    assert len(set(drawn) - set(more)) <= 1


def wave(workspace: Workspace, anchored: list[list[float]], *, limit: float = 0.1) -> Study:
    """Two models judged first; later `gamma` joins, and alpha's work is judged again as `anchored` says."""
    base = judged_study(workspace, "base", {"alpha": [GOOD, BAD] * 5, "beta": [BAD] * 10})
    later = judged_study(workspace, "later", {"gamma": [GOOD] * 10, "alpha": anchored})
    alpha = [one.key for one in workspace.store.find(Submission) if one.author.key.startswith("model:alpha")]
    extends = Extension(study="base", key=base.key, anchors=tuple(sorted(alpha)), drift_limit=limit)
    made = later.but(authors=later.authors[:1], design={"extends": extends.model_dump(mode="json")})
    workspace.store.add(made)
    return made


def test_waves_without_drift_are_pooled_and_anchors_count_once(workspace: Workspace) -> None:
    found = study_report(workspace, wave(workspace, [GOOD, BAD] * 5))
    assert outcomes(found) == {"alpha": (10, 10, 10), "beta": (0, 10, 20), "gamma": (20, 10, 0)}
    drift = section(found, "drift")
    assert figures(drift)["all anchors"].value == 0.0 and "is pooled with base" in drift.words[0]
    assert found.counts["judgments"] == 60 + 60


def test_a_judge_of_pooled_waves_is_held_against_people_over_both_and_anchors_count_once(workspace: Workspace) -> None:
    later = wave(workspace, [GOOD, BAD] * 5)
    judged_by_program(workspace, "base", wins=20)
    judged_by_program(workspace, "later", wins=0)
    told = figures(section(study_report(workspace, later), "agreement"))["judge with them"]
    # Where it gave a win: 5 good and 15 bad works; where it gave none: 10 good ones.
    assert told.n_samples == 30 and told.value == pytest.approx((5 * 5 / 6 + 15 / 6 + 10 / 6) / 30)


def test_past_the_limit_pooling_is_refused_and_only_the_new_model_is_shown(workspace: Workspace) -> None:
    found = study_report(workspace, wave(workspace, [BAD, BAD] * 5))
    assert list(found.rates) == ["gamma"]
    drift = section(found, "drift")
    assert figures(drift)["all anchors"].value == pytest.approx(-1 / 3)
    assert "is not pooled" in drift.words[0] and "past the limit" in drift.words[0]


def test_without_an_interval_there_is_no_pooling(workspace: Workspace) -> None:
    found = study_report(workspace, wave(workspace, [GOOD, BAD]))
    assert list(found.rates) == ["gamma"]
    assert "not known with an interval" in section(found, "drift").words[0]


@pytest.fixture
def base(workspace: Workspace, tmp_path: Path) -> Path:
    """A first wave judged by simulated graders, text only."""
    path = tmp_path / "base.toml"
    path.write_text(BASE)
    workspace.store.add_all(task(number) for number in range(6))
    submit_for(workspace, path)
    grade(workspace, path)
    return path


def submit_for(workspace: Workspace, path: Path) -> None:
    study = OpenStudy.open(path, workspace)
    for item in study.items:
        workspace.store.add(Submission(task=item.task.id, author=item.author, text="A note."))


def grade(workspace: Workspace, path: Path) -> None:
    frozen = OpenStudy.open(path, workspace).freeze()
    open_hall(workspace, frozen, Preparer(workspace, cast("Documents", None)))
    ticks = count(1_700_000_000)
    simulate_hall(workspace, frozen, frozen.design.hall, clock=lambda: float(next(ticks)))


def extend(workspace: Workspace, base: Path, *words: str) -> dict[str, object]:
    asked = ["study", "extend", str(base), "--author", "beta", "--model", "scripted/careless", *words]
    ended = CliRunner().invoke(app, [*asked, "--workspace", str(workspace.path), "--json"])
    if ended.exception and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    told: dict[str, object] = json.loads(ended.stdout)
    return told


def test_an_extension_inherits_graders_and_tasks_and_judges_anchors_again(workspace: Workspace, base: Path) -> None:
    told = extend(workspace, base, "--anchors", "0.5", "--drift-limit", "1")
    assert (told["anchors"], told["judged_pairs"]) == (3, 6)
    path = base.parent / "base-and-beta.toml"
    assert told["study"] == str(path) and read_study(path).people == read_study(base).people
    assert [author.samples for author in read_study(path).authors] == [1], "as many tries as the earlier wave"
    submit_for(workspace, path)
    grade(workspace, path)
    frozen = OpenStudy.open(path, workspace).frozen()
    assert frozen.extends is not None and set(frozen.extends.anchors) <= set(
        judged_pairs(workspace, newest_study(workspace.store, "base"))
    )
    shown = [one.submissions[1] for one in workspace.store.find(Comparison, study=frozen.id)]
    assert len(shown) == 6 + 3 and set(frozen.extends.anchors) < set(shown)
    found = study_report(workspace, frozen)
    assert {name: sum(told) for name, told in outcomes(found).items()} == {"alpha": 12, "beta": 12}


def test_a_wave_against_a_model_keeps_that_model_as_its_baseline(workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "base.toml"
    more = '[[authors]]\nname = "old"\nmodel = "scripted/careless"\nsamples = 1\n[people]'
    path.write_text(BASE.replace("seed = 3", 'seed = 3\nbaseline = "old"').replace("[people]", more))
    workspace.store.add_all(task(number, expert_text=None) for number in range(6))
    submit_for(workspace, path)
    grade(workspace, path)
    told = extend(workspace, path, "--anchors", "0.5", "--drift-limit", "1")
    assert (told["anchors"], told["judged_pairs"]) == (3, 6)
    later = path.parent / "base-and-beta.toml"
    submit_for(workspace, later)
    grade(workspace, later)
    found = study_report(workspace, OpenStudy.open(later, workspace).frozen())
    assert found.policy.baseline == "old" and set(found.rates) == {"alpha", "beta"}


def test_whoever_judged_a_pair_does_not_judge_it_again_as_an_anchor(workspace: Workspace, base: Path) -> None:
    from guildhall.domain.judgments import Judgment

    extend(workspace, base, "--anchors", "1.0")
    submit_for(workspace, base.parent / "base-and-beta.toml")
    grade(workspace, base.parent / "base-and-beta.toml")
    by_pair: dict[frozenset[str], list[str]] = {}
    for judgment in workspace.store.find(Judgment):
        by_pair.setdefault(frozenset(judgment.order), []).append(judgment.grader.key)
    assert max(len(graders) for graders in by_pair.values()) == 4
    assert all(len(set(graders)) == len(graders) for graders in by_pair.values())


def test_the_draw_of_anchors_is_frozen_with_the_wave(workspace: Workspace, base: Path) -> None:
    extend(workspace, base)
    path = base.parent / "base-and-beta.toml"
    first = OpenStudy.open(path, workspace).freeze()
    path.write_text(path.read_text().replace("anchors = 0.1 ", "anchors = 0.9 "))
    assert OpenStudy.open(path, workspace).frozen().extends == first.extends


def test_a_wave_on_nothing_or_on_itself_is_refused(workspace: Workspace, base: Path, tmp_path: Path) -> None:
    extend(workspace, base)
    path = base.parent / "base-and-beta.toml"
    with pytest.raises(UnreadableFile, match="there already"):
        extend(workspace, base)
    text = path.read_text()
    for change, words in (
        (text + "[people]\ngraders_per_set = 5\n", "of its own"),
        (text.replace('file = "base.toml"', f'file = "{path.name}"'), "extends itself"),
        (text.replace('name = "beta"', 'name = "alpha"'), "earlier wave"),
    ):
        path.write_text(change)
        with pytest.raises(UnreadableFile, match=words):
            read_study(path)
    with pytest.raises(InputError, match="already"):
        extend(workspace, base, "--author", "alpha", "--id", "x")
    unjudged = tmp_path / "other.toml"
    unjudged.write_text(BASE.replace('"base"', '"other"'))
    with pytest.raises(NothingJudged):
        extend(workspace, unjudged)
