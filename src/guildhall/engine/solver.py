"""What happens in one sample: files are laid out, the agent works within its limits, and its work is collected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from guildhall.domain.submissions import StopReason, Usage
from guildhall.engine.agents import PROMPT_FILE, SUBMIT, AgentJob, AgentRoom
from guildhall.engine.attempts import BOOK
from guildhall.engine.desk import DESK, OFFICE, Desk, Office
from guildhall.engine.faults import disk_is_full, fault_around_work, fault_at_work, in_words
from guildhall.engine.models import ReadBlob, stop_of
from guildhall.engine.terms import Limits
from guildhall.errors import SandboxError, StoreError
from guildhall.observe.redact import redact
from guildhall.observe.spans import Doing, span

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage
    from inspect_ai.solver import Generate, Solver, TaskState

    from guildhall.engine.inspect_private import Limit

_NUDGES = 2
COMMAND_SECONDS = 3600.0
"""How long a command-line agent may take where no limit is set."""
ONE_DATE = "2000-01-01T00:00:00Z"
"""What placed files are dated, where a date could tell something."""

_STOPS = {
    "time": StopReason.TIME_LIMIT,
    "working": StopReason.TIME_LIMIT,
    "token": StopReason.TOKEN_LIMIT,
    "turn": StopReason.TURN_LIMIT,
    "message": StopReason.TURN_LIMIT,
    "cost": StopReason.COST_LIMIT,
}
"""Inspect's kinds of limits in our words; its "operator" limit is how a run that may spend no more stops a sample."""


def do_job(read_blob: ReadBlob) -> Solver:
    """The solver of every job of ours."""
    from inspect_ai.solver import solver

    @solver(name="guildhall_job")
    def job_solver() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
            import guildhall.engine.hooks  # noqa: F401 - registers them
            from guildhall.engine.inspect_private import running_sample

            office = OFFICE.get()
            if office is None:
                raise RuntimeError("this log was made by Guildhall; run it again with `guildhall sample run`")
            desk = office.open_desk(str(state.sample_id))
            desk.sample = running_sample()
            if (why := office.purse.exhausted()) is not None:
                office.leave(desk, why)
                return state
            at_desk, in_book = DESK.set(desk), BOOK.set(desk.book)
            try:
                with span(Doing.ITEM, kind="agent", model=desk.job.model):
                    return await _at_work(office, desk, state, read_blob)
            finally:
                DESK.reset(at_desk)
                BOOK.reset(in_book)

        return solve

    return job_solver()


async def _at_work(office: Office, desk: Desk, state: TaskState, read_blob: ReadBlob) -> TaskState:
    from inspect_ai.util import sandbox

    from guildhall.engine.registry import COLLECTED
    from guildhall.engine.tools import SandboxRoom

    room = SandboxRoom(sandbox()) if desk.job.in_sandbox else None
    with _no_fault_of_the_author(desk):
        if room is not None:
            await _lay_out(desk.job, room, read_blob)
    await _within_limits(office, desk, state, room)
    if not desk.left:
        with _no_fault_of_the_author(desk):
            if room is not None and (full := disk_is_full()) is not None:
                raise StoreError(full)
            collected = await office.stage.collect(desk.job, room, desk.end(seconds=None))
            state.store.set(COLLECTED, collected.note() | {"stop": desk.stop.value})
        desk.collected, desk.ended = collected, True
    return state


@contextmanager
def _no_fault_of_the_author(desk: Desk) -> Iterator[None]:
    """What fails here ends the job by its own name, to be tried again; Inspect's log tells the error too."""
    try:
        yield
    except Exception as error:
        desk.fail(fault_around_work(error), in_words(error))
        raise


async def _lay_out(job: AgentJob, room: AgentRoom, read_blob: ReadBlob) -> None:
    for placed in job.files:
        await room.write(placed.path, await to_thread.run_sync(read_blob, placed.digest))
    if job.one_date and job.files:
        ran = await room.run(["touch", "--date", ONE_DATE, "--", *(placed.path for placed in job.files)])
        if ran.code != 0:
            raise SandboxError(f"the files could not be dated alike: {redact(ran.err)[:200]}")


