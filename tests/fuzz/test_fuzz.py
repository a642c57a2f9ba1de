"""Every parser of outside data under damaged input: a short round here, ten minutes each in `make bench`."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.hammering import LEAK_BYTES, Hammered, Target, attempt, hammer
from tests.fuzz.mutating import MOST_BYTES, mutated
from tests.fuzz.targets import TARGETS, target_named

_MOST_CASES = {"parquet rows": 15}
"""A stranger's Parquet is read in a process of its own, each case anew."""
CRASHES = Path(__file__).parent / "crashes"


@pytest.mark.parametrize("name", TARGETS)
def test_a_damaged_input_is_read_or_refused(name: str, tmp_path: Path) -> None:
    found = hammer(partial(target_named, name), tmp_path, seconds=60, seed=1, most_cases=_MOST_CASES.get(name, 60))
    assert not found.faults, [(fault.what, fault.case[:200]) for fault in found.faults]
    assert found.cases and found.grown_bytes < LEAK_BYTES


@pytest.mark.parametrize("case", sorted(CRASHES.glob("*/*")), ids=lambda case: f"{case.parent.name}-{case.name}")
def test_what_once_went_wrong_is_right_now(case: Path, tmp_path: Path) -> None:
    target = TARGETS[case.parent.name.replace("-", " ")]
    assert attempt(target, target.open(tmp_path), case.read_bytes(), Hammered()) is None


def test_the_same_numbers_make_the_same_damage() -> None:
    seeds = [b"a sound input", b"another"]
    rounds = [[mutated(seeds, [b"word"], random) for _ in range(200)] for random in (Random(3), Random(3))]
    assert rounds[0] == rounds[1] and len(set(rounds[0])) > 150
    assert max(map(len, rounds[0])) <= MOST_BYTES


def test_a_parser_that_fails_hangs_or_dies_is_caught(tmp_path: Path) -> None:
    """The watch itself: without this, a hammer that sees nothing would pass everything."""
    found = hammer(_weak_target, tmp_path, seconds=60, seed=2)
    said = " ".join(fault.what for fault in found.faults)
    assert "KeyError" in said and "the process died or stood still (9)" in said and "took longer than 0.2 s" in said


def _weak_target() -> Target:
    return Target("weak", lambda _folder: _weak, lambda: [b"abc"], (ValueError,), hang_s=0.2)


def _weak(data: bytes) -> None:
    if len(data) % 3 == 0:
        raise KeyError("missing")
    if len(data) % 3 == 1:
        os._exit(9)
    while True:
        pass
