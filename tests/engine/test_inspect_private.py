"""What we use of Inspect beyond its public names is there in the version we were written for, and only in one place."""

from __future__ import annotations

import ast
import importlib
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import guildhall.engine.inspect_private as adapter
from guildhall.errors import MissingTool

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "guildhall"
PRIVATE = "inspect_private.py"


def imported(path: Path) -> list[tuple[str, str]]:
    """Every name a module imports from Inspect, and from where."""
    return [
        (str(node.module), alias.name)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("inspect_ai")
        for alias in node.names
    ]


def is_private(module: str, name: str) -> bool:
    return any(part.startswith("_") for part in [*module.split("."), name])


def test_the_adapter_is_written_for_the_version_that_is_installed() -> None:
    found = version("inspect-ai")
    assert found == adapter.WRITTEN_FOR, (
        f"Inspect {found} is installed and {PRIVATE} was written for {adapter.WRITTEN_FOR}: "
        "look its names through, then name the new version in WRITTEN_FOR and in pyproject.toml"
    )


@pytest.mark.parametrize(("module", "name"), imported(SOURCE / "engine" / PRIVATE))
def test_every_name_the_adapter_takes_is_still_there(module: str, name: str) -> None:
    assert hasattr(importlib.import_module(module), name), (
        f"{module}.{name} is gone from Inspect {version('inspect-ai')}; {PRIVATE} was written for {adapter.WRITTEN_FOR}"
    )


def test_what_the_adapter_reads_of_openai_models_is_still_there() -> None:
    from inspect_ai.model._providers.openai import OpenAIAPI

    api = OpenAIAPI("gpt-5", api_key="none", base_url="http://127.0.0.1:9/v1", responses_api=True)
    for name in ("_reasoning_summaries", "responses_api", "has_reasoning_options", "reasoning_summaries"):
        assert hasattr(api, name), f"OpenAIAPI.{name} is gone from Inspect {version('inspect-ai')}"
    assert adapter.may_probe(api) and adapter.probe_outcome(api) is None


def test_nobody_else_takes_a_private_name_of_inspect() -> None:
    for path in SOURCE.rglob("*.py"):
        if path.name != PRIVATE:
            assert not [one for one in imported(path) if is_private(*one)], path


def test_the_package_asks_for_no_version_of_inspect_it_was_not_looked_through_for() -> None:
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    (bound,) = [one for one in wanted if one.startswith("inspect-ai")]
    assert ",<" in bound


def test_a_name_that_is_gone_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("inspect_ai.util._display.init_display_type")
    try:
        with pytest.raises(MissingTool, match=f"Inspect {adapter.WRITTEN_FOR} .*init_display_type"):
            importlib.reload(adapter)
    finally:
        monkeypatch.undo()
        importlib.reload(adapter)
