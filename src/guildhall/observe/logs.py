"""Log lines of the servers: for people, or as JSON for a log store. No line ever holds a key.

In JSON every request and every errand is a line; for people only what went wrong is told.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from enum import StrEnum
from typing import Any

import structlog

from guildhall.observe.redact import redact


class LogFormat(StrEnum):
    """How log lines look."""

    TEXT = "text"
    JSON = "json"


def configure_logs(chosen: LogFormat) -> None:
    """Send every log line of this process to standard error, ours and those of the libraries."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        structlog.processors.format_exc_info,
    ]
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer() if chosen is LogFormat.JSON else _for_people
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer, _without_keys],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.INFO if chosen is LogFormat.JSON else logging.WARNING)
    for library in ("uvicorn", "uvicorn.error", "httpx", "alembic", "opentelemetry"):
        logging.getLogger(library).setLevel(logging.WARNING)  # their chatter is not ours to keep


def _for_people(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> str:
    """`time level logger: words key=value`, with a traceback below where there is one."""
    trace = event.pop("exception", "")
    time, level, name, words = (event.pop(key, "") for key in ("time", "level", "logger", "event"))
    facts = "".join(f" {key}={value}" for key, value in event.items())
    return f"{time} {level} {name}: {words}{facts}" + (f"\n{trace}" if trace else "")


def _without_keys(_logger: Any, _method: str, line: Any) -> str:
    return redact(str(line))
