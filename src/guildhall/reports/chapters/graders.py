"""The graders: do they agree, with each other, over waves, with programs? Did the blind hold? How long do they take?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.accountability import JudgeOfFile
from guildhall.analysis.agreement import agreement, agreement_by_model
from guildhall.analysis.agreement_report import best_constant, within_points
from guildhall.analysis.chance_corrected import alpha_estimate, gwet_estimate, labels_of
from guildhall.analysis.effects import GuessRows, blinding_index
from guildhall.analysis.evidence import Evidence, Need
from guildhall.analysis.intervals import mean_of_rows, t_estimate
from guildhall.analysis.pairs import NOT_ASKED, Pairs
from guildhall.analysis.rated import Groups, without_one_grader
from guildhall.analysis.ratings_table import RatingsTable
from guildhall.analysis.shares import clustered_share
from guildhall.analysis.win_rates import win_rates
from guildhall.domain.estimates import Estimate
from guildhall.domain.policy import PROGRAMS
from guildhall.domain.report import WARNING, Column, Figure, Forest, ReportTable, Section
from guildhall.reports.chapters.figures import MOST_ENTRIES, Named, figure_section


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


class JudgesBesidePeople:
    """Each judge on the work that people judged too: agreement by model, its floor, and "within d points"."""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section | None:
        if evidence.group.kind in PROGRAMS:
            return None
        d, level = evidence.study.plan.margin, evidence.level
        rows: list[tuple[str, str, Estimate]] = []
        words: list[str] = []
        for group, its in sorted(evidence.others.items(), key=lambda one: str(one[0])):
            ratings = ratings_of(evidence.pairs, its.pairs)
            overall = agreement(ratings, level=level)
            if group.kind not in PROGRAMS or overall.human_auto.value is None:
                continue
            by_model = agreement_by_model(ratings, level=level)
            for model, one in (("all models", overall), *sorted(by_model.items())):
                if not any(row[:2] == (model, "people with each other") for row in rows):
                    rows.append((model, "people with each other", one.human_human))
                rows.append((model, str(group), one.human_auto))
            words += _stands_in(str(group), ratings, d=d, level=level)
        if not rows:
            return None
        rows.sort(key=lambda row: (row[0] != "all models", row[0]))
        columns = (Column(name="model", title="work of"), Column(name="who", title="who with people"))
        table = ReportTable(
            name="judges-beside-people",
            columns=(*columns, Column(name="agreement", title="agreement", form="percent")),
            rows=tuple(rows),
        )
        entries = tuple((f"{model}\n{who}", one) for model, who, one in rows[:MOST_ENTRIES])
        title = "Agreement with people, by model: people beside judges"
        figure = Figure(
            name="judges-beside-people", says=title, plot=Forest(title=title, entries=entries, form="percent")
        )
        return Section(
            name="judges-beside-people",
            title="Judges beside people",
            words=tuple(words),
            figures=(figure,),
            tables=(table,),
        )


def _stands_in(name: str, ratings: RatingsTable, *, d: float, level: float) -> Iterator[str]:
    """A judge under its floor is said to be, before anything else; then whether it is within d points of people."""
    yield from (f"{WARNING}{words}." for words in JudgeOfFile(best_constant(ratings, level=level)).warnings(name))
    test = within_points(ratings, d=d, level=level)
    if test.gap.value is None:
        return
    answer = {True: "is shown to be", False: "is not shown to be", None: "cannot be shown to be"}[test.within]
    bound = "" if test.upper_bound is None else f", at most {100 * test.upper_bound:.1f} at {100 * level:g} % one-sided"
    yield (
        f"{name} {answer} within {100 * d:g} points of people: people agree with each other by "
        f"{100 * test.gap.value:+.1f} points more than it agrees with them{bound}."
    )


class BeyondChance:
    """The same graders, with what chance alone would give taken off."""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section | None:
        people = ratings_of(evidence.pairs)
        if people.n_samples == len(evidence.pairs) or people.task is None:
            return None
        (labels, unit), level = labels_of(people), evidence.level
        found = (
            (
                "Krippendorff's alpha (ordinal)",
                alpha_estimate(labels, unit=unit, metric="ordinal", level=level),
            ),
            ("Gwet's AC2 (ordinal)", gwet_estimate(labels, unit=unit, metric="ordinal", level=level)),
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


def _floor(people: RatingsTable, level: float) -> list[tuple[str, Estimate]]:
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


def ratings_of(people: Pairs, judge: Pairs | None = None) -> RatingsTable:
    """Verdicts as ratings, each deliverable a sample; without a judge's all are between equals."""
    pairs = people if judge is None else people.and_also(judge)
    _, first, sample = pairs.deliverables
    return RatingsTable(
        models=pairs.model.names,
        raters=pairs.grader.names,
        sample=sample,
        rater=pairs.grader.codes,
        is_human=np.arange(len(pairs)) < len(people),
        halves=pairs.halves,
        model=pairs.model.codes[first],
        task=pairs.task.codes[first],
    )


class WaveDrift:
    """The later half-tie rate less the earlier one on work that both waves judged."""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section | None:
        drift = evidence.drift
        if drift is None:
            return None
        figures = [("all anchors", drift.estimate)]
        figures += drift.by_model if len(drift.by_model) > 1 else ()
        words = (
            "Anchors are pairs of the earlier wave that were judged again, unseen, by graders who had not met them. "
            f"Each figure is the later half-tie rate less the earlier one on the same work. {drift.words}"
        )
        return figure_section("drift", "Drift between waves", words, figures)


