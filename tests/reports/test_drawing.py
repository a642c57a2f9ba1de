"""Figures drawn beside are those drawn here, whatever becomes of the process that draws them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from guildhall.reports.drawing import drawing
from tests.reports.made import REPORT

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
