"""Every command and example in README and the docs runs, every command is documented, and the reference is current."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from guildhall.cli.main import COMMANDS, app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(?P<language>\w+)(?P<rest>[^\n]*)\n(?P<body>.*?)^```", re.MULTILINE | re.DOTALL)
BIN = Path(sys.executable).parent


def blocks(page: Path) -> list[re.Match[str]]:
    return list(BLOCK.finditer(page.read_text()))


def commands(body: str) -> list[str]:
    """The `$ ...` lines of a console block, with lines that end in a backslash joined."""
    joined = body.replace("\\\n", " ")
    return [line[2:].strip() for line in joined.splitlines() if line.startswith("$ ")]


WITH_EXAMPLES = [page for page in PAGES if any(commands(b["body"]) for b in blocks(page) if b["language"] == "console")]


SHELL = re.compile(r"[|<>;&$`*]")


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run(
    page: Path, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("GUILDHALL_WORKSPACE")]:
        monkeypatch.delenv(name)
    for name, value in {"PATH": f"{BIN}:{os.environ['PATH']}", "COLUMNS": "100", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    for block in blocks(page):
        named = re.search(r'title="([^"]+)"', block["rest"])
        if named:
            target = tmp_path / named[1]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block["body"])
        if block["language"] != "console":
            continue
        for command in commands(block["body"]):
            if command.startswith("make "):
                continue  # the make targets are what runs these tests
            if demo := re.fullmatch(r"guildhall demo (\w+)", command):
                shutil.copytree(request.getfixturevalue("demo_workspace"), tmp_path / demo[1])  # run once for all pages
                continue
            code, said = run(command)
            assert code == 0, f"$ {command}\n{said}"


def run(command: str) -> tuple[int, str]:
    """A command as a shell in the present folder runs it; ours in this process, where all is imported already."""
    if not command.startswith("guildhall ") or SHELL.search(command):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout[-2000:] + done.stderr[-2000:]
    ended = CliRunner().invoke(app, shlex.split(command)[1:])
    return ended.exit_code, f"{ended.output[-2000:]}{ended.exception!r}"


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_is_documented(command: str) -> None:
    shown = "\n".join(page.read_text() for page in PAGES)
    assert f"guildhall {command}" in shown


def test_documented_commands_exist() -> None:
    for page in PAGES:
        for found in re.finditer(r"(?:^\$ |`)guildhall ([a-z-]+)", page.read_text(), re.MULTILINE):
            assert found[1] in COMMANDS, f"{page.name} names `guildhall {found[1]}`"


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"


def test_every_page_is_reached_from_the_index() -> None:
    index = ROOT / "docs" / "index.md"
    linked = {(index.parent / target).resolve() for target in re.findall(r"\]\(([^)#\s]+)", index.read_text())}
    missing = {page for page in PAGES if page.is_relative_to(index.parent)} - linked - {index}
    assert not missing, [str(page.relative_to(ROOT)) for page in missing]


REFERENCE = ROOT / "docs" / "reference"


def check_reference(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "reference.py"), "--check", "--folder", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_reference_is_current() -> None:
    result = check_reference(REFERENCE)
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_changed_a_missing_and_a_needless_page_of_the_reference_are_named_and_all_left_as_they_are(
    tmp_path: Path,
) -> None:
    copy = shutil.copytree(REFERENCE, tmp_path / "reference")
    (copy / "permissions.md").write_text((copy / "permissions.md").read_text() + "more\n")
    (copy / "commands.md").unlink()
    (copy / "old.md").write_text("about a command that went\n")
    before = {path.name: path.read_text() for path in copy.iterdir()}
    result = check_reference(copy)
    assert (result.returncode, result.stderr) == (1, "")
    assert "(commands.md, old.md, permissions.md)" in result.stdout
    assert {path.name: path.read_text() for path in copy.iterdir()} == before


def test_readme_promises_two_commands() -> None:
    text = (ROOT / "README.md").read_text()
    assert "make demo" in text and "make test" in text


def test_lock_files_name_no_host() -> None:
    for file in (ROOT / "requirements").glob("*.txt"):
        assert not re.search(r"https?://|file:", file.read_text()), file.name


def test_console_blocks_are_parsable() -> None:
    for page in WITH_EXAMPLES:
        for block in blocks(page):
            if block["language"] == "console":
                for command in commands(block["body"]):
                    assert shlex.split(command)
