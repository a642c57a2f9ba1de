"""CAD geometry against what can be worked out by hand."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from guildhall.documents.extract.drawings import stl_triangles
from guildhall.documents.extract.reading import extract_file
from guildhall.documents.kinds import Kind
from guildhall.documents.render.models import draw_model
from guildhall.documents.render.step import arc, polylines, read_step, spline
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


@pytest.mark.parametrize("spoilt", [float("nan"), float("inf")])
def test_a_triangle_at_no_number_is_counted_and_the_others_are_kept(spoilt: float, tmp_path: Path) -> None:
    path = sound.stl(tmp_path / "a.stl")
    data = bytearray(path.read_bytes())
    data[84 + 12 : 84 + 16] = struct.pack("<f", spoilt)
    path.write_bytes(data)
    extracted = extract_file(path, kind=Kind.STL)
    assert extracted.text == "3 triangles, 1 x 1 x 1 units"
    drawn = draw_model(path, tmp_path, kind="stl")
    for omitted in (extracted.omitted, drawn.omitted):
        assert [(one.what, one.count) for one in omitted] == [("triangles", 1)]


def test_a_solid_spelt_in_words_is_the_same_solid(tmp_path: Path) -> None:
    packed = stl_triangles(sound.stl(tmp_path / "a.stl").read_bytes())
    lines = (f"vertex {x:g} {y:g} {z:g}" for triangle in packed for x, y, z in triangle)
    assert stl_triangles(b"solid\nfacet\n" + "\n".join(lines).encode()).tolist() == packed.tolist()


def test_knots_that_do_not_fit_leave_the_control_polygon() -> None:
    controls = np.array(((0.0, 0, 0), (1, 2, 0)))
    assert spline(controls, 3, np.array((0.0, 1)), np.ones(2)) is controls
