"""Imports point down the picture in DESIGN: what a package may import is written here, and nothing else passes."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("sources")
SOURCE = Path(__file__).parent.parent / "src" / "guildhall"
ALWAYS = {"errors", "domain"}
STAGES = {"occupations", "taskbank", "sampling", "grading", "peer"}
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "domain": set(),
    "observe": set(),
    "confine": set(),
    "store": {"observe"},
    "documents": {"confine", "observe", "store"},
    "engine": {"confine", "observe", "store"},
    "judging": {"documents", "engine", "store"},
    "occupations": {"engine"},
    "taskbank": {"store", "documents", "engine"},
    "sampling": {"store", "documents", "engine", "judging"},
    "grading": {"store", "documents", "engine", "judging"},
    "peer": {"store", "engine", "judging"},
    "analysis": set(),
    "reports": {"analysis"},
    "study": {*STAGES, "judging", "documents", "engine", "store", "confine", "analysis", "reports"},
    "deploy": set(),
    "machine": {"confine"},
    "web": {*STAGES, "judging", "documents", "store", "analysis", "reports", "study", "machine", "observe"},
    "cli": {"*"},
    "__main__": {"cli"},
    "__init__": {"store"},
}
"""Package -> what it may import beside itself, `errors` and `domain`."""


@cache
def read(path: Path) -> tuple[set[str], bool]:
    """What a module imports, at its top or inside its functions, and whether it asks for tasks; read once for all."""
    names, asks = set(), False
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            inside = node.module == "guildhall"
            names |= {f"guildhall.{alias.name}" if inside else str(node.module) for alias in node.names}
        asks = asks or _asks_for_tasks(node)
    return names, asks


def imports(path: Path) -> set[str]:
    """The guildhall packages a module imports."""
    return {name.split(".")[1] for name in read(path)[0] if name.startswith("guildhall.")}


def package_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


MODULES = sorted(path for path in SOURCE.rglob("*.py"))


def test_every_package_has_its_line() -> None:
    assert {package_of(path) for path in MODULES} <= set(MAY_IMPORT)


@pytest.mark.parametrize("package", sorted({package_of(path) for path in MODULES}))
def test_imports_point_down(package: str) -> None:
    allowed = MAY_IMPORT[package] | ALWAYS | {package}
    if "*" in allowed:
        return
    for path in MODULES:
        if package_of(path) == package:
            wrong = imports(path) - allowed - {"__version__"}
            assert not wrong, f"{path.relative_to(SOURCE)} imports {', '.join(sorted(wrong))}"


def test_modules_stay_small() -> None:
    lines = {str(path.relative_to(SOURCE)): path.read_text().count("\n") for path in MODULES}
    long = {name: count for name, count in lines.items() if count > 400}
    assert long == {}, "look for the second idea in there and name it"


def _asks_for_tasks(node: ast.AST) -> bool:
    """Whether a call asks a store for tasks without saying which wording: `find`, `each` or `newest` of `Task`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"find", "each", "newest"}
        and bool(node.args)
        and isinstance(node.args[0], ast.Name)
        and node.args[0].id == "Task"
    )


def test_outside_the_task_bank_a_task_is_reached_by_its_key_only() -> None:
    asking = [path for path in MODULES if read(path)[1]]
    found = {package_of(path) for path in asking}
    assert found == {"taskbank"}, sorted(str(path.relative_to(SOURCE)) for path in asking)


def test_the_newest_wording_is_chosen_in_one_place() -> None:
    """No `max` or `sorted` by version outside the bank, where the versions of a draft are ordered too."""
    for path in MODULES:
        if package_of(path) != "taskbank":
            assert "key=lambda task: task.version" not in path.read_text(), path


def test_only_the_engine_knows_inspect() -> None:
    knowing = {package_of(path) for path in MODULES for name in read(path)[0] if name.split(".")[0] == "inspect_ai"}
    assert knowing == {"engine"}
