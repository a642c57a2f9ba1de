"""Write docs/reference/ from the code: commands, exit codes, permissions, the schema of task.toml.

`--check` only compares: it exits with 1, names what differs and writes nothing. `--folder` names another folder.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import typer

from guildhall import errors
from guildhall.cli.main import COMMANDS, app
from guildhall.taskbank.folder import TaskFile
from guildhall.web.permissions import permissions_page

FOLDER = Path(__file__).parent.parent / "docs" / "reference"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Write docs/reference/ from the code.")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    wanted = parser.parse_args(arguments)
    pages = {
        "commands.md": commands_page(),
        "exit-codes.md": exit_codes_page(),
        "permissions.md": permissions_page(),
        "task.schema.json": schema(),
    }
    if not wanted.check:
        wanted.folder.mkdir(parents=True, exist_ok=True)
        for name, text in pages.items():
            (wanted.folder / name).write_text(text)
        return 0
    kept = {path.name: path.read_text() for path in wanted.folder.iterdir()} if wanted.folder.is_dir() else {}
    differing = sorted(name for name in pages.keys() | kept.keys() if pages.get(name) != kept.get(name))
    if differing:
        print(f"docs/reference is not current ({', '.join(differing)}); run: python scripts/reference.py")
    return 1 if differing else 0


def schema() -> str:
    return json.dumps(TaskFile.model_json_schema(), indent=2) + "\n"


def commands_page() -> str:
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


def _with_a_code_of_their_own(error: type[errors.GuildhallError]) -> list[type[errors.GuildhallError]]:
    below = [one for branch in error.__subclasses__() for one in _with_a_code_of_their_own(branch)]
    return [*([error] if "exit_code" in vars(error) and error is not errors.GuildhallError else []), *below]


def exit_codes_page() -> str:
    told = [
        (0, "done"),
        (1, "unexpected fault"),
        (8, "A check or a gate did not hold."),
        (130, "interrupted; the same command goes on where it stopped"),
        *(
            (one.exit_code, _words((one.__doc__ or "").splitlines()[0]))
            for one in _with_a_code_of_their_own(errors.GuildhallError)
        ),
    ]
    lines = ["# Exit codes", "", "| code | meaning |", "| --- | --- |"]
    lines += [f"| {code} | {words} |" for code, words in sorted(told, key=lambda one: one[0])]
    lines += [
        "",
        "Where part of a run failed by no fault of the work, the code is that of what failed: storage 3, a sandbox 5, a "
        "provider 6.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
