"""The tool by which an agent looks at a file: rendered as people who open it will see it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from guildhall.engine.agents import AgentRoom, HostTool, Shown

if TYPE_CHECKING:
    from guildhall.documents.values import Rendered

LOOK = "look_at_pages"
"""The tool's name, as agents and judges know it."""
MOST_PAGES = 8
Render = Callable[[Path], "Rendered"]


def look_at_pages(render: Render) -> HostTool:
    """The tool, over a function that renders one file."""

    async def run(room: AgentRoom, arguments: Mapping[str, Any]) -> Shown:
        path = str(arguments["path"])
        try:
            content = await room.read(path)
        except (OSError, ValueError, RuntimeError) as error:
            return Shown(f"{path} cannot be read: {error}")
        first = max(1, int(arguments.get("first_page") or 1))
        return await anyio.to_thread.run_sync(_shown, render, PurePosixPath(path).name, content, first)

    return HostTool(
        name=LOOK,
        about=f"Look at the rendered pages of a file, as its readers will see them: up to {MOST_PAGES} at a time.",
        parameters={
            "path": (str, "The file, relative to the working folder."),
            "first_page": (int, "The first page to show; 1 when left out."),
        },
        run=run,
    )


def _shown(render: Render, name: str, content: bytes, first: int) -> Shown:
    with tempfile.TemporaryDirectory(prefix="guildhall-look-") as folder:
        file = Path(folder) / name
        file.write_bytes(content)
        rendered = render(file)
        pages = rendered.pages[first - 1 : first - 1 + MOST_PAGES]
        words = [f"{name}: {len(rendered.pages)} pages" + (f", from page {first}" if first > 1 else "")]
        words += [f"not shown: {omission.what} ({omission.reason})" for omission in rendered.omitted]
        words += [f"noticed: {finding.words}" for finding in rendered.findings]
        return Shown("\n".join(words), tuple(page.image.read_bytes() for page in pages))
