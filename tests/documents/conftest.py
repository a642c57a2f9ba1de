"""One cache and one pool of LibreOffices for all tests of a process: starting them is what takes the time."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from guildhall.documents.looking import Documents, documents


@pytest.fixture(scope="session")
def look(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Documents]:
    if shutil.which("soffice") is None:
        pytest.skip("LibreOffice is not here")
    with documents(tmp_path_factory.mktemp("rendered"), workers=1) as everything:
        yield everything


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A place for what a command makes."""
    return tmp_path / "made"
