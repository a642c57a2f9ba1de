"""Fuzzing: ten minutes in total for every parser of outside data, gathered over as many runs as it takes."""

from __future__ import annotations

import json
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path

from tests.fuzz.hammering import LEAK_BYTES, Hammered, hammer
from tests.fuzz.targets import TARGETS, target_named

from proofs import ROOT, Figures, proof

ENOUGH_S = 600.0
SLICE_S = 60.0
AT_ONCE = 4
CRASHES = ROOT / "tests" / "fuzz" / "crashes"
STATE = ROOT / ".prove" / "fuzzing.json"

Account = dict[str, float]


@proof(
    "fuzzing",
    "every parser of outside data stands ten minutes of damaged input: no crash, no hang, no leak",
    tier="bench",
    budget_s=2 * 3600,
)
def fuzzing() -> Figures:
    """Slices in turn, so that a run that is stopped has hammered all of them about equally."""
    done, faults = _done(), dict[str, list[str]]()
    with ProcessPoolExecutor(AT_ONCE, mp_context=get_context("spawn")) as pool:
        while behind := [name for name in TARGETS if done[name]["seconds"] < ENOUGH_S and name not in faults]:
            for name, found in zip(behind, pool.map(_slice, behind, [done[name] for name in behind]), strict=True):
                if wrong := _wrong(name, found):
                    faults[name] = wrong
                else:
                    _book(name, found, done)
    assert not faults, f"{faults}; the inputs are kept as tests"
    return {"parsers": len(TARGETS), "least_seconds_each": ENOUGH_S, "at_once": AT_ONCE, "by_parser": done}


def _slice(name: str, before: Account) -> Hammered:
    with tempfile.TemporaryDirectory() as scratch:
        return hammer(partial(target_named, name), Path(scratch), seconds=SLICE_S, seed=int(before["seconds"]) + 7)


def _wrong(name: str, found: Hammered) -> list[str]:
    """What went wrong, its inputs kept as tests."""
    for fault in found.faults:
        kept = CRASHES / name.replace(" ", "-") / sha256(fault.case).hexdigest()[:16]
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(fault.case)
    leak = [f"grew by {found.grown_bytes >> 20} MiB"] if found.grown_bytes >= LEAK_BYTES else []
    return [fault.what for fault in found.faults] + leak


def _book(name: str, found: Hammered, done: dict[str, Account]) -> None:
    """Keep the time as well spent."""
    mine = done[name]
    mine["seconds"] = round(mine["seconds"] + found.seconds, 1)
    mine["cases"] += found.cases
    mine["refused"] += found.refused
    STATE.parent.mkdir(exist_ok=True)
    STATE.write_text(json.dumps(done, indent=2))


def _done() -> dict[str, Account]:
    known = json.loads(STATE.read_text()) if STATE.exists() else {}
    return {name: known.get(name, {"seconds": 0.0, "cases": 0, "refused": 0}) for name in TARGETS}
