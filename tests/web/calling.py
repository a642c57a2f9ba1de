"""Generated calls to every operation of the API: well-formed and malformed, each answer held to its schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import schemathesis
from hypothesis import HealthCheck, given, settings, strategies
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance
from starlette.testclient import TestClient

from guildhall.web.api.app import api_app
from guildhall.web.security import RateLimit
from guildhall.web.site import Site
from tests.web.packages import linked, package

Operation = schemathesis.schemas.APIOperation[Any, Any, Any, Any]

TEXT = strategies.text(strategies.characters(codec="utf-8"), max_size=12)
UNKNOWN = strategies.dictionaries(TEXT, TEXT, max_size=3)
"""Parameters nobody declared: they make calls differ even where an operation takes nothing."""
NAMES = strategies.one_of(
    strategies.just("task-0/a.txt"),
    strategies.just("task-0/final_message.md"),
    TEXT.filter(lambda name: name.partition("\x00")[0] != ""),  # no archive can be written with an empty name
)
PACKAGES = strategies.one_of(
    strategies.binary(max_size=200),
    strategies.dictionaries(NAMES, strategies.binary(max_size=50), max_size=3).map(package),
    strategies.just(linked("task-0/link", "/etc/passwd")),
    strategies.just(package({"task-0/zeros": bytes(1 << 21)})),
)
"""What is sent as a zip: noise, small archives with any names, links, and what unpacks to far more."""
schemathesis.openapi.media_type("application/zip", PACKAGES)
SOUND = package({"task-0/final_message.md": "Done."})
JUDGE = "rubric-and-format"


@dataclass(frozen=True)
class Real:
    """Names that exist, for half of the well-formed calls: a made-up one seldom gets past "no such study"."""

    study: str
    grading: str


def new_grading(site: Site, headers: dict[str, str]) -> str:
    """The id of a grading that waits."""
    query, kind = {"name": "my-model", "judge": JUDGE}, {"Content-Type": "application/zip"}
    sent = TestClient(api_app(site)).post("/gradings", params=query, content=SOUND, headers=headers | kind)
    return str(sent.json()["id"])


def call_everything(site: Site, headers: dict[str, str], *, real: Real, examples: int) -> dict[str, int]:
    """Call each operation about `examples` times; returns how often each was called. Raises on a wrong answer."""
    app = api_app(site, calls=RateLimit(per_minute=1e9, burst=10**9))
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    called: dict[str, int] = {}
    for found in schema.get_all_operations():
        assert isinstance(found, Ok), found
        operation = found.ok()
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            if mode is GenerationMode.NEGATIVE and not list(operation.iter_parameters()):
                continue  # nothing to malform
            _call_often(operation, mode, headers, real=real, examples=examples, called=called)
    return called


def _call_often(
    operation: Operation,
    mode: GenerationMode,
    headers: dict[str, str],
    *,
    real: Real,
    examples: int,
    called: dict[str, int],
) -> None:
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode), unknown=UNKNOWN, true=strategies.booleans())
    def call(case: schemathesis.Case[Any], unknown: dict[str, str], true: bool) -> None:
        called[operation.label] = called.get(operation.label, 0) + 1
        case.query = {**(case.query or {}), **{f"x-{name}": value for name, value in unknown.items()}}
        sound = true and mode is GenerationMode.POSITIVE
        if sound:
            _name_what_exists(case, real)
        free: list[schemathesis.CheckFunction] = []
        if case.method == "POST":
            # Well-formed noise may name no judge and hold no archive; an archive put in by hand fits no text schema.
            free = [negative_data_rejection if sound else positive_data_acceptance]
        case.call_and_validate(headers=headers, excluded_checks=free)

    call()


def _name_what_exists(case: schemathesis.Case[Any], real: Real) -> None:
    for name, value in (("study_id", real.study), ("grading_id", real.grading)):
        if name in case.path_parameters:
            case.path_parameters[name] = value
    if case.method == "POST":
        case.query["judge"], case.body = JUDGE, SOUND
        case.headers.pop("idempotency-key", None)  # two calls that differ may not share one
