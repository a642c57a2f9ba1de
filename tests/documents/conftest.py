"""Where the commands of these tests put what they make."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A place for what a command makes."""
    return tmp_path / "made"
