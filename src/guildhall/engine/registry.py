"""Our scripted models, bubblewrap sandbox and scorer, as Inspect finds them through its entry point."""

from __future__ import annotations

from inspect_ai.model import ModelAPI, modelapi
from inspect_ai.util import SandboxEnvironment, sandboxenv

from guildhall.engine.scoring import delivered

__all__ = ["delivered", "scripted"]


@modelapi(name="scripted")
def scripted() -> type[ModelAPI]:
    from guildhall.engine.scripted_provider import ScriptedAPI

    return ScriptedAPI


@sandboxenv(name="bubblewrap")
def bubblewrap() -> type[SandboxEnvironment]:
    from guildhall.engine.bubblewrap import BubblewrapSandboxEnvironment

    return BubblewrapSandboxEnvironment
