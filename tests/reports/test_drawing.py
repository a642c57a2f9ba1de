"""Figures drawn beside are those drawn here, whatever becomes of the process that draws them."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from datetime import date
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.domain.estimates import Estimate
from guildhall.domain.report import (
    BarPanel,
    BarPanels,
    Bars,
    Curve,
    CurvePanel,
    CurvePoint,
    DatedPoint,
    Forest,
    HeatMap,
    Lines,
    Plot,
    Timeline,
)
from guildhall.reports.drawing import drawing
from guildhall.reports.plots import svg_of
from tests.reports.made import REPORT

MARKS = {"svg", "g", "rect", "text", "polyline", "polygon", "circle"}
FIGURES = [figure for section in REPORT.sections for figure in section.figures][:3]


def drawn(folder: Path, *, beside: bool) -> dict[str, bytes]:
    with drawing(folder, beside=beside) as figures:
        figures.draw(FIGURES[:1])
        figures.draw(FIGURES[1:])
        figures.finish()
    assert list(figures.svgs) == [figure.name for figure in FIGURES]
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def test_figures_drawn_beside_have_the_bytes_of_those_drawn_here(tmp_path: Path) -> None:
    assert FIGURES
    here = drawn(tmp_path / "here", beside=False)
    assert sorted(here) == sorted(f"{figure.name}.{ending}" for figure in FIGURES for ending in ("svg", "png"))
    assert drawn(tmp_path / "beside", beside=True) == here


def test_a_second_report_in_a_folder_draws_its_figures_anew(tmp_path: Path) -> None:
    first = drawn(tmp_path, beside=False)
    for name in first:
        (tmp_path / name).write_text("left by another report")
    assert drawn(tmp_path, beside=True) == first


def test_what_a_process_beside_does_not_draw_is_drawn_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, start = drawn(tmp_path / "here", beside=False), subprocess.Popen

    def ends_at_once(command: list[str], **options: object) -> subprocess.Popen[str]:
        return start([command[0], "-c", ""], **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(subprocess, "Popen", ends_at_once)
    assert drawn(tmp_path / "beside", beside=True) == here


def test_a_report_that_fails_leaves_no_process_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started, start = list[subprocess.Popen[str]](), subprocess.Popen

    def noted(command: list[str], **options: object) -> subprocess.Popen[str]:
        started.append(start(command, **options))  # type: ignore[call-overload]
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", noted)
    with pytest.raises(ZeroDivisionError), drawing(tmp_path, beside=True):
        raise ZeroDivisionError
    assert [child.poll() is not None for child in started] == [True]


def some_plots(name: str, rate: Estimate) -> list[Plot]:
    """A plot of each kind that says a name and shows a rate wherever it can."""
    curve = Curve(name=name, points=(CurvePoint(x=1, y=rate), CurvePoint(x=2, y=rate)))
    panel = CurvePanel(title=name, x=name, y=name, curves=(curve,))
    day = DatedPoint(name=name, day=date(2026, 1, 31), rate=rate)
    return [
        *(Forest(title=name, entries=((name, rate),), form=form) for form in ("percent", "number", "points")),
        HeatMap(title=name, rows=(name,), columns=(name,), cells=((name, name, rate.value, name),)),
        Bars(title=name, subtitle=(name,), parts=("won", "lost"), rows=((name, (1, 0)), ("", (0, 0)))),
        BarPanels(title=name, panels=(BarPanel(title=name, bars=((name, name, rate),)),)),
        *(Lines(title=name, panels=(panel,), diagonal=diagonal) for diagonal in (True, False)),
        Timeline(title=name, points=(day,), line=((day.day, rate),)),
    ]


UNSURE = Estimate(value=0.5, estimand="e", method="m", why_no_interval="few")
RATES = [UNSURE, Estimate(value=0.0, interval=(0.0, 0.0), estimand="e", method="m"), replace(UNSURE, value=None)]


@given(name=st.text(max_size=80), rate=st.sampled_from(RATES))
def test_a_figure_of_whatever_is_called_anyhow_is_well_formed_and_numbers_its_pixels(name: str, rate: Estimate) -> None:
    for plot in some_plots(name, rate):
        drawn = svg_of(plot)
        found = ET.fromstring(drawn)
        assert drawn == svg_of(plot) and "nan" not in drawn.replace(name, "") and float(found.attrib["width"]) > 0
        assert not {one.tag.rpartition("}")[2] for one in found.iter()} - MARKS


@given(name=st.sampled_from(["<script>", 'a"b', "&amp;", "-1e9", "αβγ", "a\x00b", "x" * 300]))
def test_words_of_a_figure_are_words_and_never_markup(name: str) -> None:
    shown = "".join(one for one in name if one.isprintable())
    for plot in some_plots(name, UNSURE):
        words = [one.text for one in ET.fromstring(svg_of(plot)).iter() if one.tag.endswith("text")]
        assert shown in words, plot.kind
