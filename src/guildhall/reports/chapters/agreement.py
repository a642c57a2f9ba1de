"""Do graders agree with each other, and do programs agree with them more often than a constant verdict would?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from guildhall.analysis.agreement import agreement, agreement_by_model
from guildhall.analysis.chance_corrected import alpha_estimate, gwet_estimate
from guildhall.analysis.evidence import Evidence, Need
from guildhall.analysis.floors import best_constant
from guildhall.analysis.pairs import Pairs
from guildhall.analysis.ratings_table import Ratings
from guildhall.domain.estimates import Estimate
from guildhall.domain.policy import GroupKind
from guildhall.domain.report import Section
from guildhall.reports.chapters.figures import figure_section

PROGRAMS = frozenset({GroupKind.JUDGE, GroupKind.CONSTANT})


class GraderAgreement:
    """People with people, overall and by model; each judge with people; and the floor: the best constant verdict."""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section | None:
        people = ratings_of(evidence.pairs)
        if people.n_samples == len(evidence.pairs):
            return None
        figures = [("graders with each other", agreement(people, level=evidence.level).human_human)]
        if len(by_model := agreement_by_model(people, level=evidence.level)) > 1:
            figures += [(f"on {name}", one.human_human) for name, one in sorted(by_model.items())]
        figures += [*_judges(evidence), *_floor(people, evidence.level)]
        words = (
            "How often two graders of one deliverable agree: 1 minus the gap between their verdicts, averaged over "
            "pairs. A constant verdict looks at nothing: whoever agrees with graders no more often than it does has "
            "shown nothing."
        )
        return figure_section("agreement", "Agreement between graders", words, figures, form="percent", traced=True)


class BeyondChance:
    """The same graders, with what chance alone would give taken off."""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section | None:
        people = ratings_of(evidence.pairs)
        if people.n_samples == len(evidence.pairs) or people.task is None:
            return None
        counts, level = people.counts(human=True), evidence.level
        found = (
            (
                "Krippendorff's alpha (ordinal)",
                alpha_estimate(counts, people.task, unit="task", metric="ordinal", level=level),
            ),
            ("Gwet's AC2 (ordinal)", gwet_estimate(counts, people.task, unit="task", metric="ordinal", level=level)),
        )
        words = (
            "0 is what chance would give, 1 is full agreement. Alpha falls where nearly all verdicts are the same, "
            "since chance would then agree too; AC2 takes chance to be blind to that."
        )
        figures = [(name, one) for name, one in found if one.value is not None]
        return figure_section("agreement-beyond-chance", "Agreement beyond chance", words, figures, traced=True)


def _judges(evidence: Evidence) -> Iterator[tuple[str, Estimate]]:
    """Each program that judged the same work, held against these graders."""
    if evidence.group.kind in PROGRAMS:
        return
    for group, its in evidence.others.items():
        if group.kind in PROGRAMS and len(its.pairs):
            found = agreement(ratings_of(evidence.pairs, its.pairs), level=evidence.level).human_auto
            if found.value is not None:
                yield f"{group.name} with them", found


def _floor(people: Ratings, level: float) -> list[tuple[str, Estimate]]:
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
    found = best_constant(with_constant, level=level)
    return [] if found is None else [(f"{found.verdict} with them (constant)", found.agreement)]


def ratings_of(people: Pairs, judge: Pairs | None = None) -> Ratings:
    """Verdicts as ratings, each deliverable a sample; without a judge's all are between equals."""
    pairs = people if judge is None else people.and_also(judge)
    _, first, sample = pairs.deliverables
    return Ratings(
        models=pairs.model.names,
        raters=pairs.grader.names,
        sample=sample,
        rater=pairs.grader.codes,
        is_human=np.arange(len(pairs)) < len(people),
        halves=pairs.halves,
        model=pairs.model.codes[first],
        task=pairs.task.codes[first],
    )
