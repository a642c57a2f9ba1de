"""Counts by several columns at the sizes where the type of the keys changes."""

from __future__ import annotations

import numpy as np
import pytest

from guildhall.analysis.tables import joint_counts


@pytest.mark.parametrize("shape", [(1, 65_535), (1, 65_536), (2, 32_768), (65_536, 1), (257, 256)])
def test_the_first_and_the_last_key_are_counted_where_keys_are_widest(shape: tuple[int, int]) -> None:
    first, second = np.array([0, shape[0] - 1]), np.array([0, shape[1] - 1])
    counts = joint_counts([first, second], shape)
    assert counts.sum() == 2 and counts[0, 0] == 1 and counts[-1, -1] == 1
