"""Sound and moving pictures go to judges that can take them; for the others they are a counted omission, or no task."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from guildhall.domain.authors import Expert, ModelRun
from guildhall.domain.judges import PanelPlan
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.prepared import VERSION, Prepared, PreparedFile
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.domain.values import sha256
from guildhall.engine.calls import FilePart
from guildhall.engine.terms import Terms
from guildhall.grading.judges.asking import Kept
from guildhall.grading.judges.desk import JudgeDesk
from guildhall.grading.judges.graders import ByPanel
from guildhall.grading.judges.queue import judge
from guildhall.grading.judges.verdicts import build_question
from tests.grading.scripted_judges import judge_plan

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KINDS = {"audio": ("wav", ".wav", "audio/wav"), "video": ("mp4", ".mp4", "video/mp4")}


class RecordingPreparer:
    """Prepares every submission as one recording of a kind."""

    def __init__(self, workspace, medium: str) -> None:
        self.kind, self.ending, _ = KINDS[medium]
        self.digest = workspace.blobs.put(b"a recording")

    def submission(self, submission: Submission, task: Task) -> Prepared:
        file = PreparedFile(kind=self.kind, ending=self.ending, copied=self.digest, copied_as=self.kind)
        return Prepared(subject=submission.key, version=VERSION, files=(file,))

    def references(self, task: Task) -> Prepared:
        return Prepared(subject=sha256(task.id.encode()), version=VERSION, files=())


def recorded(workspace, medium: str) -> tuple[JudgeDesk, Comparison]:
    task = Task(id="t", sector="Information", occupation="Editors", brief="Record it.")
    made = [
        Submission(task="t", author=author, text="", made_at=NOW)
        for author in (Expert(), ModelRun(name="m", model="maker/m"))
    ]
    comparison = Comparison(study="s", task="t", submissions=(made[0].key, made[1].key))
    workspace.store.add_all([task, *made, comparison])
    return JudgeDesk(workspace, RecordingPreparer(workspace, medium), [task]), comparison  # type: ignore[arg-type]


def judges_who_spoke(workspace) -> set[str]:
    return {one.grader.name for one in workspace.store.find(Judgment)} - {"panel"}


@pytest.mark.parametrize("medium", KINDS)
def test_recordings_reach_only_members_that_take_them(workspace, medium):
    desk, comparison = recorded(workspace, medium)
    members = (judge_plan("always-a"), judge_plan("instant", takes=("image", medium)))
    panel = ByPanel(PanelPlan(name="panel", members=members))
    assert judge(panel, [comparison], desk=desk, terms=Terms(run="r"), sweeps=1).verdicts == 2
    assert judges_who_spoke(workspace) == {"instant"}
    (asked, *_) = Kept(workspace.store, ()).missing([comparison], sweeps=1, again=False)
    sent = [part for part in build_question(members[1], asked, desk).messages[1].parts if isinstance(part, FilePart)]
    assert [(part.name, part.media_type) for part in sent] == [
        (f"{side}-1{KINDS[medium][1]}", KINDS[medium][2]) for side in "AB"
    ]


@pytest.mark.parametrize("medium", KINDS)
def test_where_no_member_takes_a_recording_all_are_asked_and_the_omission_is_counted(workspace, medium):
    desk, comparison = recorded(workspace, medium)
    members = (judge_plan("always-a"), judge_plan("instant"))
    judge(ByPanel(PanelPlan(name="panel", members=members)), [comparison], desk=desk, terms=Terms(run="r"), sweeps=1)
    assert judges_who_spoke(workspace) == {"always-a", "instant"}
    kept = workspace.store.find(Judgment)
    assert len(kept) == 6 and all(one.omissions == {"A": 1, "B": 1} for one in kept)
