"""Notes for an administrator: secrets that lie open, space that runs out; silence where all is well."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from guildhall.store.checking import upkeep
from guildhall.store.secret import KEY_FILE, OLD_KEY_FILE
from guildhall.store.workspace import SETTINGS, Workspace


class Disk(NamedTuple):
    total: int
    used: int
    free: int


@pytest.fixture(autouse=True)
def disk(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """A disk of which one can say how full it is."""
    known = {"free": 500}
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Disk(1000, 1000 - known["free"], known["free"]))
    return known


def test_a_workspace_as_it_is_made_needs_no_word(workspace: Workspace) -> None:
    assert upkeep(workspace) == []


@pytest.mark.parametrize("name", [SETTINGS, KEY_FILE, OLD_KEY_FILE])
def test_a_secret_that_others_can_read_is_named_with_its_remedy(workspace: Workspace, name: str) -> None:
    (workspace.path / name).touch()
    (workspace.path / name).chmod(0o640)
    [note] = upkeep(workspace)
    assert f"{workspace.path / name} first" in note and "doctor --repair" in note


def test_a_password_in_the_settings_is_told_and_not_shown(workspace: Workspace) -> None:
    at: Any = replace(workspace.at, database="postgresql://hall:a-pass-word@db/hall")
    [note] = upkeep(Workspace(at, workspace.store))
    assert "PGPASSWORD" in note and "a-pass-word" not in note


def test_a_disk_that_fills_up_is_told(workspace: Workspace, disk: dict[str, int]) -> None:
    disk["free"] = 99
    assert "less than a tenth" in upkeep(workspace)[0]
