"""Scripted models: plain functions that stand in for a model, deterministic and offline.

A behaviour is a function from the conversation so far to the next answer:

    @scripted("always-b-plus")
    def always_b_plus(turn: Turn) -> Answer:
        return Answer(text="A fair essay.\n\nGrade: B+")

It is used like any other model, as `scripted/always-b-plus`. Another process knows only behaviours whose module
it has imported, so long-lived configurations name it in full: `scripted/package.module:always_b_plus`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from guildhall.domain.submissions import StopReason, Usage
from guildhall.domain.values import canonical_json, sha256
from guildhall.errors import UnknownName

PREFIX = "scripted/"
SHIPPED = {
    "careful": "guildhall.sampling.scripts:careful",
    "careless": "guildhall.sampling.scripts:careless",
    "picker": "guildhall.judging.stand_ins:picker",
    "recounter": "guildhall.judging.stand_ins:recounter",
    "word-counter": "guildhall.judging.stand_ins:word_counter",
}
"""Short names of behaviours that live with the stage they belong to; loaded when first used."""


@dataclass(frozen=True)
class Said:
    """One message of the conversation, as text."""

    role: str
    text: str
    tool: str | None = None
    images: int = 0


@dataclass(frozen=True)
class Turn:
    """What a behaviour is given: the conversation so far, the tools it may call, and the call's settings."""

    messages: tuple[Said, ...]
    tools: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def prompt(self) -> str:
        """The last thing the user said."""
        return next((said.text for said in reversed(self.messages) if said.role == "user"), "")

    @property
    def number(self) -> int:
        """How many answers were given before this one."""
        return sum(said.role == "assistant" for said in self.messages)

    @property
    def seed(self) -> int:
        """A number that is the same for the same conversation, for behaviours that vary."""
        said = [[message.role, message.text] for message in self.messages]
        return int(sha256(canonical_json([said, self.settings.get("seed")]))[:12], 16)


@dataclass(frozen=True)
class ToolUse:
    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What a behaviour answers. Usage is counted from the words unless given; `seconds` is how long it takes."""

    text: str = ""
    tools: tuple[ToolUse, ...] = ()
    stop: StopReason = StopReason.FINISHED
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int = 0
    seconds: float = 0.0


class ScriptedFailure(Exception):
    """Raised by a behaviour to fail as a provider would; a transient failure is tried again."""

    def __init__(self, words: str, *, status: int = 500) -> None:
        self.status = status
        super().__init__(words)

    @property
    def transient(self) -> bool:
        return self.status == 429 or self.status >= 500


Script = Callable[[Turn], Answer]


@dataclass(frozen=True)
class Behaviour:
    """A script under its name. With `tokens_per_second` its work counts as having taken what it wrote at that pace.

    `expects` is what one piece of its work takes, about, for plans made before there is any.
    """

    name: str
    script: Script
    tokens_per_second: float | None = None
    expects: Usage | None = None

    def __call__(self, turn: Turn) -> Answer:
        return self.script(turn)


_REGISTERED: dict[str, Behaviour] = {}


def scripted(
    name: str, *, tokens_per_second: float | None = None, expects: Usage | None = None
) -> Callable[[Script], Behaviour]:
    """Register a function as the model `scripted/<name>`."""

    def register(script: Script) -> Behaviour:
        _REGISTERED[name] = Behaviour(name, script, tokens_per_second, expects)
        return _REGISTERED[name]

    return register


def behaviour(name: str) -> Behaviour:
    """The behaviour of a name, or of `module:attribute`; anything that is not a behaviour is refused."""
    if name in _REGISTERED:
        return _REGISTERED[name]
    module, colon, attribute = SHIPPED.get(name, name).partition(":")
    if colon:
        try:
            found = getattr(importlib.import_module(module), attribute, None)
        except ImportError:
            found = None
        if isinstance(found, Behaviour):
            return found
    raise UnknownName("scripted model", name, known=sorted({*_REGISTERED, *SHIPPED}))


def seconds_by_script(model: str, usage: Usage) -> float | None:
    """What work of a scripted model took by its script, however busy the machine was; None where no script says."""
    known = _behaviour_of(model) if usage.calls else None
    return None if known is None or known.tokens_per_second is None else usage.output_tokens / known.tokens_per_second


def expected_by_script(model: str) -> Usage | None:
    """What one piece of work of a scripted model takes, about; None where no script says."""
    known = _behaviour_of(model)
    return None if known is None else known.expects


def _behaviour_of(model: str) -> Behaviour | None:
    provider, _, name = model.partition("/")
    try:
        return behaviour(name) if provider == "scripted" else None
    except UnknownName:
        return None


def count_tokens(text: str) -> int:
    """A token for every four bytes: stable, offline, and close enough for a stand-in."""
    return (len(text.encode()) + 3) // 4


@scripted("echo")
def echo(turn: Turn) -> Answer:
    return Answer(text=turn.prompt)


@scripted("refuses")
def refuses(turn: Turn) -> Answer:  # noqa: ARG001 - says the same whatever it is asked
    return Answer(text="I cannot help with that.", stop=StopReason.REFUSED)


@scripted("truncated")
def truncated(turn: Turn) -> Answer:
    return Answer(text=turn.prompt[: len(turn.prompt) // 2], stop=StopReason.TRUNCATED)


@scripted("fails")
def fails(turn: Turn) -> Answer:  # noqa: ARG001 - fails whatever it is asked
    raise ScriptedFailure("the scripted provider refuses this request", status=400)
