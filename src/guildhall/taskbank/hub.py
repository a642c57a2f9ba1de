"""The public data set from its hub: pinned to one commit, resumed where a download broke off, verified.

The hub client is the extra `hub`. Its own cache keeps finished files by content, so a second try fetches only what is
missing; `HF_ENDPOINT` points it at a mirror.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from guildhall.errors import InputError, MissingTool

_REPO = re.compile(r"^(?P<repo>\w[\w.-]*/\w[\w.-]*)(?<!\.jsonl)(?<!\.parquet)(?:@(?P<revision>[\w./-]+))?$")


@dataclass(frozen=True)
class Snapshot:
    """A copy of the data set on this machine, and the commit it is."""

    folder: Path
    repository: str
    commit: str


def hub_name(text: str) -> tuple[str, str] | None:
    """`owner/name[@revision]` as (repository, revision); None for anything else."""
    found = _REPO.match(text)
    return (found["repo"], found["revision"] or "main") if found else None


def fetch(repository: str, revision: str, *, with_files: bool = True) -> Snapshot:
    """Download a data set (or only its table) and say which commit it was."""
    try:
        from huggingface_hub import HfApi, snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ModuleNotFoundError as error:
        raise MissingTool(
            "the hub client",
            needed_for=f"downloading {repository}",
            fix="install it with `pip install 'guildhall[hub]'`",
        ) from error
    try:
        commit = HfApi().dataset_info(repository, revision=revision).sha
        if commit is None:
            raise InputError(f"the hub names no commit for {repository}@{revision}; give a revision that exists")
        folder = snapshot_download(
            repository, repo_type="dataset", revision=commit, allow_patterns=None if with_files else ["data/*"]
        )
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        why = str(error).strip().splitlines()[0][:160]
        raise InputError(
            f"{repository}@{revision} could not be downloaded ({why}); run the command again to resume"
        ) from error
    return Snapshot(Path(folder), repository, commit)
