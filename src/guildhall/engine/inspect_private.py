"""Everything we use of Inspect that is not public, in one place, so that a new version is looked through here.

Written for the version that `WRITTEN_FOR` names. Where another one has moved a name, importing this module says so in
a sentence. Imported only when work begins, like Inspect itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from guildhall.errors import MissingTool

WRITTEN_FOR = "0.3.285"

try:
    from inspect_ai._util.error import PrerequisiteError, is_cancellation_message
    from inspect_ai._util.registry import registry_find
    from inspect_ai.log._samples import sample_active
    from inspect_ai.util._display import init_display_type
    from inspect_ai.util._limit import Limit
    from inspect_ai.util._sandbox.compose import parse_compose_yaml
    from inspect_ai.util._sandbox.environment import SandboxUserUnsupportedError
    from inspect_ai.util._subprocess import max_subprocesses_context_var
except ImportError as error:
    raise MissingTool(
        f"Inspect {WRITTEN_FOR}",
        needed_for="running models",
        fix=f"pip install 'inspect-ai=={WRITTEN_FOR}' ({error})",
    ) from error

__all__ = [
    "Limit",
    "PrerequisiteError",
    "RunningSample",
    "SandboxUserUnsupportedError",
    "hide_display",
    "hold_against_compose_schema",
    "is_cancellation_message",
    "knows_provider",
    "may_probe",
    "probe_outcome",
    "running_sample",
    "subprocesses_at_once",
]


class Closable(Protocol):
    def close(self) -> None: ...


@dataclass(frozen=True)
class RunningSample:
    """The sample that is running: the file its log goes to, and the stream of events that is left open when it ends."""

    log: str
    left_open: Closable | None


def running_sample() -> RunningSample | None:
    active = sample_active()
    return None if active is None else RunningSample(active.log_location.rsplit("/", 1)[-1], active.event_receive)


def hide_display() -> None:
    """Inspect shows nothing of its own: the caller shows progress."""
    init_display_type("none")


def subprocesses_at_once() -> int:
    return max_subprocesses_context_var.get()


def hold_against_compose_schema(path: str) -> None:
    """Raises where a compose file has a field Inspect does not know."""
    parse_compose_yaml(path)


def knows_provider(name: str) -> bool:
    """Whether Inspect, or a package a user has installed for it, serves models of this provider."""
    found = registry_find(lambda info: info.type == "modelapi" and info.name.rpartition("/")[2] == name)
    return bool(found)


def may_probe(api: Any) -> bool:
    """Whether the next question first sends one of Inspect's own, to see if the account gets summaries of reasoning."""
    return (
        getattr(api, "_reasoning_summaries", True) is None
        and bool(getattr(api, "responses_api", False))
        and bool(api.has_reasoning_options())
    )


def probe_outcome(api: Any) -> bool | None:
    """Whether that question was answered (True), refused (False), or ended without an answer (None)."""
    outcome: bool | None = getattr(api, "_reasoning_summaries", None)
    return outcome
