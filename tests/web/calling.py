"""Generated calls to every operation of the API: well-formed and malformed, each answer held to its schema."""

from __future__ import annotations

from typing import Any

import schemathesis
from hypothesis import HealthCheck, given, settings, strategies
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode

from guildhall.web.api.app import api_app
from guildhall.web.security import RateLimit
from guildhall.web.site import Site

TEXT = strategies.text(strategies.characters(codec="utf-8"), max_size=12)
UNKNOWN = strategies.dictionaries(TEXT, TEXT, max_size=3)
"""Parameters nobody declared: they make calls differ even where an operation takes nothing."""


def call_everything(site: Site, headers: dict[str, str], *, study: str, examples: int) -> dict[str, int]:
    """Call each operation about `examples` times; returns how often each was called. Raises on a wrong answer.

    Half of the well-formed calls name a study that exists.
    """
    app = api_app(site, calls=RateLimit(per_minute=1e9, burst=10**9))
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    called: dict[str, int] = {}
    for found in schema.get_all_operations():
        assert isinstance(found, Ok), found
        operation = found.ok()
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            if mode is GenerationMode.NEGATIVE and not list(operation.iter_parameters()):
                continue  # nothing to malform
            _call_often(operation, mode, headers, study=study, examples=examples, called=called)
    return called


def _call_often(
    operation: schemathesis.schemas.APIOperation[Any, Any, Any, Any],
    mode: GenerationMode,
    headers: dict[str, str],
    *,
    study: str,
    examples: int,
    called: dict[str, int],
) -> None:
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode), unknown=UNKNOWN, real=strategies.booleans())
    def call(case: schemathesis.Case[Any], unknown: dict[str, str], real: bool) -> None:
        called[operation.label] = called.get(operation.label, 0) + 1
        case.query = {**(case.query or {}), **{f"x-{name}": value for name, value in unknown.items()}}
        if real and mode is GenerationMode.POSITIVE and "study_id" in case.path_parameters:
            case.path_parameters["study_id"] = study  # a made-up id seldom gets past "no such study"
        case.call_and_validate(headers=headers)

    call()
