"""A number can be followed, by reading, from a report back to its judgments: few functions lie between."""

from __future__ import annotations

import numpy as np
import pytest

from guildhall.reports.chapters.headline import Headline
from guildhall.store.workspace import Workspace
from guildhall.study.evidence import read_evidence
from tests.planted.counting_functions import functions_that_carry
from tests.planted.store import Shape, planted_store

AT_MOST = 10
MOST_ENTERED = 32


@pytest.fixture(scope="module")
def carriers(tmp_path_factory):
    """A study of the demo's size: two authors, one sample, pairs."""
    planted = planted_store(0, tmp_path_factory.mktemp("planted"), shape=Shape(tasks=9, models=2, samples=1))
    with Workspace.open(planted.workspace) as workspace:

        def headline():
            evidence = read_evidence(workspace, planted.first.form, needs=())
            return Headline().section(evidence)

        return functions_that_carry(headline)


@pytest.mark.xfail(strict=True, reason="private helpers that are handed a frame count too: 54 of them")
def test_a_headline_cell_passes_through_few_functions(carriers):
    assert len(carriers) <= AT_MOST, sorted(carriers)


def test_a_reader_follows_a_headline_cell_through_few_named_functions(carriers):
    """Functions by which a module is entered; what is private to one is read where it stands."""
    entered = {name for name in carriers if not name.rpartition(".")[2].startswith("_") and "._" not in name}
    assert len(entered) <= MOST_ENTERED, sorted(entered)


def test_the_count_sees_what_hands_rows_or_estimates_on(carriers):
    """A trace that saw nothing would pass any bound."""
    assert carriers
    assert functions_that_carry(lambda: np.zeros(3).sum()) == set()
