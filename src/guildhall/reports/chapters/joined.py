"""People's grades of a drawn share joined with a judge's of everything: the rate three ways, and the judge's bias."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from guildhall.analysis.counting import Counted
from guildhall.analysis.evidence import Evidence, Need
from guildhall.analysis.joined import MANY_UNGIVEN, JoinedRate, joined_differences, joined_rates
from guildhall.domain.estimates import Estimate
from guildhall.domain.policy import PROGRAMS, GraderGroup, GroupKind
from guildhall.domain.report import WARNING, Column, Figure, Forest, ReportTable, Section
from guildhall.reports.chapters.headline import MOST_MODELS, only_the_best
from guildhall.reports.number_format import at_level, rate_name, shown

_COLUMNS = (
    Column(name="model", title="model"),
    Column(name="joined", title="joined", form="percent"),
    Column(name="people", title="people alone", form="percent"),
    Column(name="judge", title="judge alone", form="percent"),
    Column(name="bias", title="judge too kind (+) or too strict (-), points", form="points"),
    Column(name="drawn", title="drawn", form="count"),
    Column(name="graded", title="graded", form="count"),
    Column(name="gradings", title="gradings", form="count"),
    Column(name="ungiven", title="not given", form="count"),
    Column(name="least", title="joined, those lost", form="percent"),
    Column(name="most", title="joined, those won", form="percent"),
    Column(name="correlation", title="correlation of judge and people", form="number"),
    Column(name="lambda", title="weight of the judge", form="number"),
    Column(name="worth", title="worth gradings", form="number"),
    Column(name="ceiling", title="at most", form="number"),
)
_MOST_NAMED = 6
"""So many models are told of in words; the table holds all."""


class Joined:
    """The joined estimate beside people alone and the judge alone; None where people were not to grade a share."""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section | None:
        plan = evidence.study.plan.graders
        if plan.kind is not GroupKind.PEOPLE_AND_JUDGE:
            return None
        judge = next((one for group, one in evidence.others.items() if group.name == plan.name), None)
        if evidence.group.kind in PROGRAMS and any(_stands(evidence, group) for group in evidence.others):
            return None  # a program's own report was asked for
        if why := _why_nothing(evidence, judge):
            return Section(name="joined", title="People and the judge, joined", words=(f"{WARNING}{why}",))
        assert judge is not None  # noqa: S101 - asked before
        convention, level = evidence.study.plan.convention, evidence.level
        rates = joined_rates(evidence.counted, judge, wanted=evidence.wanted, convention=convention, level=level)
        rates.sort(key=lambda one: (-(one.joined.value or 0.0), one.model))
        name = str(plan.name)
        words = (*_ungiven(rates), *_lead(evidence, rates, name), *_bias(rates, name), *_worth(evidence, rates))
        tables = (_table(evidence, rates, name), *_differences(rates, evidence.level))
        return Section(
            name="joined",
            title="People and the judge, joined",
            words=words,
            figures=tuple(_figures(rates, evidence)),
            tables=tables,
        )


def _stands(evidence: Evidence, group: GraderGroup) -> bool:
    """Whether a group is of people, or of simulated graders where they stand for people."""
    return group.of_people or (group.kind is GroupKind.SIMULATED and bool(evidence.study.design.rehearsal))


def _why_nothing(evidence: Evidence, judge: Counted | None) -> str | None:
    """Why people and the judge cannot be joined here."""
    name = evidence.study.plan.graders.name
    if not _stands(evidence, evidence.group):
        draw = evidence.study.design.draw
        drawn = "" if draw is None else f" of {sum(len(one.pairs) for one in draw.authors.values())} drawn pairs"
        return f"people gave none of their gradings{drawn}: nothing is known of how kind or strict {name} is."
    if judge is None:
        return f"{name} gave no verdict that counts: people's gradings of the drawn share stand alone."
    return None


def _ungiven(rates: Sequence[JoinedRate]) -> Iterator[str]:
    """Where more than a few drawn gradings were never given, that comes first."""
    asked, lacking = (sum(getattr(one, name) for one in rates) for name in ("gradings", "ungiven"))
    asked += lacking
    if asked and lacking / asked > MANY_UNGIVEN:
        yield (
            f"{WARNING}{lacking} of {asked} gradings of drawn work were not given ({100 * lacking / asked:.0f} %). Who "
            "did not grade may differ from who did: the table has the joined rates with all of them lost and won."
        )


def _lead(evidence: Evidence, rates: Sequence[JoinedRate], judge: str) -> Iterator[str]:
    for one in rates[:_MOST_NAMED]:
        told = shown(one.joined, "percent")
        alone, its = (shown(estimate, "percent").line for estimate in (one.people, one.judge))
        yield (
            f"Against the {evidence.baseline}, {one.model} has a joined {rate_name(evidence.study.plan.convention)} "
            f"rate of {told.line}; people alone {alone}; {judge} alone {its}."
        )


def _bias(rates: Sequence[JoinedRate], judge: str) -> Iterator[str]:
    """By how much the judge is too kind or too strict: what joining is for."""
    told = []
    for one in rates[:_MOST_NAMED]:
        value, interval = one.bias.value, one.bias.interval
        if value is None or interval is None:
            told.append(f"{one.model}: unknown ({one.bias.why_no_interval})")
            continue
        low, high = (100 * end for end in interval)
        kind = "too kind" if value > 0 else "too strict"
        sure = "" if low > 0 or high < 0 else ", not shown to be either"
        told.append(f"{one.model}: {kind} by {abs(100 * value):.1f} points ({low:+.1f} to {high:+.1f}{sure})")
    if told:
        yield f"How {judge} judges beside people: {'; '.join(told)}."


def _worth(evidence: Evidence, rates: Sequence[JoinedRate]) -> Iterator[str]:
    """What the judge spares of people's work, and the most it could."""
    known = [(one, one.worth) for one in rates if one.worth is not None and one.gradings]
    if not known:
        return
    given = sum(one.gradings for one, _ in known)
    worth = sum(n for _, n in known)
    hall = evidence.study.design.hall
    minutes, source = _minutes(evidence)
    hours = max(worth - given, 0.0) * minutes / 60
    dollars = "" if hall.hourly_wage_usd is None else f", {hours * hall.hourly_wage_usd:,.0f} dollars"
    most = sum(one.ceiling or float(one.gradings) for one, _ in known)
    yield (
        f"Joined, the {given} gradings that people gave are worth {worth:.0f} over all models (at most {most:.0f} at "
        f"this agreement, if graders did not differ): {hours:.1f} hours of people's work spared{dollars}, at "
        f"{minutes:.0f} minutes a grading ({source}); what the judge cost is not taken off."
    )


