"""What is made of a study's work: the best of N tries, under-specified briefs, rubric marks as figures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from statistics import fmean

import numpy as np

from guildhall.analysis.intervals import mean_of_cluster_means, t_estimate
from guildhall.domain.authors import Expert
from guildhall.domain.estimates import Estimate
from guildhall.domain.judges import RubricMark
from guildhall.domain.picks import Pick
from guildhall.domain.submissions import Submission
from guildhall.domain.values import Value
from guildhall.domain.variants import BriefVariant
from guildhall.engine.terms import Terms
from guildhall.errors import InputError, ModelError, UnknownName, UnreadableFile
from guildhall.judging.fences import PURPOSE
from guildhall.judging.rubrics import picking_judge
from guildhall.sampling.derived import Picking, draft_variants, pick_best, variant_by_hand
from guildhall.sampling.stage import render_cache
from guildhall.store.workspace import Workspace
from guildhall.study.studies import OpenStudy
from guildhall.taskbank.listing import latest_tasks


def pick_for_study(study: OpenStudy, *, judge: str, n: int) -> Picking:
    """Pick among the tries of each of the study's authors; asked again, it answers from what is kept."""
    from guildhall.documents.looking import documents
    from guildhall.judging.preparing import Preparer

    authors = sorted({item.author.key for item in study.items})
    store, name = study.workspace.store, judge.replace("/", "-")
    submissions = store.find(Submission, author=authors)
    # A judge that picked before there were fences goes on without: its picks were paid for.
    unfenced = picking_judge(name, judge, fenced=False)
    before = any(one.judge.key == unfenced.key for one in store.find(Pick, task=[task.id for task in study.tasks]))
    with documents(render_cache(study.workspace.path)) as looking:
        return pick_best(
            study.tasks,
            submissions,
            judge=unfenced if before else picking_judge(name, judge),
            fence_key=None if before else study.workspace.key_for(PURPOSE),
            workspace=study.workspace,
            preparer=Preparer(study.workspace, looking),
            terms=study.terms,
            n=n,
            seed=study.file.study.seed,
        )


def add_variant(
    task_id: str, *, brief: Path | None, model: str | None, confirmed_by: str | None, workspace: Workspace
) -> BriefVariant:
    """Keep a variant written by hand, or a model's draft; a draft can be confirmed by giving its text as a file."""
    task = latest_tasks(workspace.store).get(task_id)
    if task is None:
        raise UnknownName("task", task_id, fix="import it with `guildhall tasks import`")
    if (brief is None) == (model is None):
        raise InputError("give the shorter brief with --brief FILE, or let a model draft it with --model MODEL")
    if brief is not None:
        try:
            text = brief.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UnreadableFile(brief, f"cannot be read as text ({error})") from error
        variant = variant_by_hand(task, text, made_by=f"file {brief.name}", confirmed_by=confirmed_by)
    else:
        if confirmed_by is not None:
            raise InputError("a model's draft is confirmed after it was read: save it, then give it with --brief")
        drafts, faults = draft_variants([task], model=model or "", workspace=workspace, terms=Terms(run="underspecify"))
        if not drafts:
            raise ModelError(f"no variant of {task_id!r}: {faults[task_id]}")
        variant = drafts[0]
    workspace.store.add(variant)
    return variant


def mean_token_ratio(workspace: Workspace) -> tuple[float, int]:
    """The mean token ratio of the newest variant of each task, and of how many."""
    newest = {(one.task, one.task_version): one.token_ratio for one in workspace.store.each(BriefVariant)}
    return fmean(newest.values()), len(newest)


class RubricScore(Value):
    """One author under one rubric judge. A mark with an unreadable item has no score; it is counted.

    `repeat_noise` is the mean distance between two marks of one submission; `quotations_found` the share of quotations
    that really stand in the work.
    """

    judge: str
    author: str
    score: Estimate
    raw_points: float | None
    repeat_noise: float | None
    quotations_found: float | None
    marks: int
    without_score: int


def rubric_scores(marks: Iterable[tuple[RubricMark, Submission]]) -> list[RubricScore]:
    """A row for every judge and author; the expert's row is the ceiling the others are read against."""
    grouped: dict[tuple[str, str], list[RubricMark]] = defaultdict(list)
    for mark, submission in marks:
        author = submission.author
        name = "expert" if isinstance(author, Expert) else author.name
        grouped[f"{mark.grader.name} ({'whole' if mark.whole else 'item by item'})", name].append(mark)
    return [_score(judge, author, found) for (judge, author), found in sorted(grouped.items())]


def _score(judge: str, author: str, marks: list[RubricMark]) -> RubricScore:
    scored = [(mark, score) for mark in marks if (score := mark.score) is not None]
    quoted = [item.found for mark in marks for item in mark.items if item.found is not None]
    raw = [points for mark in marks if (points := mark.raw_points) is not None]
    return RubricScore(
        judge=judge,
        author=author,
        score=_mean([score for _, score in scored], [mark.task for mark, _ in scored]),
        raw_points=float(np.mean(raw)) if raw else None,
        repeat_noise=_noise(scored),
        quotations_found=float(np.mean(quoted)) if quoted else None,
        marks=len(marks),
        without_score=len(marks) - len(scored),
    )


def _mean(scores: list[float], tasks: list[str]) -> Estimate:
    what = "mean over tasks of the share of rubric points"
    if not scores:
        return Estimate(value=None, estimand=what, method="none", why_no_interval="no mark has a score")
    value, spread = mean_of_cluster_means(np.array(scores), np.unique(np.array(tasks), return_inverse=True)[1])
    return t_estimate(value, spread, estimand=what, method="t over tasks", n_samples=len(scores))


def _noise(scored: list[tuple[RubricMark, float]]) -> float | None:
    repeats: dict[str, list[float]] = defaultdict(list)
    for mark, score in scored:
        repeats[mark.submission].append(score)
    apart = [abs(one - other) for scores in repeats.values() for one, other in combinations(scores, 2)]
    return float(np.mean(apart)) if apart else None
