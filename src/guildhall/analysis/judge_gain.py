"""One judge against another on the same work: does it agree with people more often?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from guildhall.analysis.accountability import whole_rounds
from guildhall.analysis.splits import mean_margin
from guildhall.analysis.tables import encode
from guildhall.domain.estimates import Estimate
from guildhall.domain.pair_scores import PairScore


def agreement_gain(rows: Sequence[PairScore], judge: str, other: str, *, level: float = 0.95) -> Estimate:
    """How much more often `judge` agrees with people than `other` does.

    Estimand: the mean over samples that both judged, and some person did, of the difference in agreement. Paired by
    sample; interval by t over tasks, absent where nothing varies.
    """
    what = f"agreement of {judge} with people less that of {other}"
    people: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row.human and row.score is not None:
            people[row.sample].append(row.score)
    mine, theirs = (_agreement(rows, name, people) for name in (judge, other))
    shared = sorted(mine.keys() & theirs.keys())
    if not shared:
        why = "there is no work that both judged and people too"
        return Estimate(value=None, estimand=what, method="none", level=level, why_no_interval=why)
    task_of = {row.sample: row.task for row in rows}
    margins = np.array([mine[sample] - theirs[sample] for sample in shared])
    return mean_margin(margins, encode([task_of[one] for one in shared]).codes, what=what, unit="task", level=level)


def _agreement(rows: Sequence[PairScore], judge: str, people: dict[str, list[float]]) -> dict[str, float]:
    """Per sample the mean of 1 - |X - Y| over pairs of the judge's verdicts and people's."""
    said: dict[str, list[float]] = defaultdict(list)
    for row in whole_rounds([row for row in rows if not row.human and row.grader == judge]):
        if row.score is not None and row.sample in people:
            said[row.sample].append(row.score)
    return {
        sample: float(np.mean([1 - abs(one - other) for one in scores for other in people[sample]]))
        for sample, scores in said.items()
    }
