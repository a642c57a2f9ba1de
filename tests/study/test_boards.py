"""The running board tells what a study can still end with, and tells nothing narrower."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from proofs.board_looks import HALLS, walk

from guildhall.analysis.missing import ends_with


@pytest.mark.parametrize("name", HALLS)
def test_the_board_is_never_wrong_where_quick_graders_are_kind(name: str) -> None:
    """A sequence over completed tasks is wrong in some paths under the same conditions: so the case is a hard one."""
    found = walk(HALLS[name], runs=12, seed=4)
    assert found["ever_wrong"] == 0
    quarter, half, most = found["mean_width_at_a_quarter_half_three_quarters"]
    assert quarter > half > most > 0.1


VERDICTS = st.sampled_from([0.0, 0.5, 1.0])


@given(
    works=st.lists(
        st.tuples(st.integers(0, 4), st.lists(VERDICTS, max_size=3), st.lists(VERDICTS, max_size=3)),
        min_size=1,
        max_size=9,
    )
)
def test_whatever_comes_and_however_much_stays_ungiven_the_end_lies_between(
    works: list[tuple[int, list[float], list[float]]],
) -> None:
    """Each work has what was said so far and what will be said; it was planned to get up to three grades more."""

    def parts(later: bool) -> pl.DataFrame:
        said = [(task, before + (after if later else [])) for task, before, after in works]
        return pl.DataFrame(
            {
                "group": ["m"] * len(works),
                "task": [task for task, _ in said],
                "total": [float(sum(given)) for _, given in said],
                "given": [len(given) for _, given in said],
                "planned": [len(before) + 3 for _, before, _ in works],
            }
        )

    now, end = ends_with(parts(later=False))["m"], ends_with(parts(later=True))["m"]
    if end.now is not None:
        assert now.least - 1e-12 <= end.now <= now.most + 1e-12
    assert now.least - 1e-12 <= end.least and end.most <= now.most + 1e-12
