"""Proofs: one function for each claim the project makes, run in full by `make prove` and `make bench`.

A proof is a function without arguments, marked with `@proof(...)`, that asserts its claim and returns the
figures it saw. The runner (`python -m proofs`) gives each a process and a time budget of its own and writes
`docs/evidence/<name>.json`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
EVIDENCE = ROOT / "docs" / "evidence"
REALDATA = Path(os.environ.get("GUILDHALL_REALDATA", ROOT.parent / "shared" / "realdata"))

Figures = dict[str, Any]


class NotRun(Exception):
    """Raised by a proof that cannot run on this machine; the reason is recorded, never a pass."""


@dataclass(frozen=True)
class Proof:
    name: str
    claim: str
    tier: str
    budget_s: float
    run: Callable[[], Figures]


PROOFS: dict[str, Proof] = {}


def proof(
    name: str, claim: str, *, tier: str = "prove", budget_s: float = 300
) -> Callable[[Callable[[], Figures]], Callable[[], Figures]]:
    """Register a function as the full form of a claim."""

    def register(run: Callable[[], Figures]) -> Callable[[], Figures]:
        if name in PROOFS:
            raise ValueError(f"two proofs are called {name}")
        PROOFS[name] = Proof(name, claim, tier, budget_s, run)
        return run

    return register


def realdata(relative: str) -> Path:
    """A file of the public data beside the project, or `NotRun`."""
    path = REALDATA / relative
    if not path.exists():
        raise NotRun(f"needs {relative} from the real data, which is not beside the project")
    return path
