"""The stage of human grading: open the hall, say what it asks of people, wait for them (or simulate them, named so)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping

import numpy as np
from pydantic import JsonValue

from guildhall.analysis.counting import LOOKED_AT, count
from guildhall.analysis.drawn_studies import (
    Assumed,
    DrawnStudy,
    Offer,
    PlannedWork,
    assumed_from,
    drawn_table,
    most_uncertain,
    next_offers,
)
from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.spreads import THESE
from guildhall.analysis.win_rates import win_rates
from guildhall.documents.looking import documents
from guildhall.domain.boswell import HumanResult
from guildhall.domain.halls import Role
from guildhall.domain.policy import PROGRAMS
from guildhall.domain.studies import Study
from guildhall.errors import NotEnoughData
from guildhall.grading.design import staffing
from guildhall.grading.opening import open_hall
from guildhall.grading.people import Roster
from guildhall.grading.queue import Queue
from guildhall.grading.simulation import simulate_hall
from guildhall.judging.preparing import Preparer
from guildhall.store.verdict_parts import read_verdicts
from guildhall.store.workspace import Workspace
from guildhall.study.judging import prepare_study
from guildhall.study.planning import planned_layout
from guildhall.study.policy import policies_of
from guildhall.study.studies import OpenStudy

Report = Mapping[str, JsonValue]


class People:
    """Experts compare blind. Without a `[people]` section the stage has nothing to do."""

    name = "people"

    def plan(self, study: OpenStudy) -> Report:
        if study.file.people is None:
            return {}
        frozen = study.frozen()
        design = frozen.design.hall
        layout = planned_layout(study, frozen, design)
        pool = _pool(study)
        needs = staffing(layout, design, pool=pool if not design.simulated_graders else None)
        return {
            "gradings": needs.gradings,
            "hours": round(needs.hours, 1),
            "cost_usd": needs.cost_usd,
            "graders_needed": dict(needs.graders_needed),
            "tasks_without_expert": len(layout.without_expert),
            "words": list(needs.words),
        }

    def run(self, study: OpenStudy) -> Report:
        if study.file.people is None:
            return {}
        frozen = study.frozen()
        design = frozen.design.hall
        prepare_study(study)
        with documents(study.workspace.path / "cache") as looking:
            opened = open_hall(study.workspace, frozen, Preparer(study.workspace, looking))
        facts: dict[str, JsonValue] = {"new_slots": opened.new_slots, "parts_not_shown": opened.omissions}
        if design.simulated_graders:
            done = simulate_hall(study.workspace, frozen, design, clock=time.time)
            facts |= {
                "simulated_judgments": done.judgments,
                "simulated_preferred_expert": done.preferred_expert,
                "simulated_ties": done.tied,
            }
        return {**facts, **self.status(study)}

    def status(self, study: OpenStudy) -> Report:
        if study.file.people is None:
            return {}
        return dict(Queue(study.workspace.store).progress(study.id))

    def progress(self, study: OpenStudy) -> None:  # noqa: ARG002 - opening makes no calls
        return None


def drawn_beforehand(study: OpenStudy) -> tuple[list[DrawnStudy], Assumed]:
    """What the people at hand, or fewer or more, would show of this study in its hours, or in half of them.

    Where people have judged already it is a pilot: how far they and the tasks differ is used, and no rate is looked at.
    """
    form = study.frozen()
    design, pool, asked = form.design.hall, sum(_pool(study).values()), _asked(form)
    sizes = {
        max(FEWEST_DRAWN, pool or design.graders_per_set),
        design.graders_per_set + 3,
        3 * design.graders_per_set + 3,
    }
    pilot, share = _pilot(study, form), design.share or 1.0
    assumed = Assumed() if pilot is None else assumed_from(pilot)
    return drawn_table(asked, assumed, graders=sorted(sizes), shares=(share / 2, share), seed=form.seed), assumed


def _asked(form: Study) -> PlannedWork:
    design = form.design.hall
    return PlannedWork(
        tasks=len(form.tasks),
        samples=max(form.plan.samples.values(), default=1),
        graders_per_set=design.graders_per_set,
        minutes=design.minutes_per_set,
        wage_usd=design.hourly_wage_usd,
    )


def next_best(study: OpenStudy) -> tuple[list[Offer], tuple[str, float] | None, Assumed]:
    """What one grader's hours more would do to the primary interval, spent in each way, the best first.

    And the occupation in which they would take most off what tasks add. Like a model of this study as it was judged:
    how far tasks and graders differ, how many judged and how much; no rate is looked at.
    """
    form = study.frozen()
    pilot = _pilot(study, form)
    if pilot is None:
        raise NotEnoughData(
            f"people gave fewer than {FEWEST_OF_A_PILOT} gradings of study {form.id!r}: nothing says yet how they "
            "differ; `guildhall study plan` tells what so many graders and hours would show"
        )
    assumed = assumed_from(pilot)
    graders = 0 if pilot.grader is None else len(np.unique(pilot.grader.codes[pilot.grader.codes >= 0]))
    models = len(np.unique(pilot.model.codes))
    offers = next_offers(
        _asked(form),
        assumed,
        graders=max(graders, 1),
        gradings=max(1, len(pilot.halves) // models),
        these_graders=form.plan.target == THESE,
        seed=form.seed,
    )
    tasks = Counter(task.occupation for task in study.tasks)
    return offers, most_uncertain(pilot, tasks, offers[0].gradings), assumed


FEWEST_DRAWN, FEWEST_OF_A_PILOT = 3, 30


def _pilot(study: OpenStudy, form: Study) -> Outcomes | None:
    """What people judged so far, where it is enough to say how they differ."""
    workspace = study.workspace
    verdicts = read_verdicts(workspace.store, [form.id], parts=workspace.verdict_parts, columns=LOOKED_AT, tried=form)
    for group, policy in policies_of(workspace, form, verdicts).items():
        if group.kind not in PROGRAMS:
            found = count(verdicts, policy)
            if found.n_counted >= FEWEST_OF_A_PILOT:
                return found.pairs.outcomes
    return None


def _pool(study: OpenStudy) -> dict[str, int]:
    """Graders at hand, an occupation."""
    pool: dict[str, int] = {}
    for member in Roster(study.workspace.store, pepper=b"").everyone(Role.GRADER):
        for occupation in member.occupations:
            pool[occupation] = pool.get(occupation, 0) + 1
    return pool


def people_results(workspace: Workspace, study: Study) -> list[HumanResult]:
    """Wins, ties and losses against the baseline by each group of people, as the report counts them."""
    verdicts = read_verdicts(workspace.store, [study.id], parts=workspace.verdict_parts, columns=LOOKED_AT, tried=study)
    found = []
    for group, policy in policies_of(workspace, study, verdicts).items():
        counted = count(verdicts, policy)
        if group.kind not in PROGRAMS and counted.n_counted:
            found += [
                HumanResult(model=one.model, kind=str(group), wins=one.wins, ties=one.ties, losses=one.losses)
                for one in win_rates(counted.outcomes)
            ]
    return sorted(found, key=lambda one: (one.model, one.kind))
