"""Best of N for a study: its tasks, its submissions, its seed, its purse."""

from __future__ import annotations

from guildhall.domain.submissions import Submission
from guildhall.judging.picking import picking_judge
from guildhall.sampling.best_of import Picking, pick_best
from guildhall.sampling.stage import render_cache
from guildhall.study.studies import OpenStudy


def pick_for_study(study: OpenStudy, *, judge: str, n: int) -> Picking:
    """Pick among the tries of each of the study's authors; asked again, it answers from what is kept."""
    from guildhall.documents.looking import documents
    from guildhall.judging.preparing import Preparer

    authors = sorted({item.author.key for item in study.items})
    submissions = study.workspace.store.find(Submission, author=authors)
    with documents(render_cache(study.workspace.path)) as looking:
        return pick_best(
            study.tasks,
            submissions,
            judge=picking_judge(judge.replace("/", "-"), judge),
            workspace=study.workspace,
            preparer=Preparer(study.workspace, looking),
            terms=study.terms,
            n=n,
            seed=study.file.study.seed,
        )
