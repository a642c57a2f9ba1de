"""What grading will take, told before any work exists: planned submissions stand in for those still to be made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean

import tomlkit

from guildhall.analysis.drawn_studies import Assumed, PlannedWork, drawn_table
from guildhall.domain.halls import HallDesign
from guildhall.domain.judgments import Judgment
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.engine.prices import Prices
from guildhall.errors import InputError, UnknownName
from guildhall.grading.design import Layout, lay_out
from guildhall.grading.opening import gather, order_key
from guildhall.sampling.running import GUESS
from guildhall.store.records import Store
from guildhall.store.verdict_parts import read_verdicts
from guildhall.store.wordings import Wordings
from guildhall.study.studies import OpenStudy

ENOUGH_TO_PRICE = 200


def planned_layout(study: OpenStudy, form: Study, design: HallDesign) -> Layout:
    """The comparisons of everything that was made and is still to be made; for people those that were drawn."""
    tasks, made = gather(study.workspace, form)
    workspace = study.workspace
    tried = read_verdicts(workspace.store, [form.id], parts=workspace.verdict_parts, columns=(), tried=form).attempts
    known = {(one.task, one.author.key) for one in made}
    if tried is not None:  # what left nothing is not shown to graders, and is not made again
        known |= set(tried.filter("empty").select("id", "author").iter_rows())
    to_come = [
        Submission(task=item.task.id, task_version=item.task.version, author=item.author)
        for item in study.items
        if (item.task.id, item.author.key) not in known
    ]
    return lay_out(
        study=form.id,
        tasks=tasks,
        submissions=[*made, *to_come],
        design=design,
        seed=form.seed,
        order_key=order_key(study.workspace, form),
        baseline=form.baseline,
        as_kept=Wordings(study.workspace.store).as_kept,
        draw=form.design.draw if design.share is not None else None,
    )


def dollars_a_verdict(store: Store, graders: Iterable[str]) -> float | None:
    """What a verdict of these graders has cost so far; None before the first, or where a price is unknown."""
    costs: list[float] = []
    for grader in graders:
        for judgment in store.each(Judgment, grader=grader):
            if judgment.usage is None or judgment.usage.cost_usd is None:
                return None
            costs.append(judgment.usage.cost_usd)
            if len(costs) >= ENOUGH_TO_PRICE:
                break
    return fmean(costs) if costs else None


@dataclass(frozen=True)
class StudyBudget:
    """One size of a study on the gold set: how much of it is done, how often, and judged by how many."""

    name: str
    says: str
    tasks: int
    samples: int
    graders_per_set: int
    graders: int
    """People in all, as far as the width to expect goes by their number."""


BUDGETS = (
    StudyBudget("look", "whether anything is there: one try at a fifth of the tasks", 44, 1, 1, 44),
    StudyBudget("ranking", "which of several models does best: one try at every task", 220, 1, 1, 44),
    StudyBudget("publication", "as the paper did: three tries, three graders a set", 220, 3, 3, 132),
)


@dataclass(frozen=True)
class BudgetExpected:
    """What a budget takes, and what it shows. Dollars are unknown as soon as a price or a wage is."""

    budget: str
    says: str
    tasks: int
    calls: int
    model_usd: float | None
    hours: float
    people_usd: float | None
    width: float | None
    smallest_difference: float | None


def budgets_of(tasks: Sequence[Task], models: Sequence[str], prices: Prices, *, at: datetime) -> list[BudgetExpected]:
    """The three budgets on this bank, for these models; widths are drawn as `guildhall study plan` draws them."""
    wages = [task.hourly_wage_usd for task in tasks]
    known = [wage for wage in wages if wage is not None]
    wage = fmean(known) if known and len(known) == len(wages) else None
    item = [prices.price(model, GUESS, at=at).cost_usd for model in models]
    rows = []
    for one in BUDGETS:
        n_tasks = min(one.tasks, len(tasks))
        items = n_tasks * one.samples
        minutes = HallDesign().minutes_per_set
        asked = PlannedWork(n_tasks, one.samples, one.graders_per_set, minutes, wage)
        [drawn] = drawn_table(asked, Assumed(), graders=[one.graders], shares=(1.0,))
        rows.append(
            BudgetExpected(
                budget=one.name,
                says=one.says,
                tasks=n_tasks,
                calls=len(models) * items * GUESS.calls,
                model_usd=None if None in item else items * sum(cost or 0.0 for cost in item),
                hours=len(models) * drawn.hours,
                people_usd=None if drawn.cost_usd is None else len(models) * drawn.cost_usd,
                width=drawn.width,
                smallest_difference=drawn.smallest_difference,
            )
        )
    return rows


def gold_file(study_id: str, title: str, models: Sequence[str], budget: str, *, judge: str | None) -> str:
    """The study file of one budget, to be edited: everything else has its own default."""
    chosen = next((one for one in BUDGETS if one.name == budget), None)
    if chosen is None:
        raise UnknownName("budget", budget, known=[one.name for one in BUDGETS])
    names = [model.rpartition("/")[2].replace(":", "-") for model in models]
    if len(set(names)) < len(names):
        raise InputError("two of these models have one name; write the file with one and add the other by hand")
    sections = {
        "study": {"id": study_id, "title": title, "seed": 1},
        "tasks": {"first": chosen.tasks},
        "authors": [
            {"name": name, "model": model, "tools": "code", "condition": "elicited", "samples": chosen.samples}
            for name, model in zip(names, models, strict=True)
        ],
        "people": {"graders_per_set": chosen.graders_per_set},
    }
    if judge is not None:
        sections["judges"] = [{"name": "judge", "model": judge}]
    return tomlkit.dumps(sections)
