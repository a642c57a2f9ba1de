"""The published package list, and what is made of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from guildhall.cli.sandbox import app
from guildhall.confine.launch import why_no_bubblewrap
from guildhall.engine.bubblewrap_config import BubblewrapConfig
from guildhall.engine.containers import write_container_files
from guildhall.engine.environments import Prepared, of_profile, packages, requirements


def test_the_whole_published_list_is_there():
    assert len(packages()) == 142
    assert len({package.name for package in packages()}) == 142
    assert {"python-docx", "torch", "aspose-words", "cadquery-ocp"} <= {package.name for package in packages()}


def test_what_is_not_installed_as_published_says_why():
    for package in packages():
        assert (package.install is None) == (package.why == ""), package.name


def test_the_small_profile_is_a_part_of_the_full_one():
    assert set(of_profile("small")) < set(of_profile("full"))
    assert "python-docx" in requirements(of_profile("small"))
    assert "tabula-py" in requirements(of_profile("full"))
    assert not {"tabula", "torchtext", "imblearn"} & set(requirements(of_profile("full")))


def test_an_environment_comes_first_on_the_path(tmp_path: Path):
    prepared = Prepared(profile="small", folder=tmp_path, venv=tmp_path / "venv", python="3.11.2", installed=())
    (tmp_path / "environment.json").write_text(prepared.model_dump_json())
    assert Prepared.at(tmp_path) == prepared
    assert prepared.env["PATH"].startswith(f"{tmp_path}/venv/bin:")


@pytest.mark.parametrize(("engine", "file"), [("docker", "compose.yaml"), ("kubernetes", "values.yaml")])
def test_container_files_grant_no_network_and_no_privilege(engine, file, tmp_path: Path):
    files = write_container_files("small", engine, tmp_path, config=BubblewrapConfig(memory_mb=777))
    assert {path.name for path in files} == {"Dockerfile", "requirements.txt", file}
    text = (tmp_path / file).read_text()
    assert "777" in text
    assert "ALL" in text
    assert "network_mode: none" in text or "allowDomains: []" in text


@pytest.mark.skipif(why_no_bubblewrap() is not None, reason="bubblewrap does not work on this machine")
def test_the_check_command_tries_and_reports():
    shown = CliRunner().invoke(app, ["check", "--json"])
    assert shown.exit_code in (0, 8)  # 8 where LibreOffice is missing; what must hold is asked below
    import json

    checks = {check["name"]: check["holds"] for check in json.loads(shown.stdout)["checks"]}
    assert checks["no network"]
    assert checks["host files hidden"]
    assert checks["memory of the tree"]
    assert checks["processes of the tree"]
