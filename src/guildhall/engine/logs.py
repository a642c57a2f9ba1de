"""Reading Inspect's logs, ours and other people's, without running anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from guildhall.domain.submissions import StopReason, Usage
from guildhall.engine.attempts import usage_of
from guildhall.errors import UnreadableFile
from guildhall.observe.redact import redact


@dataclass(frozen=True)
class LoggedSample:
    """One sample of a log: what was asked, by which model, how it ended and what it took."""

    id: str
    epoch: int
    model: str
    text: str
    stop: StopReason
    usage: Usage | None
    seconds: float | None
    metadata: dict[str, Any]
    error: str | None
    made_at: datetime | None
    log: str


def log_files(path: Path) -> list[Path]:
    """The logs at a path: the file itself, or those of a folder."""
    found = [path] if path.is_file() else sorted([*path.rglob("*.eval"), *path.rglob("*.json")])
    if not found:
        raise UnreadableFile(path, "holds no Inspect log", fix="give a .eval file or a folder of them")
    return found


def read_samples(path: Path) -> Iterator[LoggedSample]:
    """Every sample of a log, one at a time; a log of another kind is refused."""
    from inspect_ai.log import read_eval_log, read_eval_log_samples

    try:
        header = read_eval_log(str(path), header_only=True)
        samples = read_eval_log_samples(str(path), all_samples_required=False)
        for sample in samples:
            yield _sample(sample, header.eval.model, path.name)
    except (ValueError, KeyError, OSError, EOFError) as error:
        raise UnreadableFile(path, f"is not an Inspect log that can be read ({str(error)[:120]})") from error


def _sample(sample: Any, model: str, log: str) -> LoggedSample:
    counted = [usage_of(usage) for usage in (sample.model_usage or {}).values()]
    usage = sum(counted[1:], counted[0]) if counted else None
    failed = sample.error is not None
    return LoggedSample(
        id=str(sample.id),
        epoch=int(sample.epoch),
        model=model,
        text=sample.output.completion if sample.output else "",
        stop=StopReason.PROVIDER_FAILED if failed else StopReason.FINISHED,
        usage=usage,
        seconds=sample.working_time or sample.total_time,
        metadata=dict(sample.metadata or {}),
        error=redact(sample.error.message)[:2000] if failed else None,
        made_at=_date(sample.completed_at),
        log=log,
    )


def _date(text: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text)) if text else None
    except ValueError:
        return None
