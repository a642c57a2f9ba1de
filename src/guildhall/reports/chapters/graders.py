"""The graders: do they agree, with each other, over waves? What is known of each judge? How long does it take?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

import numpy as np

from guildhall.analysis.accountability import JudgeOfFile
from guildhall.analysis.agreement import Agreement, agreement, agreement_by_model
from guildhall.analysis.agreement_report import best_constant, within_points
from guildhall.analysis.calibration import what_sways, what_verdicts_mean
from guildhall.analysis.chance_corrected import alpha_estimate, gwet_estimate, labels_of
from guildhall.analysis.counting import Counted
from guildhall.analysis.effects import flips
from guildhall.analysis.evidence import Evidence, Need
from guildhall.analysis.intervals import mean_of_rows, t_estimate
from guildhall.analysis.pairs import Pairs
from guildhall.analysis.rated import Groups, without_one_grader
from guildhall.analysis.ratings_table import RatingsTable
from guildhall.analysis.shares import clustered_share
from guildhall.domain.estimates import Estimate
from guildhall.domain.policy import PROGRAMS, GraderGroup, GroupKind, Rule
from guildhall.domain.report import WARNING, CellValue, Column, Figure, Forest, ReportTable, Section
from guildhall.domain.values import Id, canonical_json
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


class Scorecard:
    """Each judge: what it is, what it left unsaid, what sways it, and how it agrees with people, beside its floor."""

    needs = frozenset({Need.LENGTHS, Need.TELLS})

    def section(self, evidence: Evidence) -> Section | None:
        judges = [
            (group, its)
            for group, its in ((evidence.group, evidence.counted), *evidence.others.items())
            if group.kind is GroupKind.JUDGE and len(its.pairs)
        ]
        if not judges:
            return None
        judges.sort(key=lambda one: str(one[0]))
        people = None if evidence.group.kind in PROGRAMS else evidence.pairs
        d, level = evidence.study.plan.margin, evidence.level
        words: list[str] = []
        by_model: list[tuple[str, str, Agreement]] = []
        shares: list[tuple[str, str, Estimate]] = []
        points: list[tuple[str, str, Estimate]] = []
        for group, its in judges:
            pairs, own = its.pairs, str(group)
            points += [
                (own, name, one) for name, one in _swayed(evidence, group, pairs).items() if one.value is not None
            ]
            turned = flips(pairs.task.codes, pairs.submission.codes, pairs.sweep, pairs.score, level=level)
            shares += [(own, "verdicts that turn with the sides", turned)] if turned.value is not None else []
            if people is None:
                continue
            ratings = ratings_of(people, its.pairs)
            overall = agreement(ratings, level=level)
            if overall.human_auto.value is None:
                continue
            words += _stands_in(own, ratings, d=d, level=level)
            shares += [(own, name, one) for name, one in _beside(ratings, overall, level)]
            shares += [(own, name, one) for name, one in what_verdicts_mean(pairs, people, level=level).items()]
            by_model += [("all models", own, overall)]
            by_model += [(model, own, one) for model, one in sorted(agreement_by_model(ratings, level=level).items())]
        tables = [
            ReportTable(name="judges", columns=_JUDGES, rows=tuple(_described(evidence, *one) for one in judges)),
            _figures("scorecard", "How it judges, in per cent", shares, "percent"),
            *([_figures("swayed", "What sways it, in points", points, "points")] if points else []),
        ]
        figures: tuple[Figure, ...] = ()
        if by_model:
            table = _by_model(by_model)
            tables.append(table)
            entries = tuple((f"{model}\n{who}", one) for model, who, one in table.rows[:MOST_ENTRIES])
            title = "Agreement with people, by model: people beside judges"
            plot = Forest(title=title, entries=entries, form="percent")
            figures = (Figure(name="judges-beside-people", says=title, plot=plot),)
        title = "The judges, held to account"
        return Section(name="scorecard", title=title, words=tuple(words), figures=figures, tables=tuple(tables))


_JUDGES = (
    *(Column(name=name, title=name) for name in ("judge", "model", "settings")),
    *(
        Column(name=name, title=title, form="count")
        for name, title in (
            ("verdicts", "verdicts"),
            ("failures", "without a verdict"),
            ("broken", "left out with these"),
            ("omitted", "parts not shown"),
            ("tells", "works with tells"),
        )
    ),
    Column(name="last", title="last asked", form="date"),
    Column(name="checked", title="last held against people", form="date"),
)


def _described(evidence: Evidence, group: GraderGroup, its: Counted) -> tuple[CellValue, ...]:
    """What a judge is, its counts, and when it was last asked and people last graded."""
    planned = next((one for one in evidence.study.design.judges if one.plan.name == group.name), None)
    settings = "as last asked: the study froze none"
    if planned is not None:
        prompts = ", ".join(digest[:12] for digest in planned.prompt_digests)
        settings = f"{canonical_json(planned.plan.settings).decode()}, prompt {prompts}"
    telling = set(evidence.facts[Need.TELLS]["submission"])
    works = {its.pairs.submission.names[code] for code in np.unique(its.pairs.submission.codes).tolist()}
    people = None if evidence.group.kind in PROGRAMS else evidence.counted
    return (
        str(group),
        UNKNOWN_MODEL if planned is None else planned.plan.model,
        settings,
        its.n_counted,
        its.left_out[Rule.NO_VERDICT],
        its.left_out[Rule.BROKEN_ROUND],
        int(its.answers["omitted"].sum()),
        len(works & telling),
        None if evidence.rehearsed else _day(its),
        None if people is None or evidence.rehearsed else _day(people),
    )


UNKNOWN_MODEL = "not frozen"


def _day(counted: Counted) -> str | None:
    last = counted.answers["made_at"].max()
    return datetime.fromtimestamp(last / 1e6, UTC).date().isoformat() if isinstance(last, int) else None


def _figures(
    name: Id, title: str, rows: Sequence[tuple[str, str, Estimate]], form: Literal["percent", "points"]
) -> ReportTable:
    named = (Column(name="judge", title="judge"), Column(name="figure", title="figure"))
    estimate = Column(name="estimate", title="estimate", form=form)
    return ReportTable(name=name, title=title, columns=(*named, estimate), rows=tuple(rows))


def _by_model(rows: Sequence[tuple[str, str, Agreement]]) -> ReportTable:
    """People with each other and each judge with people, all models first."""
    cells: list[tuple[str, str, Estimate]] = []
    for model, who, one in rows:
        if not any(row[:2] == (model, "people with each other") for row in cells):
            cells.append((model, "people with each other", one.human_human))
        cells.append((model, who, one.human_auto))
    cells.sort(key=lambda row: (row[0] != "all models", row[0]))
    columns = (Column(name="model", title="work of"), Column(name="who", title="who with people"))
    return ReportTable(
        name="judges-beside-people",
        title="Agreement with people, by model",
        columns=(*columns, Column(name="agreement", title="agreement", form="percent")),
        rows=tuple(cells),
    )


def _beside(ratings: RatingsTable, overall: Agreement, level: float) -> Iterator[Named]:
    yield "agrees with people", overall.human_auto
    yield "people agree with each other", overall.human_human
    if (floor := best_constant(ratings, level=level)) is not None:
        yield f"{floor.verdict} agrees with people", floor.agreement


def _swayed(evidence: Evidence, group: GraderGroup, judge: Pairs) -> Mapping[str, Estimate]:
    """What place, length and kinship do to a judge's scores."""
    people = None if evidence.group.kind in PROGRAMS else evidence.pairs
    plan = next((one.plan for one in evidence.study.design.judges if one.plan.name == group.name), None)
    maker = None if plan is None else plan.maker or plan.model.partition("/")[0]
    kin = {one.name for one in evidence.study.authors if maker is not None and one.model.partition("/")[0] == maker}
    lengths = dict(evidence.facts[Need.LENGTHS].iter_rows())
    return what_sways(judge, people, words=lengths, kin=kin, level=evidence.level)


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