class Blinding:
    """The index on pairs of a person's and a model's work; with a model as baseline there is no such pair."""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section | None:
        if evidence.baseline != "expert":
            return None
        asked = evidence.pairs.keep(evidence.pairs.guess != NOT_ASKED)
        figures: list[Named] = []
        preferred, grader, task = asked.score > 0.5, asked.grader.codes, asked.task.codes
        for model, at in asked.by_model():
            rows = GuessRows(asked.guess[at], preferred[at], grader[at], task[at])
            index = blinding_index(rows, level=evidence.level)
            figures += [(f"{model}: {where}", found) for where, found in index.items() if found.value is not None]
        words = "Right minus wrong guesses of which side a person made: 0 when the blind held, 1 when it hid nothing."
        return figure_section("blinding", "Did the blind hold?", words, figures, traced=True)


class Order:
    """Does it matter which side stood first?"""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section | None:
        pairs = evidence.pairs
        first, won = pairs.model_place == 0, pairs.score > 0.5
        figures = [
            (
                name,
                clustered_share(
                    won[which],
                    pairs.task.codes[which],
                    grader=pairs.grader.codes[which],
                    what=f"share of wins when the model's work was {name}",
                    level=evidence.level,
                ),
            )
            for name, which in (("at A", first), ("elsewhere", ~first))
            if which.any()
        ]
        words = "Orders are balanced by design, so a difference here is a habit of the graders and not of the result."
        return figure_section("order", "Order of the sides", words, figures, form="percent", traced=True)


class Tells:
    """Results with and without the pairs whose files still hint at who made them."""

    needs = frozenset({Need.TELLS})

    def section(self, evidence: Evidence) -> Section | None:
        told = _carry_tells(evidence)
        if not told.any():
            return None
        clean = evidence.pairs.keep(~told)
        rates = win_rates(evidence.counted.of_pairs(clean).outcomes, level=evidence.level) if len(clean) else []
        without = {rate.model: rate for rate in rates}
        figures: list[Named] = []
        for rate in evidence.rates:
            figures.append((f"{rate.model}: all pairs", rate.win_or_tie))
            if rate.model in without:
                figures.append((f"{rate.model}: without tells", without[rate.model].win_or_tie))
        words = (
            f"Scrubbed files may still hint at their maker: {int(told.sum())} of {len(told)} judged pairs hold such a "
            "tell on one side or the other. Win or tie with and without them. Tells do not fall at random, so this "
            "describes and does not correct."
        )
        return figure_section("tells", "With and without tells", words, figures, form="percent", traced=True)


def _carry_tells(evidence: Evidence) -> NDArray[np.bool_]:
    """For each pair whether its own work or the baseline's beside it carries a tell."""
    pairs, telling = evidence.pairs, set(evidence.facts[Need.TELLS]["submission"])
    if not telling:
        return np.zeros(len(pairs), dtype=np.bool_)
    carries = np.array([name in telling for name in pairs.submission.names], dtype=np.bool_)
    return np.asarray(carries[pairs.submission.codes] | carries[pairs.base])


class WithoutOneGrader:
    """How far the plan's rate of each model falls and rises when one grader is left out, and who that is."""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section | None:
        outcomes, convention = evidence.counted.outcomes, evidence.study.plan.convention
        if outcomes.grader is None or len(np.unique(outcomes.grader.codes[outcomes.grader.codes >= 0])) < 2:
            return None
        groups = Groups(outcomes)
        found, names = without_one_grader(groups, convention), outcomes.grader.names
        told = {one.model: getattr(one, convention).value for one in evidence.rates}
        rows = []
        for at, code in enumerate(groups.codes.tolist()):
            mine = np.flatnonzero((found.group == at) & ~np.isnan(found.rate))
            order = mine[np.argsort(found.rate[mine], kind="stable")]
            ends = [(float(found.rate[place]), names[found.grader[place]]) for place in (*order[:1], *order[-1:])]
            (least, lowest), (greatest, highest) = ends or ((None, None), (None, None))
            model = outcomes.model.names[code]
            rows.append((model, told[model], least, lowest, greatest, highest))
        table = ReportTable(
            name="without-one-grader",
            columns=(
                Column(name="model", title="model"),
                Column(name=convention, title=convention.replace("_", " "), form="percent"),
                Column(name="least", title="least", form="percent"),
                Column(name="least_without", title="without", form="text"),
                Column(name="greatest", title="greatest", form="percent"),
                Column(name="greatest_without", title="without", form="text"),
            ),
            rows=tuple(sorted(rows, key=lambda row: (-(row[1] or 0), row[0]))),
            folded=True,
        )
        words = (
            "Each model's rate again with one grader left out, whoever lowers or raises it most. Work that nobody else "
            "judged goes with them.",
        )
        return Section(name="without-one-grader", title="With one grader left out", words=words, tables=(table,))


class ReviewTime:
    """Minutes of active time at a grader's first sight of a task; None where no time was taken."""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section | None:
        pairs = evidence.pairs
        first = (pairs.exposure == 1) & ~np.isnan(pairs.active_s)
        if not first.any():
            return None
        value, spread = mean_of_rows(pairs.active_s[first] / 60, pairs.task.codes[first], pairs.grader.codes[first])
        found = t_estimate(
            value,
            spread,
            level=evidence.level,
            estimand="minutes of active time at a grader's first sight of a task",
            n_judgments=int(first.sum()),
        )
        words = (
            "Only a grader's first meeting with a task counts as review time; time without signs of activity is "
            "unknown."
        )
        return figure_section("review-time", "Time to review", words, [("minutes", found)], traced=True)
