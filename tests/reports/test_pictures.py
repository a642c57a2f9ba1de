"""Figures as pictures: small grey copies are kept, and a figure drawn anew looks the same.

Pictures are compared at a size at which letters blur, since machines have different fonts.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from guildhall.domain.report import Plot
from guildhall.reports.drawing import plots_of
from guildhall.reports.plots import svg_of
from guildhall.reports.svg import svg_to_png
from tests.reports.made import RATES, REPORT, headline_of

GOLDEN = Path(__file__).parent / "golden" / "figures"
WIDTH = 160
MEAN_APART, MOST_APART = 3.0, 70.0
"""Of 255 shades: on average, and at any one spot."""


def small(plot: Plot) -> Image.Image:
    picture = Image.open(io.BytesIO(svg_to_png(svg_of(plot), scale=1.0))).convert("L")
    return picture.resize((WIDTH, round(WIDTH * picture.height / picture.width)), Image.Resampling.BOX)


def apart(one: Image.Image, other: Image.Image) -> NDArray[np.float64]:
    return np.abs(np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64))


@pytest.mark.parametrize("name", sorted(plots_of(REPORT)))
def test_a_figure_looks_as_it_did(name: str, request: pytest.FixtureRequest) -> None:
    drawn, kept = small(plots_of(REPORT)[name]), GOLDEN / f"{name}.png"
    if request.config.getoption("--golden"):
        GOLDEN.mkdir(exist_ok=True, parents=True)
        drawn.save(kept)
    golden = Image.open(kept)
    assert abs(golden.height - drawn.height) <= 2
    gaps = apart(drawn.resize(golden.size), golden)
    assert gaps.mean() < MEAN_APART and gaps.max() < MOST_APART


def test_a_figure_with_other_numbers_looks_otherwise() -> None:
    alpha, beta = RATES
    swapped = alpha._replace(wins=beta.wins, losses=0)
    changed = headline_of([swapped, beta]).figures[0]
    gaps = apart(small(changed.plot), Image.open(GOLDEN / "outcomes.png"))
    assert gaps.mean() > MEAN_APART or gaps.max() > MOST_APART
