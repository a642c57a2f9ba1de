"""A run of calls in a process of its own, for tests that kill it."""

from __future__ import annotations

import json
import sys
from datetime import date
from pathlib import Path
from typing import Any

from guildhall.domain.prices import Price
from guildhall.engine.calls import Call, Reply
from guildhall.engine.oneshot import OnReply, run_calls
from guildhall.engine.prices import Prices
from guildhall.engine.terms import Pace, Terms
from guildhall.store.workspace import Workspace
from tests.warm import Forked

ROOT = Path(__file__).parents[2]
KEY = "sk-canary-7d1f0e55aa"
QUESTION = "what the prompt says is nobody's business"
RUN = "asked"
PRICED = "openai-api/own/priced"
PRICES = Prices({PRICED: Price(input_usd=10.0, output_usd=100.0, as_of=date(2026, 1, 1))})


def start(
    workspace: Path, model: str, settings: dict[str, Any], *, variables: dict[str, str] | None = None, **more: Any
) -> Forked:
    """Let the process ask one question, or as many as `questions` says, and print each answer when it hears it.

    `pace` has settings of `Pace`; `variables` are added to its environment.
    """
    orders = json.dumps({"workspace": str(workspace), "model": model, "settings": settings, **more})
    environ = {"OWN_API_KEY": KEY, "OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY} | (variables or {})
    out, errors = (workspace.parent / f"caller.{ending}" for ending in ("out", "err"))
    return Forked(main, orders, out=out, errors=errors, folder=ROOT, environment=environ)


def ask(
    workspace: Workspace,
    model: str,
    settings: dict[str, Any],
    *,
    questions: int = 1,
    on_reply: OnReply | None = None,
    **pace: Any,
) -> list[str]:
    calls = [Call.ask(model, f"{QUESTION} {number}", settings=settings) for number in range(questions)]
    terms = Terms(run=RUN, pace=Pace(**pace), prices=PRICES)
    answers = run_calls(calls, workspace=workspace, terms=terms, on_reply=on_reply)
    return [reply.error or reply.text for call in calls if (reply := answers.of(call)) is not None]


def main(told: str) -> None:
    orders = json.loads(told)
    with Workspace.open(Path(orders["workspace"])) as workspace:
        pace, questions = orders.get("pace", {}), orders.get("questions", 1)
        ask(workspace, orders["model"], orders["settings"], questions=questions, on_reply=_say, **pace)


def _say(_call: Call, reply: Reply) -> None:
    sys.stdout.write(f"{reply.text}\n")
    sys.stdout.flush()
