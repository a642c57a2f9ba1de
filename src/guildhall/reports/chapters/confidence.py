"""Does stated confidence foretell the outcome? Acceptance first, since confidence claims right work and not victory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from guildhall.analysis.calibration import Calibration, SingleGrades, calibrate
from guildhall.analysis.evidence import Evidence, Need
from guildhall.analysis.pairs import NOT_ASKED, Pairs
from guildhall.analysis.tables import Coded, Floats, places_of
from guildhall.domain.report import Column, Curve, CurvePanel, CurvePoint, Figure, Lines, ReportTable, Section
from guildhall.errors import NotEnoughData
from guildhall.reports.number_format import at_level

ACCEPTED = "share of graders who found the work usable as it is"
WORDS = (
    "Stated confidence claims that the work is right, not that it beats anybody: where graders said whether work is "
    "usable, that comes first. Brier score: the mean squared gap between claim and outcome, 0 at best. "
    "Over-confidence: mean claim less mean outcome, in points."
)
MOST_WITH_ENDS = 3


class ModelCalibration(NamedTuple):
    model: str
    against: str
    found: Calibration


class Confidence:
    """Each model against each outcome that graders were asked for; None where no author stated a confidence."""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section | None:
        stated = evidence.pairs.keep(~np.isnan(evidence.pairs.confidence))
        asked = stated.keep(stated.accepted != NOT_ASKED)
        found = [
            *_calibrated(asked, asked.accepted.astype(np.float64), ACCEPTED, evidence.level),
            *_calibrated(stated, stated.score, f"half-tie rate against the {evidence.baseline}", evidence.level),
        ]
        return confidence_section(found) if found else None


def confidence_section(found: Sequence[ModelCalibration]) -> Section:
    """Scores, curves, and the points of the curves."""
    return Section(
        name="calibration",
        title="Stated confidence against outcomes",
        words=(WORDS,),
        figures=(Figure(name="calibration", says="Stated confidence and what came true", plot=_plot(found)),),
        tables=(_scores(found), _points(found)),
    )


def _calibrated(pairs: Pairs, outcome: Floats, against: str, level: float) -> Iterator[ModelCalibration]:
    works, first, at = pairs.deliverables
    came = np.bincount(at, outcome, minlength=len(works)) / np.maximum(np.bincount(at, minlength=len(works)), 1)
    claimed, task, model = pairs.confidence[first] / 100, pairs.task.codes[first], pairs.model.codes[first]
    rows, of_model = places_of(pairs.model), places_of(Coded(model, pairs.model.names))
    place = np.empty(len(works), dtype=np.int64)
    for code, name in sorted(enumerate(pairs.model.names), key=lambda one: one[1]):
        given, mine = rows[code], of_model[code]
        if not len(given):
            continue
        place[mine] = np.arange(len(mine))
        grades = SingleGrades(place[at[given]], outcome[given], pairs.grader.codes[given])
        try:
            yield ModelCalibration(
                name,
                against,
                calibrate(claimed[mine], came[mine], task[mine], against=against, grades=grades, level=level),
            )
        except NotEnoughData:
            continue


def _scores(found: Sequence[ModelCalibration]) -> ReportTable:
    return ReportTable(
        name="confidence",
        columns=(
            Column(name="model", title="model"),
            Column(name="outcome", title="outcome"),
            Column(name="brier", title="Brier score", form="number"),
            Column(name="overconfidence", title="over-confidence, in points", form="points"),
        ),
        rows=tuple((one.model, one.against, one.found.brier, one.found.overconfidence) for one in found),
        traced=True,
    )


def _points(found: Sequence[ModelCalibration]) -> ReportTable:
    return ReportTable(
        name="calibration",
        title="The points of the curves",
        columns=(
            Column(name="model", title="model"),
            Column(name="outcome", title="outcome"),
            Column(name="claimed", title="claimed", form="percent"),
            Column(name="came_true", title="came true", form="percent"),
            Column(name="n_samples", title="deliverables", form="count"),
        ),
        rows=tuple(
            (one.model, one.against, point.claimed, point.came_true, point.came_true.n_samples)
            for one in found
            for point in one.found.curve
        ),
        folded=True,
    )


def _plot(found: Sequence[ModelCalibration]) -> Lines:
    outcomes = list(dict.fromkeys(one.against for one in found))
    with_ends = len({one.model for one in found}) <= MOST_WITH_ENDS
    sure = at_level(found[0].found.brier.level)
    return Lines(
        title="What was claimed, and what came true",
        subtitle=("below the dashed line claims are too high" + (f"; {sure} intervals" if with_ends else ""),),
        diagonal=True,
        panels=tuple(
            CurvePanel(
                title="",
                x="stated confidence",
                y=against,
                curves=tuple(_curve(one) for one in found if one.against == against),
            )
            for against in outcomes
        ),
    )


def _curve(one: ModelCalibration) -> Curve:
    return Curve(name=one.model, points=tuple(CurvePoint(x=each.claimed, y=each.came_true) for each in one.found.curve))
