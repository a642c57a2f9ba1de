"""Do graders agree with each other, and do programs agree with them more often than a constant verdict would?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.agreement import agreement, agreement_by_model
from guildhall.analysis.chance_corrected import alpha_estimate, gwet_estimate
from guildhall.analysis.floors import best_constant
from guildhall.analysis.outcomes import to_halves
from guildhall.analysis.ratings_table import Ratings
from guildhall.domain.findings import Figure, FigureGroup
from guildhall.study.evidence import Evidence, figure
from guildhall.study.rows import AUTOMATIC, Rows, is_word


def chapter(evidence: Evidence) -> FigureGroup | None:
    """People with people, overall and by model; each judge with people; and the floor: the best constant verdict."""
    people = _ratings(evidence.rows)
    if people.n_samples == len(evidence.rows):
        return None
    figures = [figure("graders with each other", agreement(people).human_human)]
    if len(by_model := agreement_by_model(people)) > 1:
        figures += [figure(f"on {name}", one.human_human) for name, one in sorted(by_model.items())]
    figures += [*_judges(evidence), *_floor(people)]
    words = (
        "How often two graders of one deliverable agree: 1 minus the gap between their verdicts, averaged over pairs. "
        "A constant verdict looks at nothing: whoever agrees with graders no more often than it does has shown nothing."
    )
    return FigureGroup(
        name="agreement", title="Agreement between graders", words=words, figures=tuple(figures), in_percent=True
    )


def beyond_chance(evidence: Evidence) -> FigureGroup | None:
    """The same graders, with what chance alone would give taken off."""
    people = _ratings(evidence.rows)
    if people.n_samples == len(evidence.rows) or people.task is None:
        return None
    counts = people.counts(human=True)
    found = (
        ("Krippendorff's alpha (ordinal)", alpha_estimate(counts, people.task, unit="task", metric="ordinal")),
        ("Gwet's AC2 (ordinal)", gwet_estimate(counts, people.task, unit="task", metric="ordinal")),
    )
    words = (
        "0 is what chance would give, 1 is full agreement. Alpha falls where nearly all verdicts are the same, since "
        "chance would then agree too; AC2 takes chance to be blind to that."
    )
    figures = tuple(figure(name, one) for name, one in found if one.value is not None)
    if not figures:
        return None
    return FigureGroup(name="agreement-beyond-chance", title="Agreement beyond chance", words=words, figures=figures)


def _judges(evidence: Evidence) -> list[Figure]:
    """Each program that judged the same work, held against these graders."""
    if evidence.kind.startswith(AUTOMATIC):
        return []
    every, made = evidence.judged.rows, []
    mine = is_word(every.grader_kind, evidence.kind)
    for kind in evidence.other_kinds:
        its = is_word(every.grader_kind, kind)
        if kind.startswith(AUTOMATIC) and its.any():
            both = every.keep(mine | its)
            ratings = _ratings(both, is_word(both.grader_kind, evidence.kind))
            made.append(figure(f"{kind.removeprefix(AUTOMATIC)} with them", agreement(ratings).human_auto))
    return [one for one in made if one.estimate.value is not None]


def _floor(people: Ratings) -> list[Figure]:
    """The best constant verdict, as if a program that always gives it had judged every deliverable."""
    samples = np.arange(people.n_samples)
    with_constant = replace(
        people,
        sample=np.concatenate([people.sample, samples]),
        rater=np.concatenate([people.rater, np.full(people.n_samples, len(people.raters), people.rater.dtype)]),
        raters=(*people.raters, "constant"),
        is_human=np.concatenate([people.is_human, np.zeros(people.n_samples, dtype=np.bool_)]),
        halves=np.concatenate([people.halves, np.zeros(people.n_samples, people.halves.dtype)]),
    )
    found = best_constant(with_constant)
    return [] if found is None else [figure(f"{found.verdict} with them (constant)", found.agreement)]


def _ratings(rows: Rows, people: NDArray[np.bool_] | None = None) -> Ratings:
    """Verdicts as ratings, each deliverable a sample; without `people` all are between equals, of whatever kind."""
    _, first, sample = rows.deliverables
    return Ratings(
        models=rows.model.names,
        raters=rows.grader.names,
        sample=sample,
        rater=rows.grader.codes,
        is_human=np.ones(len(rows), dtype=np.bool_) if people is None else people,
        halves=to_halves(rows.score),
        model=rows.model.codes[first],
        task=rows.task.codes[first],
    )
