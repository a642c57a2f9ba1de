"""Providers quote keys in their refusals; Inspect writes refusals into its logs. Between the two, keys are hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guildhall.observe.redact import redact

if TYPE_CHECKING:
    from inspect_ai.model import Model

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
