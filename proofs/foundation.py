"""The foundation's claims: import, start-up, bundles, killed imports, bad input, a fresh machine."""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from proofs import ROOT, Figures, NotRun, proof, realdata

GUILDHALL = [sys.executable, "-m", "guildhall"]


def _seconds(command: list[str], *, repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def bare_imports(*words: str) -> list[str]:
    """A process that imports just the modules of others which a command loads, in their order, and does nothing."""
    listing = (
        "import runpy, sys, atexit\n"
        "atexit.register(lambda: print('\\n'.join(sys.modules), file=sys.stderr))\n"
        f"sys.argv = ['guildhall', *{list(words)!r}]\n"
        "runpy.run_module('guildhall', run_name='__main__')"
    )
    shown = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True).stderr
    names = [name for name in shown.split() if not name.startswith(("guildhall", "_", "runpy"))]
    bare = f"import importlib\nfor name in {names!r}:\n  try: importlib.import_module(name)\n  except Exception: pass"
    return [sys.executable, "-c", bare]


def _json(*words: str) -> dict[str, object]:
    shown = subprocess.run([*GUILDHALL, *words, "--json"], check=True, capture_output=True, text=True).stdout
    found: dict[str, object] = json.loads(shown)
    return found


@proof("foundation-import-totals", "all three public files import, and the totals of the 220 tasks are exact")
def import_totals() -> Figures:
    expected = {
        "tasks": 220,
        "sectors": 9,
        "occupations": 44,
        "reference_files": 261,
        "deliverable_files": 248,
        "rubric_items": 10_453,
        "negative_rubric_items": 94,
    }
    figures: Figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in (
            "gdpval_tasks_220.jsonl",
            "gdpval_v1_2025-10_7col.parquet",
            "gdpval_12col_50tasks_rubric_json.jsonl",
        ):
            place = f"{folder}/{name}.workspace"
            _json("init", place)
            figures[name] = _json("tasks", "import", str(realdata(f"gdpval/{name}")), "--workspace", place)["new"]
        found = _json("tasks", "stats", "--workspace", f"{folder}/gdpval_tasks_220.jsonl.workspace")
    figures["totals"] = {key: found[key] for key in expected}
    assert figures["totals"] == expected, figures
    assert figures["gdpval_v1_2025-10_7col.parquet"] == 220
    assert figures["gdpval_12col_50tasks_rubric_json.jsonl"] == 50
    return figures


@proof(
    "foundation-import-speed", "220 tasks import in under 5 s; `tasks list` and `--help` stay near their bare imports"
)
def import_speed() -> Figures:
    source = str(realdata("gdpval/gdpval_tasks_220.jsonl"))
    times = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(5):
            place = f"{folder}/{number}"
            _json("init", place)
            times.append(_seconds([*GUILDHALL, "tasks", "import", source, "--workspace", place], repeats=1))
        listing = _seconds([*GUILDHALL, "tasks", "list", "--workspace", f"{folder}/0"])
        bare_list = _seconds(bare_imports("tasks", "list", "--workspace", f"{folder}/0"))
    helping = _seconds([*GUILDHALL, "--help"])
    bare_help = _seconds(bare_imports("--help"))
    figures = {
        "import_s_median_of_5": statistics.median(times),
        "list_overbare_imports": listing / bare_list,
        "help_overbare_imports": helping / bare_help,
    }
    assert figures["import_s_median_of_5"] < 5
    assert figures["list_overbare_imports"] <= 1.5, figures
    assert figures["help_overbare_imports"] <= 2, figures
    return figures


@proof(
    "foundation-killed-import",
    "an import killed with SIGKILL at 20 random points leaves all or nothing of a task",
    budget_s=300,
)
def killed_import() -> Figures:
    from tests.taskbank.test_importing import kill_during_import, make_bank, whole_or_absent

    from guildhall.store.workspace import Workspace

    rng = random.Random(1)
    seen: dict[int, int] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_bank(folder / "bank", tasks=60, files=5)
        for _ in range(20):
            shutil.rmtree(folder / "w", ignore_errors=True)
            Workspace.create(folder / "w").close()
            kill_during_import(folder, rng.uniform(0.2, 2.5))
            tasks = whole_or_absent(folder, 5)
            assert tasks in {0, 60}, tasks
            seen[tasks] = seen.get(tasks, 0) + 1
    assert set(seen) == {0, 60}, f"the kills were all too early or too late: {seen}"
    return {"kills": 20, "nothing_there": seen[0], "everything_there": seen[60]}


@proof(
    "foundation-properties",
    "bundles are the identity, the store round-trips every value on both databases (1,000 examples)",
    budget_s=900,
)
def properties() -> Figures:
    chosen = "comes_back_equal or identity or changed_byte or equal_bytes"
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--timeout=850", "tests/store", "-k", chosen],
        cwd=ROOT,
        env=os.environ | {"GUILDHALL_EXAMPLES": "thorough"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-2000:]
    return {"pytest": result.stdout.strip().splitlines()[-1], "examples_each": 1000}


@proof("foundation-bad-input", "each kind of bad input gives one clear line, exit code 2, and changes nothing")
def bad_input() -> Figures:
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests/taskbank/test_importing.py", "tests/taskbank/test_folder.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-2000:]
    return {"kinds": _kinds_of_bad_input()}


def _kinds_of_bad_input() -> list[str]:
    from tests.taskbank.test_importing import BAD_ROWS

    others = ["truncated parquet", "duplicate ids", "link out of the folder", "hostile file names", "fifo", "not UTF-8"]
    return [*BAD_ROWS, *others]


@proof(
    "foundation-fresh-machine",
    "a bare Debian runs `make demo` and `make test` from a clone; the second demo is under a minute",
    budget_s=5400,
)
def fresh_machine() -> Figures:
    if os.getuid() != 0 or not shutil.which("debootstrap"):
        raise NotRun("needs root and debootstrap")
    from proofs._chroot import bare_debian

    figures: Figures = {}
    with bare_debian() as machine:
        machine.run("apt-get install -y --no-install-recommends git make python3-venv ca-certificates", timeout_s=600)
        machine.run("git clone -q /source /root/guildhall", timeout_s=120)
        for name, target in (("demo_s", "demo"), ("second_demo_s", "demo"), ("test_s", "test")):
            started = time.monotonic()
            figures[f"{name[:-2]}_tail"] = machine.run(f"cd /root/guildhall && make {target}", timeout_s=3000)[-300:]
            figures[name] = round(time.monotonic() - started, 1)
    assert figures["second_demo_s"] < 60
    return figures