def _minutes(evidence: Evidence) -> tuple[float, str]:
    seen = evidence.pairs.active_s[~np.isnan(evidence.pairs.active_s)]
    if len(seen):
        return float(seen.mean()) / 60, "as they took"
    return evidence.study.design.hall.minutes_per_set, "as planned"


def _table(evidence: Evidence, rates: Sequence[JoinedRate], judge: str) -> ReportTable:
    rows = tuple(
        (
            one.model,
            one.joined,
            one.people,
            one.judge,
            one.bias,
            one.drawn,
            one.graded,
            one.gradings,
            one.ungiven,
            one.least,
            one.most,
            one.rho,
            one.lam,
            one.worth,
            one.ceiling,
        )
        for one in rates
    )
    return ReportTable(
        name="joined",
        columns=_COLUMNS,
        rows=rows,
        words=tuple(_small_print(evidence, rates, judge)),
        traced=False,
        long_form="whose",
    )


def _small_print(evidence: Evidence, rates: Sequence[JoinedRate], judge: str) -> Iterator[str]:
    draws = [wave.design.draw for wave in evidence.waves if wave.design.draw is not None]
    told = ", ".join(
        f"{len(one.pairs)} of {one.planned} pairs of {name}"
        for draw in draws
        for name, one in sorted(draw.authors.items())
    )
    yield (
        f"Drawn before the first judgment, each with the same chance within a model: {told}. A drawn pair stays drawn, "
        "and is offered to another grader when one gives it back or lets it lapse."
    )
    for words, number in (
        ("were decided by a rule of the plan, and are known", sum(one.decided for one in rates)),
        (
            f"are on tasks that {judge} cannot grade: only people's drawn gradings speak for them",
            sum(one.ungradable for one in rates),
        ),
        (
            f"have no verdict of {judge} though it can grade them, and count as its mean on that model",
            sum(one.unjudged - one.ungradable for one in rates),
        ),
    ):
        if number:
            yield f"{number} of {sum(one.works for one in rates)} works {words}."
    yield (
        "Joined: the judge's verdicts of everything, corrected by what people said of the drawn share. Bias: the "
        "judge's mean verdict less people's, over work that it graded. Worth: how many gradings by people alone would "
        "be as sure; at most: the same if graders did not differ, at the correlation seen here."
    )
    yield from _stopping(evidence, rates)


def _stopping(evidence: Evidence, rates: Sequence[JoinedRate]) -> Iterator[str]:
    """Whether the plan's rule ends the study here."""
    width = evidence.study.plan.looks.width
    if width is None:
        return
    seen = [None if one.joined.half_width is None else 2 * one.joined.half_width for one in rates]
    known = [one for one in seen if one is not None]
    rule = f"The plan stops when joined intervals are {100 * width:g} points wide"
    if len(known) < len(seen):
        yield f"{rule}: a model has none yet, so it goes on."
    elif known:
        reached = "so it stops here" if max(known) <= width else "so it goes on"
        yield f"{rule}: the widest is {100 * max(known):.1f}, {reached}."


def _differences(rates: Sequence[JoinedRate], level: float) -> Iterator[ReportTable]:
    rows = joined_differences(rates, level=level)
    if rows:
        yield ReportTable(
            name="joined-differences",
            title="Differences between models, joined",
            columns=(
                Column(name="first", title="model"),
                Column(name="second", title="less"),
                Column(name="difference", title="difference, points", form="points"),
            ),
            rows=tuple(rows),
            words=(f"All intervals of this table hold together in {at_level(level)} of studies.",),
            folded=True,
        )


def _figures(rates: Sequence[JoinedRate], evidence: Evidence) -> Iterator[Figure]:
    best, subtitle = rates[:MOST_MODELS], only_the_best(len(rates))
    rate = rate_name(evidence.study.plan.convention)
    three: tuple[tuple[str, Estimate], ...] = tuple(
        (f"{one.model}\n{who}", estimate)
        for one in best
        for who, estimate in (("joined", one.joined), ("people alone", one.people), ("judge alone", one.judge))
    )
    title = f"{rate.capitalize()} rate: joined, people alone, judge alone"
    plot = Forest(title=title, subtitle=subtitle, entries=three, form="percent", reference=0.5)
    yield Figure(name="joined", says=title, plot=plot)
    title = "How far the judge is too kind (right) or too strict (left)"
    biases = tuple((one.model, one.bias) for one in best)
    plot = Forest(title=title, subtitle=subtitle, entries=biases, form="points", reference=0.0)
    yield Figure(name="judge-bias", says=title, plot=plot)
