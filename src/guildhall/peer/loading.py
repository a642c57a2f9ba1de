"""Opening runs wherever they are: a run's folder, a consolidated file of ours, or a run of the public system."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from guildhall.domain.boswell import RunRecord
from guildhall.errors import InputError, UnreadableFile
from guildhall.peer.folder import read_json, read_run
from guildhall.peer.public_format import is_public_format, run_of


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
    return runs


def _is_run(path: Path) -> bool:
    return path.is_dir() and ((path / "run.json").is_file() or (path / "full_results.json").is_file())


def latest_per_domain(runs: Iterable[RunRecord]) -> list[RunRecord]:
    """The newest run of each domain."""
    newest: dict[str, RunRecord] = {}
    for run in sorted(runs, key=lambda run: run.started_at):
        newest[run.domain] = run
    return list(newest.values())
