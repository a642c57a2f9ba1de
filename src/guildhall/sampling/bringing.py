"""Which kind of outside submissions lies at a path, and the import that fits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from guildhall.domain.authors import ModelRun
from guildhall.domain.tasks import Task
from guildhall.errors import InputError, UnreadableFile
from guildhall.sampling.outside import Brought, import_folder, import_logs, import_table
from guildhall.store.workspace import Workspace

_TABLES = {".parquet", ".csv", ".jsonl", ".ndjson"}


def bring(
    source: Path,
    tasks: Sequence[Task],
    *,
    author: str | None,
    model: str,
    files: Path | None,
    workspace: Workspace,
) -> Brought:
    """Import what lies at a path as work on these wordings: logs by their ending, tables by theirs, else folders."""
    if not source.exists():
        raise UnreadableFile(source, "is not there")
    if source.suffix == ".eval" or (source.is_dir() and any(source.glob("*.eval"))):
        return import_logs(source, tasks, name=author, files=files, workspace=workspace)
    if author is None:
        raise InputError("say who made these with --author NAME")
    maker = ModelRun(name=author, model=model, condition="outside")
    if source.suffix in _TABLES:
        return import_table(source, tasks, author=maker, workspace=workspace)
    packed = sorted(source.glob("data/*.parquet")) if source.is_dir() else []
    if packed:
        return import_table(packed[0], tasks, author=maker, workspace=workspace)
    return import_folder(source, tasks, author=maker, workspace=workspace)
