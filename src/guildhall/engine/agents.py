"""What an agent is given, where it works and how it ended: the values between a stage and the evals that run it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from pydantic import JsonValue

from guildhall.domain.submissions import StopReason, Usage
from guildhall.domain.values import Digest, Value

SHELL_TOOLS = ("bash", "python", "read_file", "write_file", "edit_file")
"""Tools that run in the sandbox, as agents know them."""

SUBMIT = "submit"
"""The tool by which an agent ends its work, names its deliverables and says its last words."""

PROMPT_FILE = "prompt.md"
"""Where a command-line agent finds its instructions and the brief."""

BARE_HOST = "the bare host, unconfined"
"""The only words by which work may run outside a sandbox."""


@dataclass(frozen=True)
class PlacedFile:
    """A file put into the sandbox before work begins."""

    path: str
    digest: Digest


@dataclass(frozen=True)
class AgentJob:
    """One agent at one piece of work. `key` is the digest of everything that may change the outcome.

    Without tools the model answers once, and no sandbox is opened. `command` runs a program in the sandbox
    instead of a model. A job that `submits` ends with the tool of that name; any other ends with the first message that
    uses no tool, and that message is its work. With `one_date` all placed files carry the same date.
    """

    key: str
    label: str
    model: str
    prompt: str
    system: str | None = None
    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    files: tuple[PlacedFile, ...] = ()
    tools: tuple[str, ...] = SHELL_TOOLS
    web_search: bool = False
    submits: bool = True
    one_date: bool = False
    command: tuple[str, ...] | None = None
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def in_sandbox(self) -> bool:
        return bool(self.tools or self.command)

    @property
    def whole_prompt(self) -> str:
        """Instructions and brief in one text, for programs that take one."""
        return self.prompt if self.system is None else f"{self.system}\n\n{self.prompt}"


@dataclass(frozen=True)
class Ran:
    """A command that ended by itself."""

    code: int
    out: str
    err: str


AT_ITS_LIMIT = "ended by the sandbox"
"""What a room of ours adds to the error stream of a command that it ended because what lives in it took too much."""


class AgentRoom(Protocol):
    """The sandbox of one job, while it lives. Paths are relative to the work folder."""

    async def run(self, argv: list[str], *, stdin: str | None = None, timeout_s: float = 60) -> Ran: ...

    async def read(self, path: str) -> bytes: ...

    async def write(self, path: str, content: bytes) -> None: ...


@dataclass(frozen=True)
class Shown:
    """What a tool of ours answers an agent with: words, and pictures as PNG."""

    text: str
    images: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class HostTool:
    """A tool that runs outside the sandbox, on what it reads from inside.

    `parameters` maps each argument to its type (`str`, `int`) and what it means; all have a default but the first.
    """

    name: str
    about: str
    parameters: Mapping[str, tuple[type, str]]
    run: Callable[[AgentRoom, Mapping[str, Any]], Awaitable[Shown]]


@dataclass(frozen=True)
class AgentEnd:
    """How an agent's work ended. `named` are the files it submitted by name, or None when it never submitted."""

    stop: StopReason
    text: str
    named: tuple[str, ...] | None
    usage: Usage
    seconds: float | None
    tools_used: Mapping[str, int]
    made_at: datetime
    log: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class Made:
    """What a stage keeps of a finished job: values for the store, and the result its work item is closed with.

    Without a result it is only known why it failed, and the next run takes it up again.
    """

    values: tuple[Value, ...]
    result: str | None
    error: str | None = None


class Collected(Protocol):
    """What a stage fetched from a sandbox."""

    def note(self) -> dict[str, JsonValue]:
        """What the evaluation log says of it: `delivered`, `text`, `files`, `problems`."""


class AgentStage(Protocol):
    """The part of a stage that runs around its agents."""

    @property
    def tools(self) -> tuple[HostTool, ...]:
        """Tools of the stage's own, on top of the shell."""

    async def collect(self, job: AgentJob, room: AgentRoom | None, end: AgentEnd) -> Collected:
        """Fetch what the agent made while its sandbox still lives."""

    def keep(self, job: AgentJob, end: AgentEnd, collected: Collected | None) -> Made:
        """Turn the end and what was collected into values; nothing was collected where the sandbox never opened."""
