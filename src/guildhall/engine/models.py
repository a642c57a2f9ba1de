"""From a model string and plain settings to an Inspect model: the one place that knows how."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue, ValidationError

from guildhall.domain.submissions import StopReason, Usage
from guildhall.engine.calls import Call, Message, Part, TextPart
from guildhall.engine.quoting import without_quoted_keys
from guildhall.engine.scripted import PREFIX, behaviour
from guildhall.engine.terms import Limits, Pace
from guildhall.engine.wire import through_relay
from guildhall.errors import InputError, MissingTool, UnknownName
from guildhall.observe.redact import redact

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput, ModelUsage

ReadBlob = Callable[[str], bytes]

_OURS = {"base_url", "model_args"}
_PACING = {"max_connections", "adaptive_connections", "max_retries", "attempt_timeout", "batch", "cache"}
_SECRETS = ("api_key", "authorization", "token", "secret", "password")
_STOPS = {
    "max_tokens": StopReason.TRUNCATED,
    "model_length": StopReason.TRUNCATED,
    "content_filter": StopReason.REFUSED,
}


def check_settings(settings: Mapping[str, JsonValue]) -> None:
    """Refuse settings nobody knows, settings that belong to `Pace`, and secrets: settings are written down."""
    from inspect_ai.model import GenerateConfig

    known = set(GenerateConfig.model_fields) - _PACING | _OURS
    for name in settings:
        if name not in known:
            raise UnknownName("model setting", name, known=sorted(known))
    for place in (settings, settings.get("model_args"), settings.get("extra_headers")):
        for name in place if isinstance(place, dict) else ():
            if any(secret == name.lower().replace("-", "_") for secret in _SECRETS):
                raise InputError(
                    f"the setting {name!r} holds a secret, and settings are written down; "
                    "put it in the provider's environment variable instead"
                )


def config_of(settings: Mapping[str, JsonValue], *, pace: Pace, limits: Limits) -> GenerateConfig:
    """Inspect's generation settings for ours, with how the provider is to be served."""
    from inspect_ai.model import GenerateConfig
    from inspect_ai.util import AdaptiveConcurrency

    check_settings(settings)
    served: dict[str, Any] = {"max_retries": pace.retries, "batch": pace.batch or None}
    if pace.gives_up_after_s is not None:
        served["attempt_timeout"] = pace.gives_up_after_s
    if pace.connections is not None:
        served["max_connections"] = pace.connections
    else:
        served["adaptive_connections"] = AdaptiveConcurrency(min=1, max=pace.at_most)
    if limits.item_seconds is not None:
        served["timeout"] = max(1, round(limits.item_seconds))
    try:
        config = GenerateConfig(**{name: value for name, value in settings.items() if name not in _OURS}, **served)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"model setting {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    if limits.item_tokens is not None:
        config.max_tokens = min(config.max_tokens or limits.item_tokens, limits.item_tokens)
    return config


def open_model(model: str, settings: Mapping[str, JsonValue], config: GenerateConfig) -> Model:
    """The Inspect model of a model string, or an error that says what is missing."""
    from inspect_ai.model import get_model

    base_url, given = settings.get("base_url"), settings.get("model_args") or {}
    if not isinstance(given, dict):
        raise InputError("the setting 'model_args' is a table of names and values")
    arguments: dict[str, Any] = given
    if model.startswith(PREFIX):
        behaviour(model.removeprefix(PREFIX))
    try:
        opened = get_model(model, config=config, base_url=None if base_url is None else str(base_url), **arguments)
    except ImportError as error:
        provider = model.partition("/")[0]
        raise MissingTool(
            f"the client of {provider!r}", needed_for=model, fix="pip install 'guildhall[providers]'"
        ) from error
    except Exception as error:  # Inspect raises many kinds here, all of them about what the user wrote
        raise InputError(f"the model {model!r} cannot be opened: {redact(str(error))}") from error
    return without_quoted_keys(through_relay(opened))


def chat_of(messages: tuple[Message, ...], read_blob: ReadBlob) -> list[ChatMessage]:
    """Our messages as Inspect's, files inlined from the blobs."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    kinds: dict[str, Any] = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    chat: list[ChatMessage] = []
    for index, message in enumerate(messages):
        if all(isinstance(part, TextPart) for part in message.parts):
            content: Any = message.text
        else:
            content = [_content(part, read_blob) for part in message.parts]
        chat.append(kinds[message.role](id=f"m{index}", content=content))
    return chat


def _content(part: Part, read_blob: ReadBlob) -> Any:
    from inspect_ai.model import ContentAudio, ContentDocument, ContentImage, ContentText, ContentVideo

    if isinstance(part, TextPart):
        return ContentText(text=part.text)
    address = f"data:{part.media_type};base64,{base64.b64encode(read_blob(part.digest)).decode()}"
    family, _, subtype = part.media_type.partition("/")
    if family == "image":
        return ContentImage(image=address)
    if family == "audio":
        return ContentAudio(audio=address, format="mp3" if subtype == "mpeg" else "wav")
    if family == "video":
        return ContentVideo(video=address, format="mov" if subtype == "quicktime" else "mp4")
    return ContentDocument(document=address, filename=part.name, mime_type=part.media_type)


def with_schema(config: GenerateConfig, call: Call) -> GenerateConfig:
    """The settings of a call that asks for JSON of a given shape."""
    if call.answer_schema is None:
        return config
    from inspect_ai.model import ResponseSchema
    from inspect_ai.util import JSONSchema

    schema = ResponseSchema(name=call.purpose, json_schema=JSONSchema.model_validate(call.answer_schema))
    return config.model_copy(update={"response_schema": schema})


def parsed(text: str) -> JsonValue:
    """The JSON a reply consists of, fenced or not; None when it is something else."""
    stripped = text.strip()
    if stripped.startswith("```"):
        stripped = stripped.split("\n", 1)[-1].rsplit("```", 1)[0]
    try:
        found: JsonValue = json.loads(stripped)
    except json.JSONDecodeError:
        return None
    return found


def usage_of(counted: ModelUsage | None) -> Usage:
    """One answered call in our terms: input counts everything read, cached or not."""
    if counted is None:
        return Usage(calls=1)
    cached, written = counted.input_tokens_cache_read or 0, counted.input_tokens_cache_write or 0
    return Usage(
        input_tokens=counted.input_tokens + cached + written,
        output_tokens=counted.output_tokens,
        cached_input_tokens=cached,
        cache_written_tokens=written,
        reasoning_tokens=counted.reasoning_tokens or 0,
        calls=1,
    )


def stop_of(output: ModelOutput) -> StopReason:
    """Why the model stopped; an answer without a choice is a failure of the provider."""
    if not output.choices:
        return StopReason.PROVIDER_FAILED
    return _STOPS.get(output.stop_reason, StopReason.FINISHED)