async def _within_limits(office: Office, desk: Desk, state: TaskState, room: AgentRoom | None) -> None:
    """Work until it is done or a limit, a failure or an empty purse ends it; every end has its name."""
    from inspect_ai.util import LimitExceededError, apply_limits

    limits = _limits(office.terms.limits)
    try:
        with apply_limits(limits):
            await _work(office, desk, state, room)
    except LimitExceededError as reached:
        await desk.call_failed(reached.message)
        if reached.type == "operator":
            office.leave(desk, reached.message)
            return
        desk.stop = _STOPS.get(reached.type, StopReason.COST_LIMIT)
    except Exception as error:  # noqa: BLE001 - whatever a provider or a sandbox raises is how this job ended
        words = in_words(error)
        await desk.call_failed(words)
        desk.stop, desk.error = fault_at_work(error), words


def _limits(limits: Limits) -> list[Limit]:
    """Limits of time and tokens are Inspect's; turns and dollars are counted at the desk, before each call."""
    from inspect_ai.util import time_limit, token_limit

    return [time_limit(limits.item_seconds), token_limit(limits.item_tokens)]


async def _work(office: Office, desk: Desk, state: TaskState, room: AgentRoom | None) -> None:
    if desk.job.command is not None and room is not None:
        await _run_command(office, desk, room)
    elif desk.job.tools:
        await _use_tools(office, desk, state)
    else:
        await _answer_once(desk, state)


async def _answer_once(desk: Desk, state: TaskState) -> None:
    from inspect_ai.model import ChatMessageSystem, get_model

    if desk.job.system:
        state.messages.insert(0, ChatMessageSystem(content=desk.job.system))
    state.output = await get_model().generate(state.messages)
    state.messages.append(state.output.message)
    desk.text, desk.stop = state.output.completion, stop_of(state.output)


async def _use_tools(office: Office, desk: Desk, state: TaskState) -> None:
    """Inspect's own agent loop with our tools; it ends when the agent submits, or stops using tools for good."""
    from inspect_ai.agent import AgentPrompt, AgentState, AgentSubmit, react

    from guildhall.engine.tools import host_tool, shell_tools, submit_tool

    submit = AgentSubmit(tool=submit_tool(desk.submit), answer_only=True, keep_in_messages=True)
    own = [host_tool(tool) for tool in office.stage.tools if tool.name in desk.job.tools]
    worker = react(
        prompt=AgentPrompt(
            instructions=desk.job.system, handoff_prompt=None, assistant_prompt=None, submit_prompt=None
        ),
        tools=[*shell_tools(desk.job), *own],
        submit=submit if desk.job.submits else False,
        on_continue=_Nudge() if desk.job.submits else None,
        truncation="auto",
    )
    conversation = AgentState(messages=state.messages)
    try:
        await worker(conversation)
    finally:
        state.messages, state.output = conversation.messages, conversation.output
        desk.tools_used = _tools_called(state.messages)
    if desk.named is None:
        desk.text = conversation.output.completion
        desk.stop = stop_of(conversation.output)


async def _run_command(office: Office, desk: Desk, room: AgentRoom) -> None:
    """A command-line agent: what it prints is its last word, what it leaves behind is collected like any other."""
    await room.write(PROMPT_FILE, desk.job.whole_prompt.encode())
    ran = await room.run(list(desk.job.command or ()), timeout_s=office.terms.limits.item_seconds or COMMAND_SECONDS)
    desk.text = ran.out.strip()
    desk.usage = Usage()  # whatever a program asks of whom, and pays: nobody tells us
    if ran.code != 0:
        desk.stop, desk.error = StopReason.PROVIDER_FAILED, redact(f"exit code {ran.code}: {ran.err.strip()[-1500:]}")


def _tools_called(messages: list[ChatMessage]) -> Counter[str]:
    from inspect_ai.model import ChatMessageAssistant

    spoken = (message for message in messages if isinstance(message, ChatMessageAssistant))
    return Counter(call.function for message in spoken for call in message.tool_calls or ())


class _Nudge:
    """Ask an agent that neither acts nor submits to go on, a few times; then its last words stand."""

    def __init__(self) -> None:
        self.silent = 0

    async def __call__(self, state: Any) -> bool | str:
        if state.output.message.tool_calls:
            self.silent = 0
            return True
        self.silent += 1
        if self.silent > _NUDGES:
            return False
        return f"Go on with the work. When it is finished, call `{SUBMIT}` with your final message and the files."
