"""What is known of a judged sample beside its verdicts' mean: lengths, orders, repeats, rubric points, format findings.

Every feature is seen from the model's side against the expert's work it was compared with. What is unknown is absent.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, pstdev

from guildhall.domain.authors import Expert, ModelRun
from guildhall.domain.judges import RubricMark
from guildhall.domain.judgments import Comparison
from guildhall.domain.pair_scores import PairScore
from guildhall.domain.prepared import VERSION, Prepared
from guildhall.domain.submissions import Submission
from guildhall.store.records import Store

Features = dict[str, float]


def sample_features(
    store: Store,
    comparisons: Sequence[Comparison],
    rows: Iterable[PairScore],
    marks: Iterable[RubricMark],
) -> dict[str, Features]:
    """The features of each sample, by the key of the model's submission; `rows` are verdicts, failures left out."""
    found: dict[str, Features] = defaultdict(dict)
    by_judge: dict[tuple[str, str], list[PairScore]] = defaultdict(list)
    for row in rows:
        if row.log_length_ratio is not None:
            found[row.sample]["log length ratio"] = row.log_length_ratio
        if not row.human and row.score is not None:
            by_judge[row.sample, row.grader].append(row)
    for (sample, judge), said in by_judge.items():
        found[sample] |= {f"{judge}: {name}": value for name, value in _orders_and_repeats(said).items()}
    points = _rubric_points(marks)
    for sample, expert in _against(store, comparisons):
        found[sample] |= _differences(points, sample, expert)
        findings = _findings(store, sample), _findings(store, expert)
        if findings[0] is not None and findings[1] is not None:
            found[sample]["format findings"] = math.log1p(findings[0]) - math.log1p(findings[1])
    return dict(found)


def _orders_and_repeats(said: Sequence[PairScore]) -> Features:
    """How a judge's verdict depends on the order, and how much it varies when asked the same again."""
    first = [row.score for row in said if row.shown_first and row.score is not None]
    second = [row.score for row in said if not row.shown_first and row.score is not None]
    made: Features = {}
    if first and second:
        made["shown first less second"] = fmean(first) - fmean(second)
    if repeated := [scores for scores in (first, second) if len(scores) > 1]:
        made["spread over sweeps"] = fmean(pstdev(scores) for scores in repeated)
    return made


def _against(store: Store, comparisons: Iterable[Comparison]) -> Iterable[tuple[str, str]]:
    """Every model's submission with the expert's it is compared with."""
    for comparison in comparisons:
        experts = {key for key in comparison.submissions if isinstance(store.get(Submission, key).author, Expert)}
        for sample in comparison.submissions:
            if experts and sample not in experts:
                yield sample, min(experts)


def _rubric_points(marks: Iterable[RubricMark]) -> dict[str, dict[str, float]]:
    """Judge -> submission -> its mean share of rubric points; a mark with a failed item has none."""
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for mark in marks:
        if mark.score is not None:
            judge = f"{mark.grader.name}{', whole' if mark.whole else ''}"
            scores[judge][mark.submission].append(mark.score)
    return {judge: {key: fmean(given) for key, given in by_key.items()} for judge, by_key in scores.items()}


def _differences(points: Mapping[str, Mapping[str, float]], sample: str, expert: str) -> Features:
    return {
        f"{judge}: rubric points": given[sample] - given[expert]
        for judge, given in points.items()
        if sample in given and expert in given
    }


def _findings(store: Store, key: str) -> int | None:
    name = f"{key}:{VERSION}"
    if not store.has(Prepared, name):
        return None
    return sum(file.faults + len(file.omitted) for file in store.get(Prepared, name).files)


def maker_of(author: ModelRun, makers: Mapping[str, str]) -> str | None:
    """The family an author belongs to, as far as it is known."""
    return makers.get(author.name) or maker_of_model(author.model)


def maker_of_model(model: str | None) -> str | None:
    return model.partition("/")[0] if model and "/" in model else None
