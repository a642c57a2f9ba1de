"""Opening runs wherever they are: a run's folder, a consolidated file of ours, or a run of the public system.

Reading runs of the public Boswell system: its `full_results.json`. What that system recorded is kept beside our own
reading of each reply, so that both its published figures and corrected ones can be computed from one import.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from guildhall.domain.authors import ModelRun
from guildhall.domain.boswell import IMPORTED, Essay, Mark, NoGrade, Reading, Recorded, RunRecord
from guildhall.domain.grades import NO_GRADE
from guildhall.domain.submissions import Usage
from guildhall.errors import InputError, UnknownName, UnreadableFile
from guildhall.peer.folder import read_json, read_run
from guildhall.peer.reader import Descriptors, read_grade
from guildhall.store.rows import parquet_rows

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


def load_run(path: Path) -> RunRecord:
    """One run, from its folder or its `full_results.json`."""
    if path.is_dir():
        return read_run(path) if (path / "run.json").is_file() else load_run(path / "full_results.json")
    data = read_json(path)
    if isinstance(data, dict) and "record" in data:
        try:
            return RunRecord.model_validate(data["record"])
        except ValidationError as error:
            raise UnreadableFile(path, f"its record is damaged ({error})") from error
    if is_public_format(data):
        return run_of(data, folder=path.parent.name, path=path)
    raise UnreadableFile(path, "it is neither a run of ours nor of the public system", fix="give a full_results.json")


def load_runs(paths: Iterable[Path]) -> list[RunRecord]:
    """Many runs; a folder that is none itself stands for all runs inside it."""
    runs: list[RunRecord] = []
    for path in paths:
        if path.is_dir() and not _is_run(path):
            runs.extend(load_run(inner) for inner in sorted(path.iterdir()) if _is_run(inner))
        else:
            runs.append(load_run(path))
    if not runs:
        raise InputError("no runs were found there; give run folders or a folder that holds some")
    _refuse_replays(runs)
    return runs


_SAME = 0.5
"""Two runs of a domain with so large a share of replies alike, word for word, are one run."""


def _refuse_replays(runs: Sequence[RunRecord]) -> None:
    """A run given twice, or played again from a cache under another time, would count twice as one opinion."""
    seen: list[tuple[RunRecord, set[tuple[str, str, str]]]] = []
    for run in runs:
        name = {one.key: one.author.name for one in run.essays}
        said = {("essay", one.author.name, one.text.strip()) for one in run.essays if one.text.strip()}
        said |= {
            (one.grader.name, name.get(one.essay, ""), one.reply.strip()) for one in run.marks if one.reply.strip()
        }
        for earlier, known in seen:
            if earlier.run == run.run:
                raise InputError(f"run {run.run} is given twice; give each run once")
            alike = len(said & known)
            if earlier.domain == run.domain and alike > _SAME * max(len(said), 1):
                raise InputError(
                    f"run {run.run} repeats run {earlier.run}: {alike} of its {len(said)} essays and replies are the "
                    "same, word for word; leave one of the two out"
                )
        seen.append((run, said))


def domains_met_again(runs: Iterable[RunRecord]) -> dict[str, int]:
    """Domains of which there are several runs, with how many."""
    times = Counter(run.domain for run in runs)
    return {domain: n for domain, n in sorted(times.items()) if n > 1}


def _is_run(path: Path) -> bool:
    return path.is_dir() and ((path / "run.json").is_file() or (path / "full_results.json").is_file())


def latest_per_domain(runs: Iterable[RunRecord]) -> list[RunRecord]:
    """The newest run of each domain."""
    newest: dict[str, RunRecord] = {}
    for run in sorted(runs, key=lambda run: run.started_at):
        newest[run.domain] = run
    return list(newest.values())


def with_suggestions(run: RunRecord, words: Descriptors) -> RunRecord:
    """The run with grades suggested where none was read; they are marked inferred and enter no figure."""
    suggested = [
        mark.but(reading=read_grade(mark.reply, infer=words)) if mark.reading.grade is None and mark.reply else mark
        for mark in run.marks
    ]
    return run.but(marks=tuple(suggested))


def readings(path: Path, *, infer: Descriptors | None = None) -> Iterator[dict[str, Any]]:
    """One row per reply: `id, grade, rule, span, confidence, reason` (and `inferred` where a grade is a suggestion)."""
    for number, row in enumerate(_rows(path), 1):
        if "text" not in row:
            raise UnknownName("column", "text", known=sorted(row))
        text = row["text"]
        if not isinstance(text, str):
            raise UnreadableFile(path, f"`text` of row {number} is not text")
        yield as_row(row.get("id", number), read_grade(text, infer=infer))


def as_row(key: Any, reading: Reading) -> dict[str, Any]:
    """The documented shape of a reading."""
    row = {
        "id": key,
        "grade": reading.grade or NO_GRADE,
        "rule": reading.rule,
        "span": list(reading.span) if reading.span else None,
        "confidence": reading.confidence,
        "reason": reading.reason.value if reading.reason else None,
    }
    return row | {"inferred": True} if reading.inferred else row


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    if not path.is_file():
        raise UnreadableFile(path, "there is no such file", fix="check the path")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".parquet"]:
        yield from parquet_rows(path)
        return
    rows = _csv_rows(path) if suffixes[-1:] == [".csv"] else _json_lines(path, gzipped=suffixes[-1:] == [".gz"])
    try:
        yield from rows
    except (UnicodeDecodeError, csv.Error, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UnreadableFile(path, f"it cannot be read as text ({error})") from error


def _csv_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open(newline="", encoding="utf-8-sig") as lines:
        yield from csv.DictReader(lines)


def _json_lines(path: Path, *, gzipped: bool) -> Iterator[Mapping[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") if gzipped else path.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UnreadableFile(path, f"line {number} is not JSON ({error})") from error
            if not isinstance(row, dict):
                raise UnreadableFile(path, f"line {number} is not a JSON object")
            yield row
