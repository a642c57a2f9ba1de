"""What an answer says it cost in tokens, read from the bytes a provider sent, in one piece or as a stream of events.

OpenAI's chat completions and responses and Anthropic's messages are understood, and every provider that speaks like
them. An answer that does not tell what it read and wrote has no usage: it is unknown, and not nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple


class Told(NamedTuple):
    """What an answer tells of itself: its tokens by the names of `Usage`, and the model that gave it."""

    usage: dict[str, int] | None
    served_by: str | None


def told(content: bytes) -> Told:
    """What is told in an answer's decoded content. Later figures of a stream replace earlier ones: they are sums."""
    counted: dict[str, Any] = {}
    served_by = None
    for part in _parts(content):
        for holder in (part, part.get("message"), part.get("response")):
            if isinstance(holder, dict):
                usage = holder.get("usage")
                if isinstance(usage, dict):
                    counted |= {name: count for name, count in usage.items() if count is not None}
                served_by = holder.get("model") or served_by
    return Told(_usage(counted), served_by if isinstance(served_by, str) else None)


def _parts(content: bytes) -> Iterator[dict[str, Any]]:
    """The JSON object an answer consists of, or those of its events."""
    lines = [content] if content.lstrip()[:1] == b"{" else content.splitlines()
    for line in lines:
        try:
            part = json.loads(line.removeprefix(b"data:"))
        except ValueError:  # the name of an event, a comment, the mark of the end
            continue
        if isinstance(part, dict):
            yield part


def _usage(counted: dict[str, Any]) -> dict[str, int] | None:
    read = _count(counted, "prompt_tokens", "input_tokens")
    written = _count(counted, "completion_tokens", "output_tokens")
    if read is None or written is None:
        return None
    # Anthropic counts what it cached apart from the input; the others count it in, and say in the details how much.
    apart = _count(counted, "cache_read_input_tokens") or 0
    kept = _count(counted, "cache_creation_input_tokens") or 0
    details = _details(counted, "prompt_tokens_details", "input_tokens_details")
    thought = _details(counted, "completion_tokens_details", "output_tokens_details")
    return {
        "input_tokens": read + apart + kept,
        "output_tokens": written,
        "cached_input_tokens": apart or _count(details, "cached_tokens") or 0,
        "cache_written_tokens": kept or _count(details, "cache_write_tokens") or 0,
        "reasoning_tokens": _count(thought, "reasoning_tokens") or 0,
    }


def _count(counted: dict[str, Any], *names: str) -> int | None:
    return next((int(counted[name]) for name in names if isinstance(counted.get(name), int | float)), None)


def _details(counted: dict[str, Any], *names: str) -> dict[str, Any]:
    return next((counted[name] for name in names if isinstance(counted.get(name), dict)), {})
