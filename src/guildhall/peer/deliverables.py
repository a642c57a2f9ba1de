"""Marking deliverables instead of essays: the models of a study mark each other's work, blinded, task by task.

Graders see a submission as every judge does: scrubbed files under neutral names, as text and pages, with nothing that
says who made it. What an author may have hidden in its files reaches graders as data between tags it cannot forge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from guildhall.domain.authors import ModelRun
from guildhall.domain.boswell import Essay, HumanResult, RunRecord
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.engine.calls import FilePart, TextPart
from guildhall.errors import NotEnoughData, UnknownName
from guildhall.judging.preparing import Preparer
from guildhall.judging.requests import Budget, material
from guildhall.peer.asking import Asking, MarkingRequest
from guildhall.peer.prompts import deliverable_prompt, fenced_parts
from guildhall.store.workspace import Workspace

Part = TextPart | FilePart


def find_study(workspace: Workspace, name: str) -> Study:
    """The latest form of a study that began in this workspace."""
    found = workspace.store.find(Study, id=name)
    if not found:
        raise UnknownName("study", name, fix="a study is known once `guildhall study run` has begun it")
    return found[-1]


def study_submissions(workspace: Workspace, study: Study) -> Iterator[tuple[Task, Submission]]:
    """The models' submissions of a study that can be marked: the latest of each, with something delivered."""
    taking_part = {author.key for author in study.authors}
    for task in workspace.store.get_all(Task, study.tasks):
        made = [one for one in workspace.store.find(Submission, task=task.id) if one.task_key == task.key]
        replaced = {submission.replaces for submission in made}
        for submission in made:
            current = submission.key not in replaced and submission.author.key in taking_part
            if current and isinstance(submission.author, ModelRun) and (submission.files or submission.text.strip()):
                yield task, submission


@dataclass(frozen=True)
class MarkingDeliverables:
    """One such run under way; its `domain` is the study, and each task is an essay question of its own."""

    asking: Asking
    study: Study
    preparer: Preparer
    started_at: datetime
    budget: Budget = field(default_factory=Budget)
    human: tuple[HumanResult, ...] = ()
    """What people made of the same deliverables, as the study's report counts it."""

    def run(self) -> RunRecord:
        """Every model's mark of every deliverable, kept in the workspace."""
        workspace = self.asking.workspace
        requests = [self._request(task, made) for task, made in study_submissions(workspace, self.study)]
        if not requests:
            raise NotEnoughData(
                f"study {self.study.id!r} has no deliverables of models yet; run `guildhall study run` first"
            )
        marks = self.asking.marks(requests)
        essays = [request.essay for request in requests]
        workspace.store.add_all([*essays, *marks])
        return RunRecord(
            run=self.asking.terms.run,
            domain=self.study.id,
            title=f"Deliverables of {self.study.title}",
            started_at=self.started_at,
            essays=tuple(essays),
            marks=tuple(marks),
            domain_digest=self.study.content_digest(),
            rounds=self.asking.plan.rounds,
            human=self.human,
        )

    def _request(self, task: Task, submission: Submission) -> MarkingRequest:
        read_blob = self.asking.workspace.blobs.read
        work = material("The work", self.preparer.submission(submission, task), read_blob=read_blob, budget=self.budget)
        references: Sequence[Part] = ()
        if task.reference_files:
            known = self.preparer.references(task)
            references = material("Reference files", known, read_blob=read_blob, budget=self.budget).parts
        instructions, fence = deliverable_prompt(
            task.occupation, submission.key, composites=self.asking.plan.composites
        )
        parts = (TextPart(text=f"## The brief\n\n{task.brief}"), *references, *fenced_parts(work.parts, fence))
        return MarkingRequest(self._essay(task, submission), instructions, parts)

    def _essay(self, task: Task, submission: Submission) -> Essay:
        author = submission.author
        if not isinstance(author, ModelRun):
            raise UnknownName("model", author.key)
        return Essay(
            run=self.asking.terms.run,
            domain=task.id,
            author=author,
            text=submission.text,
            stop=submission.stop.value,
            seconds=submission.seconds,
            usage=submission.usage,
            submission=submission.key,
            made_at=submission.made_at,
        )
