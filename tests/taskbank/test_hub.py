"""The public data set from a hub: pinned to a commit, resumed, verified; here against a loopback imitation."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path

import polars as pl
import pytest

from guildhall.taskbank.gdpval import hub_name
from tests import warm
from tests.taskbank.hub_server import COMMIT, loopback_hub
from tests.warm import Forked

REFERENCE = "reference_files/" + "0" * 32 + "/My plan.txt"


def data_set() -> dict[str, bytes]:
    table = io.BytesIO()
    row = {
        "task_id": "t-1",
        "sector": "Information",
        "occupation": "Editors",
        "prompt": "Edit.",
        "reference_files": [REFERENCE],
    }
    pl.DataFrame([row]).write_parquet(table)
    return {"data/train-00000-of-00001.parquet": table.getvalue(), REFERENCE: b"the plan"}


def guildhall(*words: str, folder: Path, hub: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "HF_ENDPOINT": hub,
        "HF_HOME": str(folder / "cache"),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_XET": "1",
    }
    out, errors = folder / "out", folder / "errors"
    done = Forked(warm.guildhall, *words, out=out, errors=errors, folder=folder, environment=environment)
    said, regretted = (heard.decode() for heard in done.communicate())
    return subprocess.CompletedProcess(words, done.wait(), said, regretted)


def test_a_hub_data_set_is_pinned_and_its_files_come_along(tmp_path: Path) -> None:
    with loopback_hub(data_set()) as hub:
        guildhall("init", "w", folder=tmp_path, hub=hub.url)
        shown = guildhall("tasks", "import", "owner/bank@main", "-w", "w", "--json", folder=tmp_path, hub=hub.url)
        assert shown.returncode == 0, shown.stderr
        result = json.loads(shown.stdout)
        assert (result["new"], result["files"], result["revision"]) == (1, 1, COMMIT)
        task = json.loads(guildhall("tasks", "show", "t-1", "-w", "w", "--json", folder=tmp_path, hub=hub.url).stdout)
        assert task["provenance"] == {"source": "owner/bank", "revision": COMMIT, "licence": None}
        assert task["reference_files"][0]["digest"]


def test_a_broken_download_says_so_and_resumes_without_fetching_twice(tmp_path: Path) -> None:
    with loopback_hub(data_set()) as hub:
        hub.fails[REFERENCE] = 100
        guildhall("init", "w", folder=tmp_path, hub=hub.url)
        broken = guildhall("tasks", "import", "owner/bank", "-w", "w", folder=tmp_path, hub=hub.url)
        assert broken.returncode == 2
        assert "run the command again to resume" in broken.stderr
        hub.fails.clear()
        assert guildhall("tasks", "import", "owner/bank", "-w", "w", folder=tmp_path, hub=hub.url).returncode == 0
        assert hub.served.count("data/train-00000-of-00001.parquet") == 1


def test_a_hub_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    guildhall("init", "w", folder=tmp_path, hub="http://127.0.0.1:9")
    away = guildhall("tasks", "import", "openai/gdpvall", "-w", "w", folder=tmp_path, hub="http://127.0.0.1:9")
    assert away.returncode == 2 and "Traceback" not in away.stderr
    assert "no file or folder here is called openai/gdpvall" in " ".join(away.stderr.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("openai/gdpval", ("openai/gdpval", "main")),
        ("openai/gdpval@a1b2", ("openai/gdpval", "a1b2")),
        ("./file.jsonl", None),
        ("x", None),
    ],
)
def test_hub_names_are_told_from_paths(text: str, expected: tuple[str, str] | None) -> None:
    assert hub_name(text) == expected
