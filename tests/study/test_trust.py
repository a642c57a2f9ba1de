"""Whether one may trust the graders: agreement beside its floor, judges beside people, results without tells."""

from __future__ import annotations

import pytest

from guildhall.analysis.evidence import Evidence
from guildhall.domain.authors import Expert, ModelRun
from guildhall.domain.prepared import Prepared, PreparedFile
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.reports.chapters.faults import Tells
from guildhall.reports.chapters.graders import GraderAgreement
from guildhall.store.workspace import Workspace
from guildhall.study.evidence import read_evidence
from tests.study.made import judged_by_program
from tests.study.test_failures import study  # noqa: F401 - a fixture: twelve tasks, every judgment lost
from tests.study.told import figures


def evidence_of(workspace: Workspace, made: Study) -> Evidence:
    return read_evidence(workspace, made)


def test_a_judge_stands_beside_people_and_beside_the_best_constant_verdict(
    workspace: Workspace,
    study: Study,  # noqa: F811
) -> None:
    judged_by_program(workspace, "s", wins=3)
    found = GraderAgreement().section(evidence_of(workspace, study))
    by_name = {name: one.value for name, one in figures(found).items()}
    assert by_name["graders with each other"] == 1
    assert by_name["judge with them"] == pytest.approx(9 / 12)
    assert by_name["always-human with them (constant)"] == 1, "people never preferred the model, nor does this constant"


def test_pairs_with_a_tell_on_either_side_are_left_out_beside_the_whole(
    workspace: Workspace,
    study: Study,  # noqa: F811
) -> None:
    assert Tells().section(evidence_of(workspace, study)) is None, "nothing was found in any file"
    mine = [one.key for one in workspace.store.each(Submission) if isinstance(one.author, ModelRun)]
    own, other = mine[:2]
    expert = next(one.key for one in workspace.store.find(Submission, task="t-5") if isinstance(one.author, Expert))
    workspace.store.add(Prepared(subject=own, version="2", files=(), tells=("signed by its maker",)))
    spoken = (PreparedFile(kind="docx", ending="docx", tells=("names a model",)),)
    workspace.store.add(Prepared(subject=other, version="2", files=spoken))
    workspace.store.add(Prepared(subject=expert, version="2", files=(), tells=("names a firm",)))
    found = Tells().section(evidence_of(workspace, study))
    assert found is not None and "6 of 24 judged pairs" in found.words[0]
    assert [(name, one.n_tasks) for name, one in figures(found).items()] == [
        ("alpha: all pairs", 12),
        ("alpha: without tells", 9),
    ]
