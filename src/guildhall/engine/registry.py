"""What Inspect finds of ours through its entry point: scripted models, the bubblewrap sandbox, and a scorer."""

from __future__ import annotations

from typing import Any

import anyio
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ContentImage,
    GenerateConfig,
    ModelAPI,
    ModelCall,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.model import StopReason as InspectStop
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
from inspect_ai.solver import TaskState
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo
from inspect_ai.util import SandboxEnvironment, sandboxenv

from guildhall.domain.submissions import StopReason
from guildhall.domain.values import canonical_json, sha256
from guildhall.engine.scripted import Answer, Said, ScriptedFailure, Turn, behaviour, count_tokens

__all__ = ["COLLECTED", "ScriptedAPI", "bubblewrap", "delivered", "scripted"]

COLLECTED = "guildhall_collected"
"""Where a sample's store says what was collected."""
_STOPS: dict[StopReason, InspectStop] = {
    StopReason.REFUSED: "content_filter",
    StopReason.TRUNCATED: "max_tokens",
}


@sandboxenv(name="bubblewrap")
def bubblewrap() -> type[SandboxEnvironment]:
    from guildhall.engine.bubblewrap import BubblewrapSandboxEnvironment

    return BubblewrapSandboxEnvironment


@scorer(metrics=[accuracy()])
def delivered() -> Scorer:
    """The score in Inspect's log: 1 when the agent finished and delivered what it named, else 0.

    It reads the log alone, so it can be given again; judging the work itself comes later.
    """

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - there is no right answer
        found = state.store.get(COLLECTED) or {}
        return Score(
            value=1 if found.get("delivered") else 0,
            answer=found.get("text") or state.output.completion,
            explanation=found.get("stop"),
            metadata={"files": found.get("files", [])},
        )

    return score


@modelapi(name="scripted")
def scripted() -> type[ModelAPI]:
    return ScriptedAPI


class ScriptedAPI(ModelAPI):
    """Answers by calling a behaviour. The same conversation gets the same answer, with the same message ids."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - Inspect's own signature
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self.model_args = model_args

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002 - Inspect's own signature
        tools: list[ToolInfo],
        tool_choice: ToolChoice,  # noqa: ARG002
        config: GenerateConfig,
    ) -> ModelOutput | tuple[ModelOutput, ModelCall]:
        turn = Turn(
            messages=tuple(_said(message) for message in input),
            tools=tuple(tool.name for tool in tools),
            settings=config.model_dump(exclude_none=True) | self.model_args,
        )
        # Looked up only now: a log of a behaviour this process does not know can still be scored again.
        answer = behaviour(self.model_name)(turn)
        if answer.seconds:
            await anyio.sleep(answer.seconds)
        return self._output(turn, answer)

    def _output(self, turn: Turn, answer: Answer) -> ModelOutput:
        spoken = answer.text + "".join(canonical_json(use.arguments).decode() for use in answer.tools)
        read = sum(count_tokens(said.text) + 1000 * said.images for said in turn.messages)
        used_in = read if answer.input_tokens is None else answer.input_tokens
        used_out = count_tokens(spoken) if answer.output_tokens is None else answer.output_tokens
        identity = sha256(canonical_json([turn.seed, self.model_name, spoken]))[:22]
        calls = [
            ToolCall(id=f"call-{identity[:12]}-{index}", function=use.tool, arguments=use.arguments)
            for index, use in enumerate(answer.tools)
        ]
        message = ChatMessageAssistant(
            id=identity, content=answer.text, tool_calls=calls or None, model=self.model_name, source="generate"
        )
        stop: InspectStop = "tool_calls" if calls else _STOPS.get(answer.stop, "stop")
        return ModelOutput(
            model=self.model_name,
            choices=[ChatCompletionChoice(message=message, stop_reason=stop)],
            usage=ModelUsage(
                input_tokens=used_in,
                output_tokens=used_out,
                total_tokens=used_in + used_out,
                reasoning_tokens=answer.reasoning_tokens or None,
            ),
        )

    async def count_text_tokens(self, text: str) -> int:
        return count_tokens(text)

    def should_retry(self, ex: Exception) -> bool:
        return isinstance(ex, ScriptedFailure) and ex.transient

    def max_connections(self) -> int:
        return 100

    def connection_key(self) -> str:
        return self.model_name


def _said(message: ChatMessage) -> Said:
    images = 0 if isinstance(message.content, str) else sum(isinstance(part, ContentImage) for part in message.content)
    tool = message.function if isinstance(message, ChatMessageTool) else None
    return Said(role=message.role, text=message.text, tool=tool, images=images)
