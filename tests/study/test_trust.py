"""Whether one may trust the graders: agreement beside its floor, judges beside people, results without tells."""

from __future__ import annotations

import pytest

from guildhall.domain.authors import Expert, ModelGrader, ModelRun
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.prepared import Prepared, PreparedFile
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.store.workspace import Workspace
from guildhall.study.chapters import agreement, tells
from guildhall.study.evidence import Evidence, gather_evidence
from tests.study.test_failures import study  # noqa: F401 - a fixture: twelve tasks, every judgment lost
from tests.study.test_findings import MOMENT


def evidence_of(workspace: Workspace, made: Study) -> Evidence:
    return gather_evidence(workspace, made, baseline="expert", grader_kind=None)


def judged_by_program(workspace: Workspace, *, wins: int) -> None:
    """A judge gives the model the win on so many tasks, where people never did."""
    for number, comparison in enumerate(workspace.store.find(Comparison, study="s")):
        ranks = (2, 1) if number < wins else (1, 2)
        order = {"comparison": comparison.key, "order": comparison.submissions, "ranks": ranks}
        grader = ModelGrader(name="judge", model="scripted/judge", prompt_digest="0" * 64)
        workspace.store.add(Judgment.model_validate(order | {"grader": grader, "made_at": MOMENT, "reason": "so"}))


def test_a_judge_stands_beside_people_and_beside_the_best_constant_verdict(
    workspace: Workspace,
    study: Study,  # noqa: F811
) -> None:
    judged_by_program(workspace, wins=3)
    found = agreement.chapter(evidence_of(workspace, study))
    assert found is not None
    by_name = {one.name: one.estimate.value for one in found.figures}
    assert by_name["graders with each other"] == 1
    assert by_name["judge with them"] == pytest.approx(9 / 12)
    assert by_name["always-human with them (constant)"] == 1, "people never preferred the model, nor does this constant"


def test_pairs_with_a_tell_on_either_side_are_left_out_beside_the_whole(
    workspace: Workspace,
    study: Study,  # noqa: F811
) -> None:
    evidence = evidence_of(workspace, study)
    assert tells.chapter(evidence) is None, "nothing was found in any file"
    mine = [one.key for one in workspace.store.each(Submission) if isinstance(one.author, ModelRun)]
    own, other = mine[:2]
    expert = next(one.key for one in workspace.store.find(Submission, task="t-5") if isinstance(one.author, Expert))
    workspace.store.add(Prepared(subject=own, version="2", files=(), tells=("signed by its maker",)))
    spoken = (PreparedFile(kind="docx", ending="docx", tells=("names a model",)),)
    workspace.store.add(Prepared(subject=other, version="2", files=spoken))
    workspace.store.add(Prepared(subject=expert, version="2", files=(), tells=("names a firm",)))
    found = tells.chapter(evidence)
    assert found is not None and "6 of 24 judged pairs" in found.words
    assert [(one.name, one.estimate.n_tasks) for one in found.figures] == [
        ("alpha: all pairs", 12),
        ("alpha: without tells", 9),
    ]
