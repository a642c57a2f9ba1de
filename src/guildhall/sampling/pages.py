"""Rendering for agents at work: one renderer for a whole run."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from guildhall.documents.looking import documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guildhall.judging.pages import Render


@contextmanager
def opened_renderer(cache: Path) -> Iterator[Render]:
    """A renderer over a cache folder, with LibreOffice kept warm while the block runs."""
    with documents(cache) as looking:
        yield looking.renderer.render
