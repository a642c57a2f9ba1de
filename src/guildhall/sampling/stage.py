"""Sampling around its agents: what they may look at, what of their work is fetched, and the submission it becomes."""

from __future__ import annotations

from pathlib import Path

from guildhall.domain.authors import ModelRun
from guildhall.domain.submissions import OUR_FAULT, Problem, StopReason, Submission
from guildhall.domain.values import sha256
from guildhall.engine.agents import PROMPT_FILE, AgentEnd, AgentJob, AgentRoom, Collected, HostTool, Made
from guildhall.judging.pages import LOOK, Render, look_at_pages
from guildhall.sampling.collection import Collection, collect_files
from guildhall.sampling.elicitation import read_confidence
from guildhall.store.blobs import Blobs


class SamplingStage:
    """The `Stage` of sampling over one blob store."""

    def __init__(self, blobs: Blobs, render: Render) -> None:
        self._blobs = blobs
        self.tools: tuple[HostTool, ...] = (look_at_pages(render),)

    async def collect(self, job: AgentJob, room: AgentRoom | None, end: AgentEnd) -> Collection:
        stated = read_confidence(end.text)
        if room is None:
            collection = Collection(text=stated.text)
        else:
            placed = {file.path: file.digest for file in job.files}
            if job.command is not None:
                placed[PROMPT_FILE] = sha256(job.whole_prompt.encode())
            collection = await collect_files(
                room, placed=placed, named=end.named, text=stated.text, keep=self._blobs.put
            )
        collection.confidence = stated.confidence
        if stated.fault is not None:
            collection.problem("unreadable confidence", stated.fault)
        return collection

    def keep(self, job: AgentJob, end: AgentEnd, collected: Collected | None) -> Made:
        collection = collected if isinstance(collected, Collection) else Collection(text=end.text)
        problems = list(collection.problems)
        if end.error is not None:
            problems.append(Problem(rule=end.stop.value, words=end.error))
        submission = Submission(
            task=str(job.metadata["task"]),
            task_version=int(str(job.metadata["task_version"])),
            author=ModelRun.model_validate(job.metadata["author"]),
            text=collection.text,
            files=tuple(collection.files),
            stop=_stop(job, end, collection),
            seconds=end.seconds,
            usage=end.usage,
            confidence=collection.confidence,
            looked_at_pages=None if job.command is not None else end.tools_used.get(LOOK, 0) > 0,
            problems=tuple(problems),
            log=end.log,
            replaces=_replaced(job),
            made_at=end.made_at,
        )
        error = (end.error or end.stop.value) if submission.stop in OUR_FAULT else None
        return Made((submission,), result=submission.key, error=error)


def _stop(job: AgentJob, end: AgentEnd, collection: Collection) -> StopReason:
    """The end as it was, or "nothing delivered" for work that promised files (or anything at all) and has none."""
    if end.stop is not StopReason.FINISHED or not job.in_sandbox or collection.files:
        return end.stop
    promised = any(problem.rule == "promised but not delivered" for problem in collection.problems)
    return StopReason.NOTHING_DELIVERED if promised or not collection.text.strip() else end.stop


def _replaced(job: AgentJob) -> str | None:
    earlier = job.metadata.get("replaces")
    return None if earlier is None else str(earlier)


def render_cache(workspace: Path) -> Path:
    """Where the rendered pages of a workspace are kept between runs; it may be deleted at any time."""
    return workspace / "rendered"
