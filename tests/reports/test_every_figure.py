"""Every figure of the product is drawn, rasterised and looked at: something is on it, and no word is cut or covered."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import NamedTuple
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from guildhall.analysis.boswell.run_figures import run_figures
from guildhall.domain.occupations import (
    ContentCorrelation,
    DigitalShare,
    GdpShare,
    OccupationVerdict,
    Selection,
    Shift,
    TaskContent,
    Thresholds,
    Validation,
)
from guildhall.reports.drawing import drawn
from guildhall.reports.plots.frame import width_of
from guildhall.reports.plots.occupations import content_scatter, content_strips, pay_bars, shift_plot
from guildhall.reports.reporting import run_report_of
from guildhall.reports.svg import svg_to_png
from tests.peer.runs import SQUARE, made_run
from tests.reports.made import REPORT

SECTORS = ("Information", "Government", "Real Estate and Rental and Leasing")
SCORES = ("routine cognitive", "routine manual", "non-routine cognitive: analytical", "non-routine manual", "other")


def occupations() -> tuple[Selection, tuple[Shift, ...], Validation]:
    """Fifteen chosen occupations, the longest title as long as the longest official one."""
    titles = [f"Occupation {number} of those with long official titles, except some others" for number in range(15)]
    share = DigitalShare(share=0.8, tasks=9, rated_tasks=9, imputed=0, parts=(), method="ratings")
    chosen = tuple(
        OccupationVerdict(
            code=f"11-10{number:02}",
            title=title,
            sector=SECTORS[number % 3],
            total_wages_usd=4.8e11 / (number + 1),
            employment=100,
            digital=share,
            verdict="selected",
        )
        for number, title in enumerate(titles)
    )
    base = Selection(
        thresholds=Thresholds(),
        labeller="made up",
        detailed=20,
        kept=15,
        catch_alls=(),
        sectors=tuple(GdpShare(naics=str(n), title=title, share=6.0) for n, title in enumerate(SECTORS)),
        occupations=chosen,
        selected={sector: tuple(one.title for one in chosen if one.sector == sector) for sector in SECTORS},
        with_ratings=15,
        by_proxy=0,
        without_share=0,
        edge_cases=(),
    )
    shifts = tuple(
        Shift(thresholds=Thresholds(digital_share=step), chosen=12, comes=("x",), goes=("y", "z"))
        for step in (0.4, 0.5, 0.7, 0.8)
    )
    rng = np.random.default_rng(1)
    contents = tuple(
        TaskContent(
            code=str(number),
            title=str(number),
            digital_share=float(at),
            is_digital=bool(at >= 0.6),
            scores={score: float(4 * at + rng.normal()) for score in SCORES},
        )
        for number, at in enumerate(rng.uniform(size=120))
    )
    correlations = tuple(
        ContentCorrelation(
            score=score, occupations=120, pearson=0.5, interval=(0.4, 0.6), mean_digital=1.0, mean_other=0.0
        )
        for score in SCORES
    )
    validation = Validation(
        labeller="made up", threshold=0.6, occupations=contents, correlations=correlations, without_scores=0
    )
    return base, shifts, validation


def every_figure() -> dict[str, str]:
    base, shifts, validation = occupations()
    return {
        **{f"study {name}": svg for name, svg in drawn(REPORT).items()},
        **{f"run {name}": svg for name, svg in drawn(run_report_of(run_figures(made_run(SQUARE), draws=20))).items()},
        "pay": pay_bars(base),
        "shifts": shift_plot(shifts, base),
        "content by share": content_scatter(validation),
        "content by class": content_strips(validation),
    }


FIGURES = every_figure()


class Box(NamedTuple):
    words: str
    left: float
    top: float
    right: float
    bottom: float

    def shares(self, other: Box) -> bool:
        across = min(self.right, other.right) - max(self.left, other.left)
        return across > 1 and min(self.bottom, other.bottom) - max(self.top, other.top) > 2


TRUE_TO_ESTIMATE, CAPITALS = 0.86, 0.72
"""Letters are narrower than the estimated width, and as high as this share of their size."""


def words_of(svg: str) -> list[Box]:
    """Where each word stands, about; what is written twice at one place (a halo and its word) once."""
    found = dict[tuple[str, str, str], Box]()
    for down, one in _texts(ET.fromstring(svg), 0.0):
        x, y, size = (float(one.attrib[name]) for name in ("x", "y", "font-size"))
        wide, high = TRUE_TO_ESTIMATE * width_of(one.text or "", size), CAPITALS * size
        shift = {"middle": wide / 2, "end": wide}.get(one.attrib.get("text-anchor", "start"), 0.0)
        corners = [(x - shift, y - high), (x - shift + wide, y)]
        if turned := re.match(r"rotate\((\S+) (\S+) (\S+)\)", one.attrib.get("transform", "")):
            angle, about_x, about_y = (float(part) for part in turned.groups())
            corners = [_turned(corner, math.radians(angle), about_x, about_y) for corner in corners]
        (x0, y0), (x1, y1) = corners
        key = (one.text or "", one.attrib["x"], str(y + down))
        found[key] = Box(one.text or "", min(x0, x1), down + min(y0, y1), max(x0, x1), down + max(y0, y1))
    return [box for box in found.values() if box.words.strip()]


def _texts(group: ET.Element, down: float) -> Iterator[tuple[float, ET.Element]]:
    for one in group:
        moved = re.match(r"translate\(0 (\S+)\)", one.attrib.get("transform", ""))
        if one.tag.endswith("}text"):
            yield down, one
        else:
            yield from _texts(one, down + (float(moved[1]) if moved else 0.0))


def _turned(corner: tuple[float, float], angle: float, about_x: float, about_y: float) -> tuple[float, float]:
    x, y = corner[0] - about_x, corner[1] - about_y
    return (
        about_x + x * math.cos(angle) - y * math.sin(angle),
        about_y + x * math.sin(angle) + y * math.cos(angle),
    )


def faults_of(svg: str) -> list[str]:
    """What is wrong with a figure to look at."""
    root = ET.fromstring(svg)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    if width < 100 or height < 40:
        return [f"it is {width:g} wide and {height:g} high"]
    shades = np.asarray(Image.open(io.BytesIO(svg_to_png(svg, scale=1.0))).convert("L"), dtype=np.int16)
    faults = [] if np.mean(shades < 200) > 0.002 else ["nothing is on it"]
    edges = np.concatenate([shades[0], shades[-1], shades[:, 0], shades[:, -1]])
    faults += ["something dark touches its edge"] if (edges < 128).any() else []
    boxes = words_of(svg)
    faults += [
        f"{box.words!r} is cut"
        for box in boxes
        if box.left < -1 or box.top < -1 or box.right > width + 1 or box.bottom > height + 1
    ]
    return faults + [f"{one.words!r} covers {two.words!r}" for one, two in combinations(boxes, 2) if one.shares(two)]


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_a_figure_has_something_on_it_and_no_word_is_cut_or_covered(name: str) -> None:
    assert faults_of(FIGURES[name]) == []


def test_a_figure_of_no_width_an_empty_one_and_one_with_cut_or_covered_words_are_refused() -> None:
    good = FIGURES["content by share"]
    width = re.search(r'width="([\d.]+)"', good)
    assert width is not None
    assert "it is 0 wide" in faults_of(good.replace(width[0], 'width="0"', 1))[0]
    empty = re.sub(r"(<rect[^>]*/>).*(</svg>)", r"\1\2", good, count=1, flags=re.DOTALL)
    assert faults_of(empty) == ["nothing is on it"]
    word = '<text x="700" y="50" font-size="12">a very long name of something</text>'
    assert any("is cut" in fault for fault in faults_of(good.replace("</svg>", f"{word}</svg>")))
    twice = "".join(f'<text x="{x}" y="50" font-size="12">words</text>' for x in (200, 210))
    assert any("'words' covers 'words'" in fault for fault in faults_of(good.replace("</svg>", f"{twice}</svg>")))


def test_both_figures_of_task_contents_show_every_occupation_in_every_panel() -> None:
    for name in ("content by share", "content by class"):
        dots = [
            (float(one.attrib["cx"]), float(one.attrib["cy"]))
            for one in ET.fromstring(FIGURES[name]).iter("{http://www.w3.org/2000/svg}circle")
        ]
        assert len(dots) == 120 * len(SCORES)
        assert len(set(dots)) > 0.95 * len(dots)


def test_digital_and_other_occupations_have_two_colours() -> None:
    hues = {
        one.attrib["fill"]
        for one in ET.fromstring(FIGURES["content by class"]).iter("{http://www.w3.org/2000/svg}circle")
    }
    assert len(hues) == 2
    assert all(first != second for first, second in pairwise(sorted(hues)))
