"""Grading bias: how far a grader's marks lie from everybody's, and the label ladder of the seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from guildhall.peer.scale import mean, median


@dataclass(frozen=True)
class GraderBias:
    """One grader against all; positive is lenient. Absent figures belong to a grader who gave no grade."""

    grader: str
    count: int
    median_given: float | None
    median_bias: float | None
    mean_bias: float | None

    @property
    def label(self) -> str:
        return bias_label(self.median_bias)


@dataclass(frozen=True)
class BiasTable:
    overall_median: float | None
    overall_mean: float | None
    graders: dict[str, GraderBias]


def grading_bias(given: Mapping[str, Sequence[float]]) -> BiasTable:
    """Bias of each grader from the marks it gave; marks without a grade are not in `given`."""
    everything = [mark for marks in given.values() for mark in marks]
    middle, average = median(everything), mean(everything)
    rows = {grader: _bias(grader, marks, middle, average) for grader, marks in given.items()}
    return BiasTable(middle, average, rows)


def _bias(grader: str, marks: Sequence[float], middle: float | None, average: float | None) -> GraderBias:
    own_median, own_mean = median(marks), mean(marks)
    if own_median is None or own_mean is None or middle is None or average is None:
        return GraderBias(grader, 0, None, None, None)
    return GraderBias(grader, len(marks), own_median, own_median - middle, own_mean - average)


def bias_label(bias: float | None) -> str:
    """The seed's words for a median bias."""
    if bias is None:
        return "N/A"
    size = abs(bias)
    if size < 0.15:
        return "Neutral"
    side, sign = ("Lenient", "+") if bias > 0 else ("Strict", "-")
    if size > 0.6:
        return f"Very {side} ({sign}2 grades)"
    return f"{side} ({sign}1 grade)" if size > 0.3 else f"Slightly {side} ({sign}1/3 grade)"
