"""The wheel works on its own: built, installed without extras in a bare environment outside the tree, and run there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
UV = Path(sys.executable).parent / "uv"


NOT_PASSED_ON = {"VIRTUAL_ENV", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}


def test_the_wheel_runs_the_demo_in_a_bare_environment(tmp_path: Path) -> None:
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
