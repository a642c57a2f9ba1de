"""Reading runs of the public Boswell system: its `full_results.json`.

What that system recorded is kept beside our own reading of each reply, so that both its published figures and
corrected ones can be computed from one import.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from guildhall.domain.authors import ModelRun
from guildhall.domain.boswell import IMPORTED, Essay, Mark, NoGrade, Reading, Recorded, RunRecord
from guildhall.domain.grades import NO_GRADE
from guildhall.domain.submissions import Usage
from guildhall.errors import UnreadableFile
from guildhall.peer.reader import read_grade

_FOLDER = re.compile(r"(?P<stamp>\d{8}-\d{6})-(?P<domain>[\w-]+?)(?:-free)?$")
_CACHE_HIT_S = 0.05
"""No model answers faster: the public system timed its own cache, and such a time is a hit."""


def is_public_format(data: Any) -> bool:
    return isinstance(data, dict) and {"essays", "grades", "boswell_quotient"} <= set(data)


def read_public_run(path: Path) -> RunRecord:
    """A public run from its `full_results.json`."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnreadableFile(path, f"it is no readable JSON ({error})") from error
    if not is_public_format(data):
        raise UnreadableFile(path, "it lacks `essays`, `grades` or `boswell_quotient`", fix="give a full_results.json")
    return run_of(data, folder=path.parent.name, path=path)


def run_of(data: dict[str, Any], *, folder: str, path: Path | str) -> RunRecord:
    """The run in a public `full_results.json` that has been parsed."""
    try:
        named = _FOLDER.search(folder)
        domain = named["domain"] if named else "imported"
        run = f"{_stamp(data['run_timestamp'])}-{domain}"
        essays = {name: _essay(name, text, data, run, domain) for name, text in data["essays"].items()}
        marks = tuple(
            _mark(grader, author, cell, essays[author], data)
            for grader, given in data["grades"].items()
            for author, cell in given.items()
            if author in essays
        )
        return RunRecord(
            run=run,
            domain=domain,
            title=str(data["domain"]["name"]),
            started_at=_moment(data["run_timestamp"]),
            essays=tuple(essays.values()),
            marks=marks,
            origin="public Boswell format",
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnreadableFile(path, f"it is not a whole public run ({type(error).__name__}: {error})") from error


def _essay(name: str, text: str, data: dict[str, Any], run: str, domain: str) -> Essay:
    seconds = data["timing"]["model_timing"]["essay"].get(name)
    cost = data["cost"]["essay_costs"].get(name, {})
    return Essay(
        run=run,
        domain=domain,
        author=_model(name),
        text=text,
        seconds=seconds,
        cached=seconds is not None and seconds < _CACHE_HIT_S,
        usage=_usage(cost),
        made_at=_moment(data["run_timestamp"]),
    )


def _mark(grader: str, author: str, cell: dict[str, Any], essay: Essay, data: dict[str, Any]) -> Mark:
    seconds = data["timing"]["model_timing"]["grading"].get(grader, {}).get(author)
    reply = cell.get("feedback") or ""
    failed = Reading(rule="none", confidence=1.0, reason=NoGrade.CALL_FAILED)
    return Mark(
        run=essay.run,
        domain=essay.domain,
        essay=essay.key,
        grader=_model(grader),
        reply=reply,
        reading=read_grade(reply) if reply else failed,
        recorded=Recorded(grade=cell.get("grade") or NO_GRADE, numeric=float(cell.get("numeric_grade") or 0.0)),
        seconds=seconds,
        cached=seconds is not None and seconds < _CACHE_HIT_S,
        usage=_usage(cell.get("cost_info") or {}),
    )


def _model(name: str) -> ModelRun:
    return ModelRun(name=re.sub(r"\s+", "-", name.strip()), model=name, condition=IMPORTED)


def _usage(cost: dict[str, Any]) -> Usage:
    return Usage(
        input_tokens=int(cost.get("input_tokens", 0)),
        output_tokens=int(cost.get("output_tokens", 0)),
        calls=1,
        cost_usd=cost.get("total_cost"),
    )


def _moment(stamp: str) -> datetime:
    return datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)


def _stamp(stamp: str) -> str:
    return _moment(stamp).strftime("%Y%m%d-%H%M%S")
