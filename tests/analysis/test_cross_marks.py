"""Cross-marking tables from counts against medians taken the ordinary way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.analysis.cross_marks import cross_marks
from guildhall.errors import NothingMarked

VALUES = np.array([0.0, 1.0, 1.7, 2.0, 3.3, 4.0])


@given(rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=80))
def test_medians_and_bias_equal_those_of_sorted_marks(rows):
    grader, author, mark = (np.array(column) for column in zip(*rows, strict=True))
    found = cross_marks(grader, author, mark, VALUES, n_models=4)
    marks = VALUES[mark]
    for g in range(4):
        for a in range(4):
            own = marks[(grader == g) & (author == a)]
            assert found.medians[g, a] == pytest.approx(np.median(own) if len(own) else np.nan, nan_ok=True)
            assert found.counts[g, a] == len(own)
        given_marks, received = marks[grader == g], marks[author == g]
        assert found.given[g] == pytest.approx(np.median(given_marks) if len(given_marks) else np.nan, nan_ok=True)
        assert found.received[g] == pytest.approx(np.median(received) if len(received) else np.nan, nan_ok=True)
        if len(given_marks):
            assert found.bias[g] == pytest.approx(np.median(given_marks) - np.median(marks))


def test_nothing_marked_is_refused():
    empty = np.array([], dtype=int)
    with pytest.raises(NothingMarked):
        cross_marks(empty, empty, empty, VALUES, n_models=2)
