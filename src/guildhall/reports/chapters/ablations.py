"""What does one setting do? Authors that differ in exactly one, compared paired by task; and best of N with one try."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from guildhall.analysis.evidence import Evidence, Need
from guildhall.analysis.paired import paired_difference, people_of, rates_by_task
from guildhall.analysis.pairs import words_in
from guildhall.domain.authors import ModelRun
from guildhall.domain.estimates import Estimate
from guildhall.domain.report import Column, Figure, Forest, ReportTable, Section, TaskRates
from guildhall.domain.values import canonical_json
from guildhall.errors import NothingPaired
from guildhall.reports.number_format import rate_name

CONVENTIONS = ("win", "win_or_tie", "half_tie")
UNSET = "not set"
ROOM = "room"
_ORDERS: Mapping[str, Sequence[str]] = {
    "reasoning_effort": (UNSET, "none", "minimal", "low", "medium", "high", "xhigh", "max"),
    "prompt": ("plain", "elicited", "own"),
    "context": ("full", "under-specified"),
    "tools": (UNSET, "none", "code", "code + GET", "code + web search"),
}
"""From less to more, where a setting has such an order; other levels follow the study file."""


class Ablation(NamedTuple):
    """What one change of one setting did: changed minus base, paired by task, by each convention for ties."""

    setting: str
    base: str
    base_level: str
    changed: str
    changed_level: str
    difference: dict[str, Estimate]

    @property
    def title(self) -> str:
        return f"{self.setting.replace('_', ' ')}: {self.base_level} to {self.changed_level}"

    @property
    def who(self) -> str:
        return self.base if self.base == self.changed else f"{self.changed} against {self.base}"


class Ablations:
    """Every change of one setting the study holds, then what picking the best of N tries does."""

    needs = frozenset({Need.PICKS})

    def section(self, evidence: Evidence) -> Section | None:
        runs: dict[str, ModelRun] = {}
        for study in evidence.waves:
            runs |= {run.name: run for run in reversed(study.authors)}
        names = {one.model for one in evidence.rates}
        found = [
            _ablation(setting, base, other, evidence.task_rates, evidence.level)
            for setting, base, other in one_setting_apart([run for name, run in runs.items() if name in names])
        ]
        found += _best_of(evidence)
        return ablations_section(found) if found else None


def ablations_section(found: Sequence[Ablation]) -> Section:
    """Differences as a figure and a table."""
    entries = tuple((f"{one.title}\n{one.who}", one.difference["win_or_tie"]) for one in found)
    plot = Forest(title="What one setting does to win or tie, paired by task", entries=entries, form="points")
    words = "Changed minus base in points, paired by task: everything but the named setting is the same."
    return Section(
        name="ablations",
        title="What one setting does",
        words=(words,),
        figures=(Figure(name="ablations", says="Differences by setting, with intervals", plot=plot),),
        tables=(_table(found),),
    )


def _table(found: Sequence[Ablation]) -> ReportTable:
    names = ("setting", "base", "base_level", "changed", "changed_level")
    return ReportTable(
        name="ablations",
        columns=(
            *(Column(name=name, title=name.replace("_", " ")) for name in names),
            *(Column(name=name, title=rate_name(name), form="points") for name in CONVENTIONS),
        ),
        rows=tuple((*one[:-1], *map(one.difference.get, CONVENTIONS)) for one in found),
        folded=True,
        long_form="convention",
    )


def settings_of(run: ModelRun) -> dict[str, str]:
    """Everything that may differ between two runs of one model, by the name a reader knows it under."""
    own = {name: one if isinstance(one, str) else canonical_json(one).decode() for name, one in run.settings.items()}
    prompt = run.condition if run.condition != "own" else f"own {(run.prompt_digest or '')[:8]}"
    room = run.room.content_digest()[:8] if run.room is not None else UNSET
    return {**own, "prompt": prompt, "tools": run.tools or UNSET, "context": run.brief, ROOM: room}


def one_setting_apart(runs: Sequence[ModelRun]) -> Iterator[tuple[str, ModelRun, ModelRun]]:
    """(Setting, base, changed): runs of one model alike in all but one setting; the lowest level is the base."""
    described = [(run, settings_of(run)) for run in runs]
    if len({settings[ROOM] for _, settings in described} - {UNSET}) < 2:
        # Whoever has no tools has no room either: one room for all others is no setting of its own.
        described = [(run, {**settings, ROOM: UNSET}) for run, settings in described]
    for setting in dict.fromkeys(name for _, settings in described for name in settings):
        alike: dict[Any, list[ModelRun]] = {}
        for run, settings in described:
            rest = tuple(sorted((name, level) for name, level in settings.items() if name != setting))
            alike.setdefault((run.model, rest), []).append(run)
        for group in alike.values():
            base, *others = sorted(group, key=lambda run: _place(setting, _level(run, setting)))
            yield from ((setting, base, other) for other in others if _level(other, setting) != _level(base, setting))


def _level(run: ModelRun, setting: str) -> str:
    return settings_of(run).get(setting, UNSET)


def _place(setting: str, level: str) -> tuple[int, float]:
    order = _ORDERS.get(setting, ())
    if level in order:
        return order.index(level), 0.0
    try:
        return len(order), float(level)
    except ValueError:
        return len(order) + (level != UNSET), 0.0


def _ablation(setting: str, base: ModelRun, changed: ModelRun, rates: TaskRates, level: float) -> Ablation:
    return Ablation(
        setting=setting,
        base=base.name,
        base_level=_level(base, setting),
        changed=changed.name,
        changed_level=_level(changed, setting),
        difference={
            name: _difference((rates, changed.name), (rates, base.name), name, (changed.name, base.name), level)
            for name in CONVENTIONS
        },
    )


def _best_of(evidence: Evidence) -> list[Ablation]:
    """The tries a judge picked against all tries of the same author on the same task; tries not judged are unknown."""
    judged = set(words_in(evidence.pairs.submission))
    picks = evidence.facts[Need.PICKS].filter(pl.col("chosen").is_in(list(judged)))
    made = []
    for (_, n), mine in picks.group_by("author", pl.col("order").list.len(), maintain_order=True):
        whole = [(chosen, order) for _, chosen, order in mine.iter_rows() if set(order) <= judged]
        if not whole:
            continue
        chosen = _rates_of(evidence, {one for one, _ in whole})
        tries = _rates_of(evidence, {key for _, order in whole for key in order})
        [name] = chosen.win
        names = (f"best of {n}", "one try")
        difference = {
            one: _difference((chosen, name), (tries, name), one, names, evidence.level) for one in CONVENTIONS
        }
        made.append(Ablation("best of N", name, "one try", name, f"best of {n}", difference))
    return made


def _rates_of(evidence: Evidence, submissions: set[str]) -> TaskRates:
    pairs = evidence.pairs
    wanted = np.array([name in submissions for name in pairs.submission.names], dtype=np.bool_)
    return rates_by_task(pairs.keep(wanted[pairs.submission.codes]).outcomes, evidence.waves)


def _difference(
    changed: tuple[TaskRates, str], base: tuple[TaskRates, str], convention: str, names: tuple[str, str], level: float
) -> Estimate:
    means = [rates.of(model, convention) for rates, model in (changed, base)]
    people = people_of(*changed, convention), people_of(*base, convention)
    try:
        return paired_difference(means[0], means[1], names=names, people=people, level=level)
    except NothingPaired as error:
        what = f"{names[0]} minus {names[1]}, mean over tasks"
        return Estimate(value=None, level=level, estimand=what, method="none", n_tasks=0, why_no_interval=str(error))
