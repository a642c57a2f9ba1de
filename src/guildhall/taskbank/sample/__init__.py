"""The sample bank: tasks of our own, one folder each, shipped inside the package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path


@contextmanager
def sample_folder() -> Iterator[Path]:
    """The bank as a folder, wherever the package is installed."""
    with as_file(files(__name__)) as folder:
        yield folder
