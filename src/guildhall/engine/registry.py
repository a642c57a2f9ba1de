"""What Guildhall adds to Inspect, found by Inspect through its entry point: the `scripted` model provider."""

from __future__ import annotations

from inspect_ai.model import ModelAPI, modelapi


@modelapi(name="scripted")
def scripted() -> type[ModelAPI]:
    from guildhall.engine.scripted_provider import ScriptedAPI

    return ScriptedAPI
