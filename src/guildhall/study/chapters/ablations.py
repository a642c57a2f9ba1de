"""What does one setting do? Authors that differ in exactly one, compared paired by task; and best of N with one try."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from guildhall.analysis.paired import paired_difference
from guildhall.domain.ablations import Ablation
from guildhall.domain.authors import ModelRun
from guildhall.domain.estimates import Estimate
from guildhall.domain.findings import TaskRates
from guildhall.domain.picks import Pick
from guildhall.domain.values import canonical_json
from guildhall.errors import NothingPaired
from guildhall.study.evidence import Evidence
from guildhall.study.rows import words_in
from guildhall.study.task_rates import task_rates

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


def ablations_of(evidence: Evidence, rates: TaskRates) -> tuple[Ablation, ...]:
    """Every change of one setting the study holds, then what picking the best of N tries does."""
    runs: dict[str, ModelRun] = {}
    for study in evidence.waves():
        runs |= {run.name: run for run in reversed(study.authors)}
    judged = [run for name, run in runs.items() if name in rates.win]
    changed = [_ablation(setting, base, other, rates) for setting, base, other in one_setting_apart(judged)]
    return (*changed, *_best_of(evidence))


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


def _ablation(setting: str, base: ModelRun, changed: ModelRun, rates: TaskRates) -> Ablation:
    return Ablation(
        setting=setting,
        base=base.name,
        base_level=_level(base, setting),
        changed=changed.name,
        changed_level=_level(changed, setting),
        difference={
            name: _difference(rates.of(changed.name, name), rates.of(base.name, name), (changed.name, base.name))
            for name in CONVENTIONS
        },
    )


def _best_of(evidence: Evidence) -> list[Ablation]:
    """The tries a judge picked against all tries of the same author on the same task; tries not judged are unknown."""
    judged = set(words_in(evidence.rows.submission))
    picks = [pick for pick in evidence.workspace.store.each(Pick) if pick.chosen in judged]
    made = []
    for author, n in dict.fromkeys((pick.author, len(pick.order)) for pick in picks):
        mine = [pick for pick in picks if (pick.author, len(pick.order)) == (author, n)]
        whole = [pick for pick in mine if set(pick.order) <= judged]
        if not whole:
            continue
        chosen = _rates_of(evidence, {str(pick.chosen) for pick in whole})
        tries = _rates_of(evidence, {key for pick in whole for key in pick.order})
        [name] = chosen.win
        made.append(
            Ablation(
                setting="best of N",
                base=name,
                base_level="one try",
                changed=name,
                changed_level=f"best of {n}",
                difference={
                    one: _difference(chosen.of(name, one), tries.of(name, one), (f"best of {n}", "one try"))
                    for one in CONVENTIONS
                },
            )
        )
    return made


def _rates_of(evidence: Evidence, submissions: set[str]) -> TaskRates:
    rows = evidence.rows
    wanted = np.array([name in submissions for name in rows.submission.names], dtype=np.bool_)
    return task_rates(rows.keep(wanted[rows.submission.codes]).outcomes(), evidence.study)


def _difference(changed: Mapping[str, float], base: Mapping[str, float], names: tuple[str, str]) -> Estimate:
    try:
        return paired_difference(changed, base, names=names).to_estimate()
    except NothingPaired as error:
        what = f"{names[0]} minus {names[1]}, mean over tasks"
        return Estimate(value=None, estimand=what, method="none", n_tasks=0, why_no_interval=str(error))
