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


@pytest.fixture(scope="module")
def carriers(tmp_path_factory):
    """A study of the demo's size: two authors, one sample, pairs."""
    planted = planted_store(0, tmp_path_factory.mktemp("planted"), shape=Shape(tasks=9, models=2, samples=1))
    with Workspace.open(planted.workspace) as workspace:

        def headline():
            evidence = read_evidence(workspace, planted.first.form, needs=())
            return Headline().section(evidence)

        return functions_that_carry(headline)


def test_a_headline_cell_passes_through_few_functions(carriers):
    assert len(carriers) <= AT_MOST, sorted(carriers)


def test_the_count_sees_what_hands_rows_or_estimates_on(carriers):
    """A trace that saw nothing would pass any bound."""
    assert carriers
    assert functions_that_carry(lambda: np.zeros(3).sum()) == set()
