"""Rendered files, kept by the digest of their content and the version of what drew them."""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import guildhall
from guildhall.documents.confined import relocated
from guildhall.documents.render.web import browser
from guildhall.documents.values import Rendered
from guildhall.domain.values import Digest, sha256

DRAWING_VERSION = 3
"""Raised whenever our own drawing changes what a page looks like."""


@functools.cache
def renderer_version() -> str:
    """Names everything that decides how a page looks; part of every cache key."""
    tools = ("pypdfium2", "pillow", "vl-convert-python", "ezdxf")
    versions = [f"{tool} {version(tool)}" for tool in tools]
    ours = f"guildhall {guildhall.__version__} drawing {DRAWING_VERSION}"
    return "; ".join([ours, f"LibreOffice {_stamp('soffice')}", f"browser {_stamp(browser())}", _fonts(), *versions])


def _fonts() -> str:
    """When fonts were last added or removed, as fontconfig notes it."""
    folder = Path("/var/cache/fontconfig")
    return f"fonts {folder.stat().st_mtime_ns}" if folder.exists() else "fonts of unknown age"


def _stamp(program: str | None) -> str:
    """Size and age of a program: asking it for its version takes longer than a whole cached answer."""
    found = shutil.which(program) if program else None
    if found is None:
        return "absent"
    binary = Path(found).resolve()
    beside = binary.with_suffix(".bin")
    facts = (beside if beside.exists() else binary).stat()
    return f"{facts.st_size}-{int(facts.st_mtime)}"


class RenderCache:
    """A folder of rendered files; one entry is written whole or not at all, and may be removed at any time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get_or_make(self, content: Digest, settings: str, make: Callable[[Path], Rendered]) -> Rendered:
        """The kept rendering, or what `make(folder)` draws into a fresh folder; failures are not kept."""
        entry = self._entry(content, settings)
        kept = self._read(entry)
        if kept is not None:
            return kept
        entry.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix="making-", dir=entry.parent))
        try:
            made = make(fresh)
            if not made.pages:
                return made
            (fresh / "rendered.json").write_text(
                relocated(made, str(fresh), _NOWHERE).model_dump_json(), encoding="utf-8"
            )
            self._keep(fresh, entry)
            return relocated(made, str(fresh), entry)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)

    def _entry(self, content: Digest, settings: str) -> Path:
        key = sha256(f"{content} {settings} {renderer_version()}".encode())
        return self.folder / key[:2] / key

    def _read(self, entry: Path) -> Rendered | None:
        try:
            text = (entry / "rendered.json").read_text(encoding="utf-8")
        except OSError:
            return None
        kept = Rendered.model_validate_json(text)
        return relocated(kept, str(_NOWHERE), entry).but(from_cache=True)

    def _keep(self, fresh: Path, entry: Path) -> None:
        """Whoever comes first wins; the same key means the same content."""
        try:
            os.rename(fresh, entry)  # noqa: PTH104 - the error numbers of rename are what tells a race
        except OSError:
            if not (entry / "rendered.json").exists():
                raise


_NOWHERE = Path("/rendered")
"""What stands for the entry's own folder in its JSON, so that a cache may be moved."""
