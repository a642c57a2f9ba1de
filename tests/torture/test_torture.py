"""A short campaign on each database: one fault of each kind, seeded. The long ones are the proofs `scale-torture-*`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.postgres import NoPostgres, _programs
from tests.torture.campaign import kinds_on

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_no_fault_loses_or_doubles_what_was_acknowledged(database: str) -> None:
    if database == "postgresql":
        try:
            _programs()
        except NoPostgres as reason:
            pytest.skip(str(reason))
    command = [sys.executable, "-m", "tests.torture", database]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    assert json.loads(run.stdout) == dict.fromkeys(kinds_on(database), 1)
