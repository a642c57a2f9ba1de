"""CAD geometry against what can be worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from guildhall.documents.render.curves import arc, spline
from guildhall.documents.render.step import polylines, read_step
from tests.documents import sound


def test_an_assembly_moves_its_part(tmp_path: Path) -> None:
    edge, circle = sorted(polylines(read_step(sound.step(tmp_path / "a.step").read_text())), key=len)
    assert edge.tolist() == [[10, 0, 0], [12, 0, 0]]
    assert np.linalg.norm(circle - (10, 0, 0), axis=1) == pytest.approx(2)


def test_a_quarter_circle_runs_the_way_its_sense_says() -> None:
    start, finish = np.array((1.0, 0, 0)), np.array((0, 1.0, 0))
    short = arc(np.eye(4), 1, 1, start, finish, forward=True)
    long = arc(np.eye(4), 1, 1, start, finish, forward=False)
    assert np.abs(np.diff(short, axis=0)).sum() < np.abs(np.diff(long, axis=0)).sum()
    for line in (short, long):
        assert line[0] == pytest.approx(start)
        assert line[-1] == pytest.approx(finish)


def test_a_spline_of_degree_two_is_the_parabola_it_should_be() -> None:
    controls = np.array(((0.0, 0, 0), (1, 2, 0), (2, 0, 0)))
    line = spline(controls, 2, np.array((0.0, 0, 0, 1, 1, 1)), np.ones(3))
    assert line[:, 1] == pytest.approx(line[:, 0] * (2 - line[:, 0]))


def test_weights_make_a_spline_a_circle() -> None:
    controls = np.array(((1.0, 0, 0), (1, 1, 0), (0, 1, 0)))
    line = spline(controls, 2, np.array((0.0, 0, 0, 1, 1, 1)), np.array((1, 0.5**0.5, 1)))
    assert np.linalg.norm(line, axis=1) == pytest.approx(1)


def test_knots_that_do_not_fit_leave_the_control_polygon() -> None:
    controls = np.array(((0.0, 0, 0), (1, 2, 0)))
    assert spline(controls, 3, np.array((0.0, 1)), np.ones(2)) is controls
