"""From a model string and plain settings to an Inspect model: the one place that knows how."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue, ValidationError

from guildhall.domain.providers import PROVIDERS, provider_of
from guildhall.domain.submissions import StopReason
from guildhall.domain.values import well_formed
from guildhall.engine.attempts import booked
from guildhall.engine.calls import Call, Message, Part, TextPart
from guildhall.engine.scripted import PREFIX, behaviour
from guildhall.engine.terms import Limits, Pace
from guildhall.errors import GuildhallError, InputError, MissingTool, UnknownName
from guildhall.observe.redact import redact

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput


_WRAPPED = "_guildhall_hides_keys"
_DEEPEST = 8


def without_quoted_keys(model: Model) -> Model:
    """The same model, whose errors hold no key. Inspect hands out one object for one name: it is wrapped once."""
    if getattr(model.api, _WRAPPED, False):
        return model
    generate = model.api.generate

    async def hiding(*arguments: Any, **named: Any) -> Any:
        try:
            answer = await generate(*arguments, **named)
        except Exception as error:
            hide_keys(error)
            raise
        refusal = answer[0] if isinstance(answer, tuple) else answer
        if isinstance(refusal, Exception):
            hide_keys(refusal)
        elif refusal.error:
            refusal.error = redact(refusal.error)
        return answer

    setattr(model.api, _WRAPPED, True)
    setattr(model.api, "generate", hiding)  # noqa: B010 - a method of one instance, which mypy will not have assigned
    return model


def hide_keys(error: BaseException) -> None:
    """Take keys out of an exception in place, so that it stays of its kind: what is retried is told by kind."""
    seen: BaseException | None = error
    for _ in range(_DEEPEST):
        if seen is None:
            return
        seen.args = tuple(_hidden(argument) for argument in seen.args)
        for name in ("message", "body", "detail", "details"):
            if isinstance(value := getattr(seen, name, None), str | dict | list):
                setattr(seen, name, _hidden(value))
        seen = seen.__cause__ or seen.__context__


def _hidden(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: _hidden(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_hidden(item) for item in value]
    return value


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
    require_known([model])
    try:
        opened = get_model(model, config=config, base_url=None if base_url is None else str(base_url), **arguments)
    except Exception as error:  # many kinds, all about what the user wrote or has not set up
        raise _what_is_missing(model, error) or InputError(
            f"the model {model!r} cannot be opened: {redact(_without_markup(str(error)))}"
        ) from error
    return booked(without_quoted_keys(opened), model)


def require_known(models: Iterable[str]) -> None:
    """Refuse a model of a provider, or a scripted model, that nobody knows, with the name that was probably meant."""
    for model in models:
        name, slash, rest = model.partition("/")
        if model.startswith(PREFIX):
            behaviour(rest)
        elif name not in PROVIDERS and not (slash and _comes_with_inspect(name)):
            raise UnknownName(f"provider of models (in {model!r})", name, known=sorted(PROVIDERS))


def _comes_with_inspect(provider: str) -> bool:
    from guildhall.engine.inspect_private import knows_provider

    return knows_provider(provider)


def _what_is_missing(model: str, error: Exception) -> GuildhallError | None:
    """The client or the key that a model cannot be opened without, as far as the table of providers tells."""
    from guildhall.engine.inspect_private import PrerequisiteError

    provider = provider_of(model)
    if provider is None or not isinstance(error, PrerequisiteError | ImportError):
        return None
    if provider.module is not None and provider.install is not None and not _is_installed(provider.module):
        return MissingTool(f"the client of {provider.title}", needed_for=model, fix=provider.install)
    keys = provider.keys or _keys_of_service(model)
    if keys and not any(os.environ.get(key) for key in keys):
        return InputError(f"{model} needs a key and none is set; export {keys[0]}=...")
    return None


def _keys_of_service(model: str) -> tuple[str, ...]:
    """Where Inspect looks for the key of a server that speaks like OpenAI and was given a name by the user."""
    provider, service, *_ = [*model.split("/"), ""]
    own = provider in {"openai-api", "openai-api-completions"} and service
    return (f"{service.upper().replace('-', '_')}_API_KEY",) if own else ()


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package around it
        return False


def _without_markup(words: str) -> str:
    """Inspect colours what it says; here words are shown as they are."""
    from rich.errors import MarkupError
    from rich.text import Text

    try:
        plain = Text.from_markup(words).plain
    except MarkupError:
        plain = words
    return " ".join(plain.removeprefix("ERROR").removeprefix(":").split())


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
    """The JSON a reply consists of, fenced or not; None when it is something else, or nothing that can be kept."""
    stripped = text.strip()
    if stripped.startswith("```"):
        stripped = stripped.split("\n", 1)[-1].rsplit("```", 1)[0]
    try:
        plain = json.dumps(json.loads(stripped), ensure_ascii=False, allow_nan=False)
        found: JsonValue = json.loads(well_formed(plain))
    except (ValueError, RecursionError):
        return None
    return found


def stop_of(output: ModelOutput) -> StopReason:
    """Why the model stopped; an answer without a choice is a failure of the provider."""
    if not output.choices:
        return StopReason.PROVIDER_FAILED
    return _STOPS.get(output.stop_reason, StopReason.FINISHED)
