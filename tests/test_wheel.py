"""The wheel works on its own: built, installed without extras in a bare environment outside the tree, and run there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
UV = Path(sys.executable).parent / "uv"


NOT_PASSED_ON = {"VIRTUAL_ENV", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}


def test_the_wheel_runs_the_demo_in_a_bare_environment_to_the_same_report(tmp_path: Path, demo_workspace: Path) -> None:
    """In another folder, at another time: scripted authors truly make files, whose bytes hold the time."""

    def run(*command: str | Path, cwd: Path = tmp_path) -> str:
        environment = {name: value for name, value in os.environ.items() if name not in NOT_PASSED_ON}
        environment |= {"UV_PYTHON_DOWNLOADS": "never", "VIRTUAL_ENV": str(tmp_path / "bare")}
        result = subprocess.run(
            [str(word) for word in command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
        return result.stdout

    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path / "dist", ROOT)
    [wheel] = (tmp_path / "dist").glob("*.whl")
    run(UV, "venv", "--quiet", "--python", sys.executable, tmp_path / "bare")
    run(UV, "pip", "sync", "--quiet", "--require-hashes", ROOT / "requirements" / "core.txt")
    run(UV, "pip", "install", "--quiet", "--no-deps", wheel)
    guildhall = tmp_path / "bare" / "bin" / "guildhall"
    told = run(guildhall, "demo", tmp_path / "demo", "--tasks", "1")
    assert "9 tasks imported" in told and "report.html" in told
    assert (tmp_path / "demo" / "report" / "report.html").exists()
    ours, theirs = _files(demo_workspace / "report"), _files(tmp_path / "demo" / "report")
    assert [name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)] == []


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
