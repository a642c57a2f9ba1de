"""Does the digital share measure cognitive work? It is held against the task-content scores of Acemoglu and Autor.

The five scores (2011) come from O*NET's importance and context scales. Each scale is brought to mean 0 and standard
deviation 1 over the O*NET occupations that have it; a score is the sum of its scales, so that none counts more for
being measured on a longer ruler. One scale is turned round: work that is structured by others is routine, and O*NET
asks for the freedom to structure it oneself.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from guildhall.domain.occupations import ContentCorrelation, DigitalShare, TaskContent, Validation
from guildhall.occupations.selection import Official
from guildhall.occupations.sources import SOURCES, number, read_rows, require_source

FEWEST = 4
"""Fisher's interval divides by the root of n - 3."""


def validate(
    data: Path, official: Official, digital: Mapping[str, DigitalShare], *, labelled_by: str, threshold: float
) -> Validation:
    """Every occupation with a digital share and scores, and how each score goes with the share."""
    scores = content_scores(read_contents(data))
    occupations = []
    without = 0
    for one in official.paid.kept:
        share = digital[one.code].share
        mine = of_occupation(sorted({task.onet for task in official.tasks[one.code]}), scores)
        if share is None or all(value is None for value in mine.values()):
            without += 1
            continue
        occupations.append(
            TaskContent(code=one.code, title=one.title, digital_share=share, is_digital=share >= threshold, scores=mine)
        )
    return Validation(
        labeller=labelled_by,
        threshold=threshold,
        occupations=tuple(occupations),
        correlations=tuple(_correlation(name, occupations) for name in SCORES),
        without_scores=without,
    )


def _correlation(name: str, occupations: Sequence[TaskContent]) -> ContentCorrelation:
    pairs = [(one.digital_share, value) for one in occupations if (value := one.scores[name]) is not None]
    sides = {
        digital: [value for one in occupations if one.is_digital is digital and (value := one.scores[name]) is not None]
        for digital in (True, False)
    }
    pearson = _pearson(pairs)
    return ContentCorrelation(
        score=name,
        occupations=len(pairs),
        pearson=pearson,
        interval=None if pearson is None else fisher_interval(pearson, len(pairs)),
        mean_digital=statistics.fmean(sides[True]) if sides[True] else None,
        mean_other=statistics.fmean(sides[False]) if sides[False] else None,
    )


def _pearson(pairs: Sequence[tuple[float, float]]) -> float | None:
    try:
        return statistics.correlation(*zip(*pairs, strict=True)) if len(pairs) > 1 else None
    except statistics.StatisticsError:  # one of the two does not vary
        return None


def fisher_interval(correlation: float, count: int) -> tuple[float, float] | None:
    """The 95 % interval by Fisher's transformation; absent for fewer than four pairs and for a perfect correlation."""
    if count < FEWEST or abs(correlation) >= 1:
        return None
    centre, half = math.atanh(correlation), statistics.NormalDist().inv_cdf(0.975) / math.sqrt(count - 3)
    return math.tanh(centre - half), math.tanh(centre + half)


@dataclass(frozen=True)
class Scale:
    """One O*NET element: its file, its id, its name, and whether more of it means less of the score."""

    source: str
    element: str
    name: str
    turned: bool = False


SCORES: Mapping[str, tuple[Scale, ...]] = {
    "non-routine cognitive: analytical": (
        Scale("activities", "4.A.2.a.4", "Analyzing Data or Information"),
        Scale("activities", "4.A.2.b.2", "Thinking Creatively"),
        Scale("activities", "4.A.4.a.1", "Interpreting the Meaning of Information for Others"),
    ),
    "non-routine cognitive: interpersonal": (
        Scale("activities", "4.A.4.a.4", "Establishing and Maintaining Interpersonal Relationships"),
        Scale("activities", "4.A.4.b.4", "Guiding, Directing, and Motivating Subordinates"),
        Scale("activities", "4.A.4.b.5", "Coaching and Developing Others"),
    ),
    "routine cognitive": (
        Scale("context", "4.C.3.b.7", "Importance of Repeating Same Tasks"),
        Scale("context", "4.C.3.b.4", "Importance of Being Exact or Accurate"),
        Scale("context", "4.C.3.b.8", "Structured versus Unstructured Work", turned=True),
    ),
    "routine manual": (
        Scale("context", "4.C.3.d.3", "Pace Determined by Speed of Equipment"),
        Scale("activities", "4.A.3.a.3", "Controlling Machines and Processes"),
        Scale("context", "4.C.2.d.1.i", "Spend Time Making Repetitive Motions"),
    ),
    "non-routine manual physical": (
        Scale("activities", "4.A.3.a.4", "Operating Vehicles, Mechanized Devices, or Equipment"),
        Scale("context", "4.C.2.d.1.g", "Spend Time Using Your Hands to Handle, Control, or Feel Objects"),
        Scale("abilities", "1.A.2.a.2", "Manual Dexterity"),
        Scale("abilities", "1.A.1.f.1", "Spatial Orientation"),
    ),
}
MEANS = {"activities": "IM", "abilities": "IM", "context": "CX"}
"""The scale of each file that holds one mean value an occupation."""

Values = dict[str, dict[str, float]]
"""Element id -> O*NET code -> value."""


def read_contents(data: Path) -> Values:
    """The wanted elements of the three files; a missing file is named with where to get it."""
    found: Values = {}
    for source, scale in MEANS.items():
        wanted = {one.element for scales in SCORES.values() for one in scales if one.source == source}
        for row in read_rows(require_source(data, source), columns=SOURCES[source].columns):
            element, value = str(row["Element ID"]), number(row["Data Value"])
            if element in wanted and row["Scale ID"] == scale and value is not None:
                found.setdefault(element, {})[str(row["O*NET-SOC Code"])] = value
    return found


def content_scores(values: Values) -> dict[str, dict[str, float]]:
    """Score -> O*NET code -> value, for the occupations that have every scale of the score."""
    standard = {element: _standardised(known) for element, known in values.items()}
    return {name: _summed(scales, standard) for name, scales in SCORES.items()}


def of_occupation(parts: Sequence[str], scores: Mapping[str, Mapping[str, float]]) -> dict[str, float | None]:
    """The scores of an OEWS occupation: the mean over its O*NET occupations that have them."""
    found: dict[str, float | None] = {}
    for name, known in scores.items():
        mine = [known[onet] for onet in parts if onet in known]
        found[name] = statistics.fmean(mine) if mine else None
    return found


def _standardised(known: Mapping[str, float]) -> dict[str, float]:
    if len(known) < 2 or (spread := statistics.pstdev(known.values())) == 0:
        return {}
    mean = statistics.fmean(known.values())
    return {onet: (value - mean) / spread for onet, value in known.items()}


def _summed(scales: Sequence[Scale], standard: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    columns = [standard.get(one.element, {}) for one in scales]
    complete = set.intersection(*(set(column) for column in columns))
    signs = [-1.0 if one.turned else 1.0 for one in scales]
    return {
        onet: sum(sign * column[onet] for sign, column in zip(signs, columns, strict=True)) for onet in sorted(complete)
    }
