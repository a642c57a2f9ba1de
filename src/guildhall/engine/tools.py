"""The tools agents hold: Inspect's shell and Python, plain file tools, and tools of ours that run on the host."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from guildhall.engine.agents import SUBMIT, AgentJob, HostTool, Ran, Shown

if TYPE_CHECKING:
    from inspect_ai.tool import Tool, ToolDef
    from inspect_ai.util import SandboxEnvironment

COMMAND_SECONDS = 600
_LONGEST_TEXT = 200_000


class SandboxRoom:
    """A `Room` over whatever sandbox Inspect opened for the present sample."""

    def __init__(self, sandbox: SandboxEnvironment) -> None:
        self._sandbox = sandbox

    async def run(self, argv: list[str], *, stdin: str | None = None, timeout_s: float = 60) -> Ran:
        done = await self._sandbox.exec(argv, input=stdin, timeout=max(1, round(timeout_s)))
        return Ran(done.returncode, done.stdout, done.stderr)

    async def read(self, path: str) -> bytes:
        return await self._sandbox.read_file(path, text=False)

    async def write(self, path: str, content: bytes) -> None:
        await self._sandbox.write_file(path, content)


def shell_tools(job: AgentJob) -> list[Tool]:
    """The sandbox tools a job asks for, in its order."""
    from inspect_ai.tool import bash, python, web_search

    makers = {
        "bash": lambda: bash(timeout=COMMAND_SECONDS),
        "python": lambda: python(timeout=COMMAND_SECONDS),
        "read_file": _read_file,
        "write_file": _write_file,
        "edit_file": _edit_file,
    }
    found = [makers[name]() for name in job.tools if name in makers]
    return [*found, web_search()] if job.web_search else found


def host_tool(made: HostTool) -> ToolDef:
    """A stage's own tool as Inspect knows tools; pictures go to the model as images."""
    from inspect_ai.model import ContentImage, ContentText
    from inspect_ai.tool import ToolDef, ToolParams
    from inspect_ai.util import JSONSchema, sandbox

    async def execute(**arguments: Any) -> Any:
        shown: Shown = await made.run(SandboxRoom(sandbox()), arguments)
        if not shown.images:
            return shown.text
        pictures = [f"data:image/png;base64,{base64.b64encode(image).decode()}" for image in shown.images]
        return [ContentText(text=shown.text), *(ContentImage(image=picture) for picture in pictures)]

    kinds = {str: "string", int: "integer"}
    schema = {name: JSONSchema(type=kinds[kind], description=about) for name, (kind, about) in made.parameters.items()}
    parameters = ToolParams(properties=schema, required=list(schema)[:1])
    return ToolDef(execute, name=made.name, description=made.about, parameters=parameters)


def submit_tool(on_submit: Any) -> Tool:
    """The tool that ends an agent's work."""
    from inspect_ai.tool import tool

    @tool(name=SUBMIT)
    def submit() -> Tool:
        async def execute(text: str, files: list[str]) -> str:
            """Hand in the finished work. Nothing can be changed afterwards.

            Args:
              text: The final message to the person who asked for the work.
              files: Paths of the deliverables, relative to the working folder; an empty list when none was asked for.
            """
            on_submit(text, files)
            return text

        return execute

    return submit()


def _read_file() -> Tool:
    from inspect_ai.tool import ToolError, tool
    from inspect_ai.util import sandbox

    @tool(name="read_file")
    def read_file() -> Tool:
        async def execute(path: str) -> str:
            """Read a text file.

            Args:
              path: The file, relative to the working folder.
            """
            try:
                text = (await sandbox().read_file(path, text=False)).decode()
            except UnicodeDecodeError as error:
                raise ToolError(f"{path} is not a text file; open it with Python instead") from error
            except (OSError, ValueError) as error:
                raise ToolError(f"{path} cannot be read: {error}") from error
            return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "\n[cut here: the file is longer]"

        return execute

    return read_file()


def _write_file() -> Tool:
    from inspect_ai.tool import ToolError, tool
    from inspect_ai.util import sandbox

    @tool(name="write_file")
    def write_file() -> Tool:
        async def execute(path: str, content: str) -> str:
            """Write a text file, replacing what was there.

            Args:
              path: The file, relative to the working folder.
              content: The whole new content.
            """
            try:
                await sandbox().write_file(path, content)
            except (OSError, ValueError) as error:
                raise ToolError(f"{path} cannot be written: {error}") from error
            return f"{path}: {len(content)} characters written"

        return execute

    return write_file()


def _edit_file() -> Tool:
    from inspect_ai.tool import ToolError, tool
    from inspect_ai.util import sandbox

    @tool(name="edit_file")
    def edit_file() -> Tool:
        async def execute(path: str, old: str, new: str) -> str:
            """Replace one passage of a text file. The passage must occur exactly once.

            Args:
              path: The file, relative to the working folder.
              old: The passage as it stands.
              new: What replaces it.
            """
            try:
                text = await sandbox().read_file(path)
            except (OSError, ValueError) as error:
                raise ToolError(f"{path} cannot be read: {error}") from error
            if text.count(old) != 1:
                raise ToolError(f"the passage occurs {text.count(old)} times in {path}; it must occur exactly once")
            await sandbox().write_file(path, text.replace(old, new))
            return f"{path}: replaced"

        return execute

    return edit_file()
