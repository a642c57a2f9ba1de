"""Judgments read from the store: however they are found and cut, the same rows, and only those of the study."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import ParamSpec, TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.domain.authors import ModelGrader
from guildhall.domain.judgments import Acceptance, Comparison, Judgment, Usability
from guildhall.errors import ImpossibleValue, UnknownName
from guildhall.store.workspace import Workspace
from guildhall.study import judged
from guildhall.study.judged import Judged, judged_rows
from guildhall.study.places import Places, joined
from guildhall.study.rows import NOT_ASKED
from tests.store.judged import put
from tests.study.made import MOMENT, judged_study

P = ParamSpec("P")
Found = TypeVar("Found")
Scores = dict[str, list[list[float]]]
SCORES: Scores = {
    "alpha": [[1.0, 0.5, 0.0], [1.0, 1.0, 0.0], [0.5, 0.0, 0.0]],
    "beta": [[0.0, 0.0, 1.0], [0.5, 1.0, 0.0], [1.0, 1.0, 1.0]],
}


def in_pieces(work: Callable[P, Found], /, *args: P.args, **kwargs: P.kwargs) -> Callable[[], Found]:
    """A hand that takes work, as a second process would, and does it when asked."""
    return partial(work, *args, **kwargs)


def same(one: Judged, other: Judged) -> None:
    for field in fields(one.rows):
        mine, theirs = getattr(one.rows, field.name), getattr(other.rows, field.name)
        if field.name == "columns":
            assert {name: column.names for name, column in mine.items()} == {n: c.names for n, c in theirs.items()}
            mine, theirs = ([column.codes for column in columns.values()] for columns in (mine, theirs))
        elif hasattr(mine, "names"):
            assert mine.names == theirs.names, field.name
            mine, theirs = mine.codes, theirs.codes
        np.testing.assert_array_equal(mine, theirs, err_msg=field.name)
    assert (one.counts, one.comparisons, one.tasks, one.submissions) == (
        other.counts,
        other.comparisons,
        other.tasks,
        other.submissions,
    )


def test_judgments_are_the_same_read_in_store_order_along_comparisons_or_by_two_processes(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged_study(workspace, "s", SCORES)
    in_order = judged_rows(workspace.store, "s")
    assert len(in_order.rows) == 18
    same(in_order, judged_rows(workspace.store, "s", beside=in_pieces))
    monkeypatch.setattr(judged, "MOSTLY", 2.0)
    same(in_order, judged_rows(workspace.store, "s"))


def test_judgments_of_another_study_are_neither_counted_nor_named(workspace: Workspace) -> None:
    judged_study(workspace, "s", SCORES)
    alone = judged_rows(workspace.store, "s")
    other = judged_study(workspace, "other", SCORES)
    comparison = next(iter(workspace.store.each(Comparison, study=other.id)))
    workspace.store.add(
        Judgment(
            comparison=comparison.key,
            grader=ModelGrader(name="judge"),
            order=comparison.submissions,
            ranks=(1, 2),
            made_at=MOMENT,
        )
    )
    both = judged_rows(workspace.store, "s")
    assert both.counts == alone.counts and both.rows.kinds == alone.rows.kinds
    np.testing.assert_array_equal(both.rows.score, alone.rows.score)


def test_each_place_of_a_comparison_of_three_has_its_own_rank_and_answer(workspace: Workspace) -> None:
    judged_study(workspace, "s", {"alpha": [[]], "beta": [[]]})
    pairs = list(workspace.store.each(Comparison, study="s"))
    expert, alpha, beta = pairs[0].submissions[0], pairs[0].submissions[1], pairs[1].submissions[1]
    three = Comparison(study="three", task="t-0", submissions=(expert, alpha, beta))
    workspace.store.add(three)
    workspace.store.add(
        Judgment(
            comparison=three.key,
            grader=ModelGrader(name="judge"),
            order=(beta, expert, alpha),
            ranks=(1, 2, 2),
            usability=(Usability(place="C", acceptance=Acceptance.AS_IS),),
            made_at=MOMENT,
        )
    )
    rows = judged_rows(workspace.store, "three").rows
    found = {
        rows.model.names[code]: (score, place, accepted)
        for code, score, place, accepted in zip(
            rows.model.codes.tolist(),
            rows.score.tolist(),
            rows.model_place.tolist(),
            rows.accepted.tolist(),
            strict=True,
        )
    }
    assert found == {"beta": (1.0, 0, NOT_ASKED), "alpha": (0.5, 2, 1)}
    assert rows.guess.tolist() == [NOT_ASKED, NOT_ASKED]


def test_an_order_that_is_not_of_its_comparison_is_refused_and_becomes_no_loss(workspace: Workspace) -> None:
    judged_study(workspace, "s", {"alpha": [[]], "beta": [[]]})
    first, second = workspace.store.each(Comparison, study="s")
    strange = (first.submissions[1], second.submissions[1])
    judgment = Judgment(comparison=first.key, grader=ModelGrader(name="j"), order=strange, ranks=(1, 2), made_at=MOMENT)
    with pytest.raises(ImpossibleValue, match="not the works of its comparison"):
        workspace.store.add(judgment)
    put(workspace.store, judgment)  # as a workspace of an older version may hold it
    with pytest.raises(ImpossibleValue, match="not the works of its comparison"):
        judged_rows(workspace.store, "s")


def test_a_digest_that_must_be_known_is_named_when_it_is_not() -> None:
    with pytest.raises(UnknownName, match="no submission is called '01"):
        Places(joined(["00" * 32])).known(joined(["00" * 32, "01" * 32]), "submission")


digests = st.binary(min_size=2, max_size=2).map(lambda tail: "ab" * 8 + tail.hex() + "00" * 22)
"""Digests that all begin alike, which those of real work never do."""


@given(known=st.lists(digests, max_size=20), wanted=st.lists(digests, max_size=20))
def test_a_digest_is_found_by_all_of_its_bytes(known: list[str], wanted: list[str]) -> None:
    found = Places(joined(known)).of(joined(wanted)).tolist()
    assert found == [known.index(one) if one in known else -1 for one in wanted]
