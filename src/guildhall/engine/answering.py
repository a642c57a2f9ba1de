"""Questions that are worked on: as with one-shot calls a reply comes back, but a sandbox and tools come before it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import JsonValue

from guildhall.domain.submissions import OUR_FAULT, StopReason
from guildhall.engine.agents import AgentEnd, AgentJob, AgentRoom, Collected, HostTool, Made
from guildhall.engine.calls import Reply
from guildhall.engine.evals import run_agents
from guildhall.engine.oneshot import Answers, known_replies
from guildhall.engine.sandboxes import Sandbox
from guildhall.engine.terms import Terms
from guildhall.store.work import Work
from guildhall.store.workspace import Workspace


def answer_with_tools(
    jobs: Iterable[AgentJob],
    *,
    tools: tuple[HostTool, ...],
    workspace: Workspace,
    terms: Terms,
    sandbox: Sandbox,
    at_once: int,
) -> Answers:
    """Let every job be worked on once and keep its last words as a reply, by job key.

    What `run_calls` promises holds here too: killed and started again, nothing is asked or paid for twice, and a job
    that another run already did is answered from there.
    """
    wanted = {job.key: job for job in jobs}
    run = run_agents(
        wanted.values(), stage=_Answering(tools), workspace=workspace, terms=terms, sandbox=sandbox, at_once=at_once
    )
    replies = known_replies(Work(workspace.store), wanted, terms.run)
    faults = {key: end.error or end.stop.value for key, end in run.finished.items() if key not in replies}
    return Answers(replies, left=run.left, why_left=run.why_left, faults=faults)


@dataclass(frozen=True)
class _Said:
    """Nothing is fetched from the sandbox: the last words are all there is."""

    text: str

    def note(self) -> dict[str, JsonValue]:
        return {"delivered": bool(self.text.strip()), "text": self.text, "files": [], "problems": []}


@dataclass(frozen=True)
class _Answering:
    tools: tuple[HostTool, ...]

    async def collect(self, job: AgentJob, room: AgentRoom | None, end: AgentEnd) -> Collected:  # noqa: ARG002
        return _Said(end.text)

    def keep(self, job: AgentJob, end: AgentEnd, collected: Collected | None) -> Made:  # noqa: ARG002
        if end.stop in OUR_FAULT - {StopReason.PROVIDER_FAILED}:  # no reply of anybody's: it is asked for again
            return Made((), result=None, error=end.error or end.stop.value)
        reply = Reply(
            call=job.key,
            text=end.text,
            stop=end.stop,
            error=end.error,
            usage=end.usage,
            seconds=end.seconds,
            made_at=end.made_at,
        )
        return Made((), result=reply.model_dump_json(), error=reply.error)
