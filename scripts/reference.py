"""Write docs/reference/ from the code: commands, exit codes, permissions, the schema of task.toml. `--check` only compares."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import typer

from guildhall import errors
from guildhall.cli.main import COMMANDS, app
from guildhall.taskbank.folder import TaskFile
from guildhall.web.permissions import permissions_page

TARGET = Path(__file__).parent.parent / "docs" / "reference"


def main() -> int:
    pages = {
        "commands.md": commands_page(),
        "exit-codes.md": exit_codes_page(),
        "permissions.md": permissions_page(),
        "task.schema.json": schema(),
    }
    stale = [
        name for name, text in pages.items() if not (TARGET / name).exists() or (TARGET / name).read_text() != text
    ]
    if "--check" in sys.argv:
        if stale:
            print(f"docs/reference is not current ({', '.join(stale)}); run: python scripts/reference.py")
        return bool(stale)
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        (TARGET / name).write_text(text)
    return 0


def schema() -> str:
    return json.dumps(TaskFile.model_json_schema(), indent=2) + "\n"


def commands_page() -> str:
    sys.argv = ["guildhall", "reference"]  # the group loads a command only when one is named
    root: Any = typer.main.get_command(app)
    context = root.context_class(root, info_name="guildhall")
    lines = ["# Commands", "", "Generated from the code by `scripts/reference.py`.", ""]
    for name in COMMANDS:
        command = root.get_command(context, name)
        lines += _section(f"guildhall {name}", command, level=2)
    return "\n".join(lines).rstrip() + "\n"


def _section(title: str, command: Any, *, level: int) -> list[str]:
    lines = [f"{'#' * level} `{title}`", "", _words(command.help), ""]
    inner = getattr(command, "commands", None)
    if inner:
        for name, sub in inner.items():
            if not getattr(sub, "hidden", False):
                lines += _section(f"{title} {name}", sub, level=level + 1)
        return lines
    rows = [_row(parameter) for parameter in command.params if parameter.name != "help"]
    if rows:
        lines += ["| argument or option | meaning | default |", "| --- | --- | --- |", *rows, ""]
    return lines


def _row(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        name = f"`{parameter.metavar or parameter.name.upper()}`"
    else:
        name = ", ".join(f"`{option}`" for option in parameter.opts)
    default = parameter.default
    shown = "" if default in (None, False, (), []) or callable(default) else f"`{default}`"
    if getattr(parameter, "required", False):
        shown = "required"
    return f"| {name} | {_words(getattr(parameter, 'help', '') or '')} | {shown} |"


def _words(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


def exit_codes_page() -> str:
    lines = ["# Exit codes", "", "| code | meaning |", "| --- | --- |", "| 0 | done |", "| 1 | unexpected fault |"]
    branches = sorted(errors.GuildhallError.__subclasses__(), key=lambda error: error.exit_code)
    lines += [f"| {branch.exit_code} | {_words((branch.__doc__ or '').splitlines()[0])} |" for branch in branches]
    lines += [
        "| 8 | A check or a gate did not hold. |",
        "| 130 | interrupted; the same command goes on where it stopped |",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
