"""The public surface, the command line's manners, and how little it loads to start."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import guildhall
from guildhall import errors, machine
from guildhall.cli.doctor import doctor
from guildhall.cli.main import COMMANDS
from guildhall.cli.show import table

ROOT = Path(__file__).parent.parent


def run(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "guildhall", *words], capture_output=True, text=True, cwd=cwd, check=False
    )


def test_the_public_names_are_sorted_typed_and_there() -> None:
    assert guildhall.__all__ == sorted(guildhall.__all__)
    for name in guildhall.__all__:
        assert getattr(guildhall, name).__name__ == name
    assert (Path(guildhall.__file__).parent / "py.typed").exists()


def test_names_listed_for_type_checkers_are_the_names_that_load() -> None:
    tree = ast.parse(Path(guildhall.__file__).read_text())
    declared = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert set(guildhall.__all__) == declared - {"annotations", "TYPE_CHECKING", "Any"}


def test_every_error_is_drawn_in_the_tree_and_has_a_documented_exit_code() -> None:
    found = [
        item for item in vars(errors).values() if isinstance(item, type) and issubclass(item, errors.GuildhallError)
    ]
    documented = (Path(__file__).parent.parent / "docs" / "reference" / "exit-codes.md").read_text()
    for error in found:
        assert error.__name__ in (errors.__doc__ or ""), f"{error.__name__} is missing from the tree in errors"
        assert f"| {error.exit_code} |" in documented, error


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_loads_and_says_what_it_is_for(command: str) -> None:
    module, _, attribute = COMMANDS[command][0].partition(":")
    assert hasattr(importlib.import_module(module), attribute)
    assert COMMANDS[command][1].endswith(".")


def test_help_lists_every_command_without_loading_it() -> None:
    shown = run("--help")
    assert shown.returncode == 0
    for command in COMMANDS:
        assert re.search(rf"\b{command}\b", shown.stdout), command


def test_nothing_heavy_is_imported_at_start() -> None:
    code = "import sys; sys.argv = ['guildhall', '--help']\nimport guildhall.cli.main\nprint('\\n'.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"numpy", "polars", "inspect_ai", "sqlalchemy", "scipy", "vl_convert", "pydantic", "fastapi", "ray", "docx"}
    assert not heavy & {name.split(".")[0] for name in loaded}


def loaded_by_help(program: str) -> set[str]:
    code = (
        "import atexit, sys\nsys.argv = ['program', '--help']\n"
        f"atexit.register(lambda: print('\\n'.join(sys.modules), file=sys.stderr))\n{program}"
    )
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr.split())


def test_help_loads_few_modules_of_ours_and_nobody_elses_but_the_command_line_library() -> None:
    """What that takes beside bare imports is measured by the proof `foundation-import-speed`."""
    bare = "import typer\napp = typer.Typer()\napp.command()(lambda: None)\napp()"
    ours = loaded_by_help("import runpy\nrunpy.run_module('guildhall', run_name='__main__')")
    packages, expected = ({name.split(".")[0] for name in names} for names in (ours, loaded_by_help(bare)))
    assert 0 < len([name for name in ours if name.split(".")[0] == "guildhall"]) <= 12
    assert packages - set(sys.stdlib_module_names) - expected == {"guildhall"}


def test_our_errors_are_one_line_and_an_exit_code(tmp_path: Path) -> None:
    shown = run("tasks", "list", cwd=tmp_path)
    assert shown.returncode == errors.NoWorkspace.exit_code
    assert shown.stderr.startswith("error: ") and shown.stderr.count("\n") == 1
    assert "guildhall init" in shown.stderr


def test_doctor_tells_what_is_missing_and_never_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-123")
    shown = run("doctor", "--json")
    findings = json.loads(shown.stdout)
    assert {"LibreOffice", "ffmpeg", "bubblewrap", "Docker engine", "Ray", "key for OpenAI"} <= {
        one["name"] for one in findings
    }
    assert all(one["present"] or one["fix"] for one in findings)
    assert "sk-canary" not in shown.stdout + shown.stderr


def test_the_doctor_names_the_extra_that_brings_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr(machine, "_is_installed", lambda _module: False)
    doctor(strict=False)
    shown = capsys.readouterr().out
    for extra in ("postgres", "ray", "s3", "observe", "providers", "hub", "local", "fast"):
        assert f"pip install 'guildhall[{extra}]'" in shown


def test_a_table_shows_brackets_as_they_were_written(capsys: pytest.CaptureFixture[str]) -> None:
    table("[bold]title[/bold]", ["[red]column"], [("[/] [link=x]cell[/link]",)])
    shown = capsys.readouterr().out
    for written in ("[bold]title[/bold]", "[red]column", "[/] [link=x]cell[/link]"):
        assert written in shown


def test_completion_is_offered_for_the_shell() -> None:
    assert "completion" in run("--help").stdout
