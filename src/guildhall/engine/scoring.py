"""The score in Inspect's log: whether something was delivered. It reads the log alone, so it can be given again."""

from __future__ import annotations

from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
from inspect_ai.solver import TaskState

COLLECTED = "guildhall_collected"
"""Where a sample's store says what was collected."""


@scorer(metrics=[accuracy()])
def delivered() -> Scorer:
    """1 when the agent finished and delivered what it named, else 0; judging the work itself comes later."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - there is no right answer
        found = state.store.get(COLLECTED) or {}
        return Score(
            value=1 if found.get("delivered") else 0,
            answer=found.get("text") or state.output.completion,
            explanation=found.get("stop"),
            metadata={"files": found.get("files", [])},
        )

    return score
