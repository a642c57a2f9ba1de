"""Inspect's hooks as we use them: limits are kept before each model call, and results leave as each sample ends.

Imported by the first job that runs, and not at start: Inspect announces every hook it finds at start on standard
output. Outside our own evals (no office in the context) the hooks do nothing.
"""

from __future__ import annotations

from inspect_ai.hooks import (
    BeforeModelGenerate,
    Hooks,
    ModelCacheUsageData,
    SampleEnd,
    hooks,
)
from inspect_ai.util import LimitExceededError

from guildhall.engine.desk import DESK, OFFICE, RunLimitReached
from guildhall.engine.inspect_private import is_cancellation_message


@hooks(name="guildhall", description="Keeps Guildhall's ledger of model calls and its results.")
class GuildhallHooks(Hooks):
    def enabled(self) -> bool:
        return OFFICE.get() is not None

    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:  # noqa: ARG002 - the desk knows
        if (desk := DESK.get()) is None:
            return
        limits = desk.terms.limits
        if limits.item_usd is not None and (desk.usage.cost_usd or 0.0) >= limits.item_usd:
            raise LimitExceededError("cost", value=desk.usage.cost_usd or 0.0, limit=limits.item_usd)
        if limits.item_turns is not None and desk.turns >= limits.item_turns:
            raise LimitExceededError("turn", value=desk.turns, limit=limits.item_turns)
        try:
            desk.want_call()
        except RunLimitReached as reached:
            raise LimitExceededError("operator", value=0, limit=0, message=str(reached)) from reached

    async def on_model_cache_usage(self, data: ModelCacheUsageData) -> None:  # noqa: ARG002 - costs nothing
        if (desk := DESK.get()) is not None:
            desk.call_was_cached()

    async def on_sample_end(self, data: SampleEnd) -> None:
        if (office := OFFICE.get()) is None:
            return
        key, error = str(data.sample.id), data.sample.error
        if error is not None and not is_cancellation_message(error.message):
            office.never_began(key, error.message)
        await office.sample_ended(key, data.sample.working_time)
