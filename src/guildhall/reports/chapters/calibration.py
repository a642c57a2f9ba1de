"""Stated confidence against outcomes, as Markdown and CSV."""

from __future__ import annotations

from collections.abc import Sequence

from guildhall.domain.calibrations import ModelCalibration
from guildhall.reports.tables import csv_text, text_table
from guildhall.reports.words import basis, plain, points, points_interval

WORDS = (
    "Stated confidence claims that the work is right, not that it beats anybody: where graders said whether work is "
    "usable, that comes first. Brier score: the mean squared gap between claim and outcome, 0 at best. "
    "Over-confidence: mean claim less mean outcome, in points."
)


def calibration_markdown(found: Sequence[ModelCalibration]) -> list[str]:
    rows = [
        [
            one.model,
            one.against,
            plain(one.brier),
            f"{points(one.overconfidence)} ({points_interval(one.overconfidence)})",
            basis(one.brier),
        ]
        for one in found
    ]
    header = ["model", "outcome", "Brier score", "over-confidence", "rests on"]
    return ["## Stated confidence against outcomes", "", WORDS, "", *text_table(header, rows)]


def calibration_csv(found: Sequence[ModelCalibration]) -> str:
    """The points of the curves: what was claimed, what came true."""
    rows = [
        [
            one.model,
            one.against,
            point.claimed,
            point.came_true.value,
            *(point.came_true.interval or ("", "")),
            point.came_true.n_samples,
            point.came_true.why_no_interval or "",
        ]
        for one in found
        for point in one.curve
    ]
    header = ["model", "outcome", "claimed", "came_true", "low", "high", "n_samples", "why_no_interval"]
    return csv_text(header, rows)
