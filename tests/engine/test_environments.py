"""The published package list, and what is made of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from guildhall.cli.sandbox import app
from guildhall.confine.launch import why_no_bubblewrap
from guildhall.engine.bubblewrap_config import BubblewrapConfig
from guildhall.engine.environments import ReadyEnvironment, interpreter_places, of_profile, packages, requirements
from guildhall.engine.rooms import open_room
from guildhall.engine.sandboxes import write_container_files
from guildhall.errors import InterpreterNotShown


def test_the_whole_published_list_is_there():
    assert len({package.name for package in packages() if package.published}) == 142
    assert [package.name for package in packages() if not package.published] == ["tensorflow"]
    assert len(packages()) == len({package.name for package in packages()}) == 143
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
    prepared = ReadyEnvironment(profile="small", folder=tmp_path, venv=tmp_path / "venv", python="3.11.2", installed=())
    (tmp_path / "environment.json").write_text(prepared.model_dump_json())
    assert ReadyEnvironment.at(tmp_path) == prepared
    assert prepared.env["PATH"].startswith(f"{tmp_path}/venv/bin:")


def test_a_python_outside_the_system_is_shown_with_everything_its_links_lead_through(tmp_path: Path):
    real, link, venv = tmp_path / "pythons/3.12.1", tmp_path / "pythons/3.12", tmp_path / "venv"
    for folder in (real, venv):
        (folder / "bin").mkdir(parents=True)
    (real / "bin/python3.12").touch()
    link.symlink_to(real)
    (venv / "bin/python").symlink_to(link / "bin/python3.12")
    assert interpreter_places(venv / "bin/python", link, shown=venv) == (link,)
    (venv / "bin/other").symlink_to("/usr/bin/python3")
    assert interpreter_places(venv / "bin/other", Path("/usr"), shown=venv) == ()


@pytest.mark.parametrize("place", [Path.home(), Path("/"), Path.home().parent])
def test_a_home_folder_is_never_shown_for_an_interpreters_sake(tmp_path: Path, place: Path):
    with pytest.raises(InterpreterNotShown, match="sandbox build"):
        interpreter_places(tmp_path / "python", place, shown=tmp_path)


def _python_elsewhere() -> Path | None:
    roots = (Path.home() / ".pyenv/versions", Path.home() / ".local/share/uv/python")
    found = [python for root in roots if root.is_dir() for python in sorted(root.glob("*3.1[123]*/bin/python3"))]
    return found[0] if found else None


@pytest.mark.skipif(why_no_bubblewrap() is not None, reason="bubblewrap does not work on this machine")
@pytest.mark.skipif(_python_elsewhere() is None, reason="every Python of this machine is the system's own")
def test_a_room_runs_an_interpreter_that_lies_outside_the_system(tmp_path: Path):
    python = _python_elsewhere()
    assert python is not None
    venv, work = tmp_path / "venv", tmp_path / "work"
    subprocess.run([python, "-m", "venv", "--without-pip", venv], check=True)
    shown = interpreter_places(venv / "bin/python3", python.parent.parent, shown=venv)
    assert python.parent.parent in shown
    config = BubblewrapConfig(read_only=(venv, *shown), env={"PATH": f"{venv}/bin:/usr/bin"})
    work.mkdir()
    with open_room(config, work=work, output_bytes=10_000) as room:
        said = room.run(["python3", "-c", "import json, ssl, sys; print(sys.prefix, sys.base_prefix)"])
        assert said.stdout.decode().split() == [str(venv), str(python.parent.parent)], said.stderr
        assert not room.run(["sh", "-c", f"ls {Path.home()}/.ssh {Path.home()}/.bash_history"]).stdout.strip()


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
