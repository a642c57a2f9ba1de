"""What grading will take, told before any work exists: planned submissions stand in for those still to be made."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

from guildhall.domain.halls import HallDesign
from guildhall.domain.judgments import Judgment
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.grading.design import Layout, lay_out
from guildhall.grading.opening import gather, order_key
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
